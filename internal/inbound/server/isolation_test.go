package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// everyID fills the parameters of a path with the ids of a classroom.
var everyID = strings.Join([]string{
	"section_id=1",
	"attachment_id=101",
	"course_id=1",
	"lecture_id=11",
	"video_id=103",
	"quiz_id=107",
	"user_id=2",
	"pricing_plan_id=1",
	"webhook_id=1",
	"sale_id=1",
	"transaction_id=1",
	"order_id=1",
	"dispute_id=1",
	"affiliate_id=1",
	"author_id=1",
	"coupon_id=1",
	"delivery_id=1",
	"comment_id=1",
	"digital_download_id=1",
	"product_collection_id=1",
	"membership_id=1",
	"membership_tier_id=1",
	"coaching_id=1",
	"product_type=course",
	"product_types=courses",
	"product_id=1",
	"bulk_job_id=1",
	"attention_id=1",
	"purchase_id=1",
	"email_name=account_changed",
	"template_secret_id=1",
	"session_id=0e37df36-f698-4d10-8b6d-4a2b5f0d3c11",
}, " ")

// candidates are ids that a classroom has. The function paths adds those that only the other
// school has.
var candidates = map[string][]string{
	"section_id": {"1", "2", "3"}, "attachment_id": {"101", "103", "107"}, "course_id": {"1", "2", "3", "4"}, "lecture_id": {"11", "14", "15", "21", "31"}, "video_id": {"103", "121"}, "quiz_id": {"107", "120"},
	"user_id": {"1", "2", "3"}, "pricing_plan_id": {"1", "4"}, "webhook_id": {"1", "3"},
	"sale_id": {"1"}, "purchase_id": {"1"}, "transaction_id": {"1"}, "order_id": {"1"}, "delivery_id": {"1"}, "comment_id": {"1"},
	"digital_download_id": {"1"}, "product_collection_id": {"1"}, "membership_id": {"1"}, "membership_tier_id": {"1"}, "coaching_id": {"1"}, "product_id": {"1"}, "dispute_id": {"1"},
	"coupon_id": {"1"}, "affiliate_id": {"1"}, "author_id": {"1", "2"}, "attention_id": {"1"}, "bulk_job_id": {"1"}, "product_type": {"course"}, "product_types": {"courses"}, "email_name": {"account_changed"}, "template_secret_id": {"1"}, "session_id": {"0e37df36-f698-4d10-8b6d-4a2b5f0d3c11"},
}

// paths returns every way to fill in a pattern.
func paths(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	end := open + strings.IndexByte(pattern[open:], '}')
	var all []string
	ids := candidates[pattern[open+1:end]]
	if only, is := foreignID(pattern[open+1 : end]); is {
		ids = append(slices.Clip(ids), only.theirs)
	}
	for _, id := range ids {
		all = append(all, paths(pattern[:open]+id+pattern[end+1:])...)
	}
	return all
}

