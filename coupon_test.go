package lyceum_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TestMonthsOfACoupon checks that the months of a coupon follow the calendar by which its sale
// is billed.
func TestMonthsOfACoupon(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		sold   string
		zone   lyceum.TimeZone
		months int32
	}{
		{"2026-01-15T12:00:00Z", "UTC", 1},
		{"2026-08-31T12:00:00Z", "UTC", 1},
		{"2026-03-31T12:00:00Z", "UTC", 3},
		{"2026-01-31T12:00:00Z", "UTC", 12},
		{"2026-02-11T12:00:00Z", "Europe/Berlin", 3}, // clocks are put forward
		{"2026-09-11T12:00:00Z", "Europe/Berlin", 3}, // and back
		{"2026-02-11T12:00:00Z", "America/New_York", 3},
		{"2026-02-28T22:00:00Z", "Asia/Tokyo", 1}, // when it is already March there
	} {
		sold, err := time.Parse(time.RFC3339, tc.sold)
		if err != nil {
			t.Fatal(err)
		}
		in := zone(t, tc.zone)
		c := lyceum.Coupon{Duration: lyceum.Some(lyceum.ForMonths), Months: lyceum.Some(tc.months)}
		plan := lyceum.PricingPlan{BillingInterval: lyceum.Some("month"), BillingIntervalCount: lyceum.Some(int32(1))}
		due, lowered := plan.Billing(sold, in), int32(0)
		for n := range 30 {
			if c.Lowers(sold, due.Begin(n), in) {
				lowered++
			}
		}
		if lowered != tc.months {
			t.Errorf("sold %s in %s: %d payments are lowered, want %d", tc.sold, tc.zone, lowered, tc.months)
		}
	}
}
