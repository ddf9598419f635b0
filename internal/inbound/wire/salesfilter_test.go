package wire_test

import (
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// TestSalesFilter checks that each part narrows the filter, and that every part of the filter
// has a name except the author, by which the contract's list cannot be filtered.
func TestSalesFilter(t *testing.T) {
	given := url.Values{"start": {"2024-01-01"}, "end": {"2024-02-01"}}
	for _, name := range wire.SalesFilterNames() {
		given.Set(name, "1")
	}
	got, err := wire.SalesFilterOf(given)
	want := lyceum.TransactionFilter{
		UserID: lyceum.Some(lyceum.UserID(1)), AffiliateID: lyceum.Some(lyceum.AffiliateID(1)),
		CourseID: lyceum.Some(lyceum.CourseID(1)), PricingPlanID: lyceum.Some(lyceum.PricingPlanID(1)),
		FullyRefunded: lyceum.Some(true), Chargeback: lyceum.Some(true),
		Created: lyceum.Period{
			After: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	filter := reflect.ValueOf(got)
	for i := range filter.NumField() {
		name := filter.Type().Field(i).Name
		if filter.Field(i).IsZero() != (name == "AuthorID") {
			t.Errorf("a part narrows by %s: %t", name, !filter.Field(i).IsZero())
		}
	}
	if _, err := wire.SalesFilterOf(url.Values{"user_id": {"x"}}); lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("a user_id of x gives %v", err)
	}
}