// sellOnce saves a sale to Mira, its transaction with a dispute, an order and a product of
// every kind, all with one id.
func sellOnce(tx lyceum.Tx, id int32) error {
	x := lyceum.Transaction{
		ID: lyceum.TransactionID(id), UserID: mira, PricingPlanID: 1, SaleID: lyceum.SaleID(id), CreatedAt: storetest.Day(1), PurchasedAt: storetest.Day(1),
		FinalPrice: 1999, Charge: 1999, Revenue: 1999, Currency: "USD", Paid: true,
	}
	_, downloadErr := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{
		ID: lyceum.DigitalDownloadID(id), Name: "Plan", IsPublished: true, CreatedAt: storetest.Day(1), UpdatedAt: storetest.Day(1),
	})
	_, fileErr := tx.DownloadAttachments.Save(tx, lyceum.DownloadAttachment{
		ID: lyceum.DownloadAttachmentID(100 + id), DigitalDownloadID: lyceum.DigitalDownloadID(id), Kind: lyceum.DownloadFile, URL: "https://files.example.com/theirs.pdf",
		Filename: lyceum.Some("theirs.pdf"), SizeInBytes: lyceum.Some[int64](1), CreatedAt: storetest.Day(1), UpdatedAt: storetest.Day(1),
	})
	_, couponErr := tx.Coupons.Save(tx, lyceum.Coupon{ID: lyceum.CouponID(id), Code: lyceum.Some("theirs")})
	_, affiliateErr := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: lyceum.AffiliateID(id), Name: lyceum.Some("theirs")})
	_, authorErr := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: lyceum.AuthorID(id), Name: lyceum.Some("theirs")})
	_, saleErr := tx.Sales.Save(tx, lyceum.SaleOf(&x))
	_, moneyErr := tx.Transactions.Save(tx, x)
	_, disputeErr := tx.Disputes.Save(tx, lyceum.Dispute{
		ID: lyceum.DisputeID(id), TransactionID: x.ID, SaleID: x.SaleID, Amount: 100, State: lyceum.DisputeOpen, OpenedAt: storetest.Day(1),
	})
	_, stepErr := tx.Movements.Save(tx, lyceum.Movement{
		ID: lyceum.MovementID(id), TransactionID: x.ID, SaleID: x.SaleID, Kind: lyceum.ChargebackOpened, Dispute: lyceum.Some(lyceum.DisputeID(id)), At: storetest.Day(1),
	})
	_, orderErr := tx.Orders.Save(tx, lyceum.PurchaseOrder{
		ID: lyceum.OrderID(id), Email: "buyer@example.com", PricingPlanID: 1, FinalPrice: 1999, Currency: "USD", State: lyceum.OrderOpen, CreatedAt: storetest.Day(1), AbandonsAt: storetest.Day(2),
	})
	_, warningErr := tx.SaleWarnings.Save(tx, lyceum.SaleWarning{ID: lyceum.SaleWarningID(id), SaleID: lyceum.SaleID(id), Code: "sold_out", Message: "theirs", CreatedAt: storetest.Day(1)})
	_, failureErr := tx.PaymentFailures.Save(tx, lyceum.PaymentFailure{ID: lyceum.PaymentFailureID(id), SaleID: lyceum.SaleID(id), OccurredAt: storetest.Day(1), Reason: lyceum.Some("theirs")})
	_, jobErr := tx.BulkJobs.Save(tx, lyceum.BulkJob{ID: lyceum.BulkJobID(id), Action: lyceum.BulkAddTags, Tags: []string{"theirs"}, State: lyceum.BulkDraft, Rows: 1, CreatedAt: storetest.Day(1)})
	_, partErr := tx.BulkParts.Save(tx, lyceum.BulkPart{ID: lyceum.BulkPartID(id), Job: lyceum.BulkJobID(id), Rows: []lyceum.BulkRow{{User: mira, Email: "theirs", Expected: lyceum.BulkDone}}})
	return errors.Join(jobErr, partErr, failureErr, warningErr, downloadErr, fileErr, couponErr, affiliateErr, authorErr, saleErr, moneyErr, disputeErr, stepErr, orderErr, bundleOnce(tx, id))
}

// bundleOnce saves a collection and a tier, each with a course in it, and a coaching product,
// all with one id.
func bundleOnce(tx lyceum.Tx, id int32) error {
	at, course := storetest.Day(1), lyceum.Product{Kind: lyceum.CourseKind, ID: 1}
	_, collectionErr := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: lyceum.ProductCollectionID(id), Name: "Plan", IsPublished: true, CreatedAt: at, UpdatedAt: at})
	_, productErr := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: lyceum.CollectionProductID(id), In: lyceum.ProductCollectionID(id), Product: course, CreatedAt: at})
	_, membershipErr := tx.Memberships.Save(tx, lyceum.Membership{ID: lyceum.MembershipID(id), Name: "Plan", IsPublished: true, CreatedAt: at, UpdatedAt: at})
	_, tierErr := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: lyceum.MembershipTierID(id), MembershipID: lyceum.MembershipID(id), Name: "Plan", Position: 1, IsPublished: true, CreatedAt: at, UpdatedAt: at})
	_, inTierErr := tx.TierProducts.Save(tx, lyceum.TierProduct{ID: lyceum.TierProductID(id), In: lyceum.MembershipTierID(id), Product: course, CreatedAt: at})
	_, coachingErr := tx.Coaching.Save(tx, lyceum.Coaching{ID: lyceum.CoachingID(id), Name: "Plan", IsPublished: true, CreatedAt: at, UpdatedAt: at})
	return errors.Join(collectionErr, productErr, membershipErr, tierErr, inTierErr, coachingErr)
}

