package apilyceum

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
)

// TestObjectsAreDocumented checks that the objects of the change feed have exactly the fields
// listed in the table in docs/own-interface.md, "Changes".
func TestObjectsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/own-interface.md")
	if err != nil {
		t.Fatal(err)
	}
	asides := regexp.MustCompile("\\([^)]*\\)|`{[^}]*}`")
	for kind, object := range map[string]any{
		"user": lyceum.TaggedUser{}, "enrollment": lyceum.Enrollment{}, "admission": lyceum.Admission{},
		"entitlement": lyceum.Entitlement{}, "block": lyceum.Block{}, "progress": lyceum.Progress{},
		"lecture_progress": lyceum.LectureProgress{}, "comment": lyceum.Comment{}, "quiz_response": lyceum.AttachedResponse{},
		"course": lyceum.Course{}, "digital_download": lyceum.DigitalDownload{}, "download_attachment": lyceum.DownloadAttachment{},
		"upload": lyceum.Upload{}, "collection_product": lyceum.CollectionProduct{}, "tier_product": lyceum.TierProduct{},
		"lecture_section": lyceum.LectureSection{}, "lecture": lyceum.Lecture{}, "attachment": lyceum.Attachment{},
		"sale_warning": lyceum.SaleWarning{}, "webhook": lyceum.Webhook{}, "webhook_event": lyceum.WebhookEvent{},
	} {
		_, row, found := strings.Cut(string(page), "\n| `"+kind+"` | ")
		if !found {
			t.Errorf("%s is not documented", kind)
			continue
		}
		row, _, _ = strings.Cut(row, " |\n")
		var documented []string
		for field := range strings.SplitSeq(asides.ReplaceAllString(row, ""), ",") {
			documented = append(documented, strings.TrimSpace(field))
		}
		body, err := appendObject(nil, object)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, body); !slices.Equal(got, documented) {
			t.Errorf("%s has\n%q and should have\n%q", kind, got, documented)
		}
	}
}

// TestObjectsAreTheContracts checks that the other objects of the change feed have the fields of
// their schemas in the contract, in their order, without those that the table leaves out.
func TestObjectsAreTheContracts(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Required []string `json:"required"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(contract.Lyceum().JSON, &document); err != nil {
		t.Fatal(err)
	}
	for schema, of := range map[string]struct {
		object  any
		without []string
	}{
		"Sale":        {object: lyceum.Sale{}},
		"Transaction": {lyceum.Transaction{}, []string{"tax_refunded", "reference", "period_start", "period_end"}},
		"Movement":    {object: lyceum.Movement{}}, "Dispute": {object: lyceum.Dispute{}},
		"PaymentFailure": {object: lyceum.PaymentFailure{}}, "Order": {object: lyceum.PurchaseOrder{}},
		"School": {object: lyceum.School{}}, "ProductCollection": {object: lyceum.ProductCollection{}},
		"Membership": {object: lyceum.Membership{}}, "MembershipTier": {object: lyceum.MembershipTier{}},
		"Coaching": {object: lyceum.Coaching{}}, "Affiliate": {object: lyceum.AffiliatePartner{}},
		"Author":      {object: lyceum.AuthorProfile{}},
		"PricingPlan": {lyceum.PricingPlan{}, []string{"enrollment_cap_fulfillment_count"}},
		"Coupon":      {lyceum.Coupon{}, []string{"number_of_uses"}},
	} {
		want := document.Components.Schemas[schema].Required
		want = slices.DeleteFunc(want, func(name string) bool { return slices.Contains(of.without, name) })
		body, err := appendObject(nil, of.object)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, body); !slices.Equal(got, want) {
			t.Errorf("%s has\n%q and should have\n%q", schema, got, want)
		}
	}
}

// names returns the names of an object's members, in order.
func names(t *testing.T, body []byte) (found []string) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(body))
	if _, err := in.Token(); err != nil {
		t.Fatal(err)
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, name.(string))
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return found
}
