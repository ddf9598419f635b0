package demo

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

var (
	firstSecond = time.Date(2023, time.January, 2, 0, 0, 0, 0, time.UTC)
	lastSecond  = time.Date(2026, time.June, 30, 23, 59, 59, 0, time.UTC)
)

func TestSalesTimeIsTheOnePromised(t *testing.T) {
	if got := usual.time(0); got != firstSecond {
		t.Errorf("sales begin at %v, want %v", got, firstSecond)
	}
	if got := usual.time(closing - 1); got != lastSecond {
		t.Errorf("sales end at %v, want %v", got, lastSecond)
	}
}

func TestMonthsLater(t *testing.T) {
	for _, tc := range []struct {
		name, from string
		months     int
		want       string
	}{
		{"the same day", "2024-01-15T10:20:30Z", 1, "2024-02-15T10:20:30Z"},
		{"none", "2024-01-31T23:59:59Z", 0, "2024-01-31T23:59:59Z"},
		{"a shorter month", "2023-01-31T08:00:00Z", 1, "2023-02-28T08:00:00Z"},
		{"a leap day", "2023-01-31T08:00:00Z", 13, "2024-02-29T08:00:00Z"},
		{"back to the day after a shorter month", "2023-01-31T08:00:00Z", 2, "2023-03-31T08:00:00Z"},
		{"over the year", "2023-11-30T00:00:00Z", 3, "2024-02-29T00:00:00Z"},
		{"a year after a leap day", "2024-02-29T12:00:00Z", 12, "2025-02-28T12:00:00Z"},
		{"from before the opening", "2022-12-31T23:00:01Z", 2, "2023-02-28T23:00:01Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from, err := lyceum.ParseTime(tc.from)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(lyceum.AppendTime(nil, usual.time(usual.monthsLater(momentOf(from), tc.months)))); got != tc.want {
				t.Errorf("%d months after %s: %s, want %s", tc.months, tc.from, got, tc.want)
			}
		})
	}
}

func TestDemandNeverGoesBack(t *testing.T) {
	d := newDemand(usual)
	last := moment(-1)
	for i := range 100_001 {
		at := d.at(float64(i) / 100_000)
		if at < last || at < 0 || at >= closing {
			t.Fatalf("at %d of 100,000: %d, before it %d", i, at, last)
		}
		last = at
	}
}
