package sales_test

import (
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