// onlyTheirs adds objects to a classroom with ids that no other school has. Parts belong to
// objects that both schools have.
func onlyTheirs(t *testing.T, store lyceum.Store, school lyceum.SchoolID) {
	t.Helper()
	storetest.Crowd(t, store, school, 1, onlyID, 1)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		at := storetest.Day(1)
		c := storetest.Classroom{
			Courses:  []lyceum.Course{{ID: onlyID, Name: "Only theirs", IsPublished: true, CreatedAt: at, UpdatedAt: at}},
			Sections: []lyceum.LectureSection{{ID: onlyID, Course: 1, Name: "Only theirs", IsPublished: true, Position: 1}},
			Lectures: []lyceum.Lecture{{ID: onlyID, Course: 1, Section: 1, Name: lyceum.Some("Only theirs"), IsPublished: true, Position: 1}},
			Attachments: []lyceum.Attachment{
				{ID: onlyID + 100, Lecture: 12, Kind: lyceum.TextAttachment, Text: lyceum.Some("Only theirs")},
				{ID: onlyID + 101, Lecture: 11, Kind: lyceum.QuizAttachment, Quiz: &lyceum.Quiz{ID: onlyID + 901, Questions: lyceum.Questions{}}},
				{ID: onlyID + 102, Lecture: 11, Kind: lyceum.VideoAttachment, Video: lyceum.Some(lyceum.Video{URL: "https://theirs.example.com/v.m3u8", Status: lyceum.VideoReady})},
			},
			PricingPlans:  []lyceum.PricingPlan{{ID: onlyID, CourseID: lyceum.Some[lyceum.CourseID](1), Name: "Only theirs", Currency: "USD", Frequency: lyceum.Free, CreatedAt: at, UpdatedAt: at}},
			Enrollments:   []lyceum.Enrollment{{ID: onlyID + 1000, User: mira, Course: onlyID, EnrolledAt: at}},
			Webhooks:      []lyceum.Webhook{{ID: onlyID, State: lyceum.WebhookPending, URL: "https://theirs.example.com", EventTrigger: "Sale.created", CreatedAt: at}},
			WebhookEvents: []lyceum.WebhookEvent{{ID: onlyID, Webhook: 1, State: "delivered", CreatedAt: at, ObjectType: "Enrollment", ObjectID: 2}},
		}
		_, commentErr := tx.Comments.Save(tx, lyceum.Comment{ID: onlyID, Lecture: 11, Course: 1, User: mira, Status: lyceum.CommentApproved, Body: "Only theirs", CreatedAt: at, UpdatedAt: at})
		_, secretErr := tx.TemplateSecrets.Save(tx, lyceum.TemplateSecret{ID: onlyID, Name: "theirs", Sealed: "theirs", CreatedAt: at, UpdatedAt: at})
		return errors.Join(sellOnce(tx, onlyID), c.Save(tx), commentErr, secretErr)
	})
}

// TestF9_NothingLeaks calls every operation of every face with every existing id, as both
// schools and as two learners of each. It iterates over the tables of operations, so that a new
// operation is covered, too.
func TestF9_NothingLeaks(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		onlyTheirs(t, k.store, k.theirs.id)
		keepFiles(t, k)
		sent, found := 0, 0
		for _, face := range k.options.Faces {
			for _, op := range face.Operations() {
				if op.Credential == wire.Open || op.Method != http.MethodGet {
					continue
				}
				for _, path := range paths(op.Path) {
					for _, p := range []*campusSchool{k.ours, k.theirs} {
						for _, user := range []lyceum.UserID{mira, noName} {
							sent++
							if k.wantIsolated(t, p, user, op, path) == http.StatusOK {
								found++
							}
						}
					}
				}
			}
		}
		if sent < 1000 || found < 100 {
			t.Errorf("%d requests, %d of which found something", sent, found)
		}
		k.followLinks(t)
	})
}

// wantIsolated sends one request and checks that the response only contains data of its school and
// learner.
func (k *class) wantIsolated(t *testing.T, p *campusSchool, user lyceum.UserID, op wire.Operation, path string) int {
	t.Helper()
	header := "apiKey: " + p.key
	if op.Credential == wire.Bearer {
		header = "Authorization: bearer " + k.tokens[bearer{p, user, op.Version}]
	}
	w := k.do(request(op.Method, path+"?user_id=2", nil, header))
	wantOf(t, op.Method, op.Path, w)
	text := w.Body.String()
	if w.Code == http.StatusOK && p == k.ours && strings.Contains(text, "theirs") || p == k.theirs && strings.Contains(text, "ours\"") {
		t.Errorf("%s tells another school: %s", path, text)
	}
	if p == k.ours && w.Code == http.StatusOK && slices.ContainsFunc(strings.Split(path, "/"), isOnlyTheirs) {
		t.Errorf("%s finds what only the other school has: %s", path, text)
	}
	if op.Credential == wire.Bearer && w.Code == http.StatusOK {
		k.holdToLearner(t, user, path, text)
	}
	holder := ""
	if op.Credential == wire.Bearer {
		holder = fmt.Sprintf("user=%d", user)
	}
	k.noteLinks(t, p, holder, path, text)
	return w.Code
}

