package sales_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Limited access lasts as long as a subscription for the same number of months that is bought
// at the same time: by the school's calendar.
func TestLimitedAccessByTheSchoolsCalendar(t *testing.T) {
	for _, tc := range []struct {
		zone       lyceum.TimeZone
		sold, want time.Time
	}{
		{"UTC", time.Date(2026, 8, 31, 12, 0, 0, 0, time.UTC), time.Date(2027, 2, 28, 12, 0, 0, 0, time.UTC)},
		{"Asia/Tokyo", time.Date(2026, 2, 28, 22, 0, 0, 0, time.UTC), time.Date(2026, 8, 31, 22, 0, 0, 0, time.UTC)},
		{"America/Los_Angeles", time.Date(2026, 3, 1, 5, 0, 0, 0, time.UTC), time.Date(2026, 8, 29, 4, 0, 0, 0, time.UTC)},
	} {
		b := newBooks(t)
		b.now = tc.sold
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			return tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = tc.zone })
		})
		d := b.sell(t, sales.NewSale{User: 1, Plan: 3})
		v := b.store.In(t.Context(), b.school)
		given, found, err := v.Entitlements.First(v, lyceum.EntitlementFilter{Sale: lyceum.Some(d.ID)})
		if err != nil || !found || !given.EndsAt.Value.Equal(tc.want) {
			t.Errorf("%s: access ends %v, %v; want %v", tc.zone, given.EndsAt, err, tc.want)
		}
	}
}

// A plan whose access has ended for all buyers sells nothing: what was paid for it all the same
// is recorded with a warning. What was paid before that had its time.
func TestSalesAfterTheAccessLimit(t *testing.T) {
	b := newBooks(t)
	limit := b.now.AddDate(0, 0, 10)
	storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
		_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{
			ID: 8, CourseID: some(lyceum.CourseID(2)), Name: "Summer", Price: 100, Currency: "USD", Frequency: lyceum.OneTimePayment,
			AccessLimitDate: some(limit),
		})
		return err
	})
	for _, tc := range []struct {
		now, paid time.Time
		warnings  []string
	}{
		{limit.Add(-time.Second), limit.Add(-time.Second), nil},
		{limit, limit, []string{"offer_ended"}},
		{limit, limit.Add(-time.Second), nil},
	} {
		b.now = tc.now
		n := sales.NewSale{User: 1, Plan: 8, Amounts: sales.Amounts{OccurredAt: some(tc.paid)}}
		n.Reference = some("ch_" + tc.now.Format(time.TimeOnly) + tc.paid.Format(time.TimeOnly))
		d := b.sell(t, n)
		if got := b.warnings(t, d.ID); !slices.Equal(got, tc.warnings) {
			t.Errorf("paid at %v: the warnings are %q, want %q", tc.paid, got, tc.warnings)
		}
	}
	_, e1 := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 1, Plan: 8})
	_, e2 := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: "a@example.com", Plan: 8})
	for _, err := range []error{e1, e2} {
		if lyceum.Public(err).Code != "offer_ended" || lyceum.KindOf(err) != lyceum.Conflict {
			t.Errorf("without a payment: %v", err)
		}
	}
	b.healthy(t, b.store)
}