// holdToLearner checks that a text contains nothing that a learner must not see.
func (k *class) holdToLearner(t *testing.T, user lyceum.UserID, path, text string) {
	t.Helper()
	hidden := []string{"Welding", "Drafts", "Glaze", "Ash ", "Pia", "Olu", "Empty", `"correct_answers":["`}
	if user == noName {
		hidden = append(hidden, "Pottery", "Mira", "mira@")
	} else {
		hidden = append(hidden, "Noname@")
	}
	for _, word := range hidden {
		if strings.Contains(text, word) {
			t.Errorf("%s tells learner %d %q: %s", path, user, word, text)
		}
	}
}

// TestF9_AnotherSchoolsTokensAreUnknown checks that the token endpoints do not accept tokens of
// another school for an app.
func TestF9_AnotherSchoolsTokensAreUnknown(t *testing.T) {
	c := newCampus(t)
	theirs := c.tokens(t, c.theirs, lyceum.V1)
	client := c.ours.clients[lyceum.V1]
	for _, op := range c.options.Faces[0].Operations() {
		if op.Credential != wire.Open {
			continue
		}
		body := "token=" + theirs.AccessToken + "&grant_type=refresh_token&refresh_token=" + theirs.RefreshToken + "&client_id=" + client.id + "&client_secret=" + client.secret
		w := c.do(request(op.Method, op.Path, strings.NewReader(body), "Content-Type: application/x-www-form-urlencoded"))
		if strings.Contains(w.Body.String(), "access_token") || strings.Contains(w.Body.String(), `"active":true`) {
			t.Errorf("%s gives away another school's: %s", op.ID, w.Body)
		}
	}
	wantStatus(t, c.me(t, lyceum.V1, "Authorization: bearer "+theirs.AccessToken), http.StatusOK)
}

// TestF6_ScopesOfEveryOperation calls every operation of apps with each single scope, and with
// two: a token allows what the table says and nothing else.
func TestF6_ScopesOfEveryOperation(t *testing.T) {
	k := newClass(t, newCampus(t))
	learnersShelf(t, k)
	b := k.browse()
	b.signIn(t, k.ours, "lena@example.com")
	token := func(version lyceum.InterfaceVersion, scopes string) string {
		t.Helper()
		form := b.consent(t, k.ours.authorize(version, set("required_scopes", scopes), without("optional_scopes")))
		code := arrivedAt(t, b.post(k.ours.path("oauth_provider/authorize"), form)).Get("code")
		var response tokenResponse
		decode(t, k.token(t, version, "token", "form", exchangeOf(k.ours.clients[version], code)).Body.Bytes(), &response)
		return response.AccessToken
	}
	opened := 0
	for n, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
		scopes := access.ListScopes(version)
		sets := []lyceum.Scopes{lyceum.NewScopes("courses:read", scopes[3])}
		for _, scope := range scopes {
			sets = append(sets, lyceum.Scopes{scope})
		}
		for _, granted := range sets {
			bearer := token(version, granted.String())
			for _, op := range k.options.Faces[n].Operations() {
				if op.Credential != wire.Bearer {
					continue
				}
				path := fill(op.Path, lenasIDs)
				var body io.Reader
				if text, there := ownBodies[op.ID]; there {
					body = strings.NewReader(text)
				}
				storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error { // the last one may be deleted
					_, err := tx.Comments.Save(tx, lenasComment)
					return err
				})
				w := k.do(request(op.Method, path, body, "Authorization: bearer "+bearer, "Content-Type: application/json"))
				wantOf(t, op.Method, op.Path, w)
				may := slices.ContainsFunc(access.ScopesFor(version, op.ID), granted.Covers)
				if may {
					opened++
				}
				if refused := w.Code == http.StatusForbidden; refused == may || !refused && w.Code >= 300 {
					t.Errorf("%s with %s is a %d: %s", op.ID, granted, w.Code, w.Body)
				}
			}
		}
	}
	if opened < 15 {
		t.Errorf("only %d operations were opened", opened)
	}
}
