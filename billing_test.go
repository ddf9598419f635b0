package lyceum_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
)

func zone(t *testing.T, name lyceum.TimeZone) *time.Location {
	t.Helper()
	at, err := name.Location()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestBillingDays checks the days on which periods begin, by the clocks of a time zone.
func TestBillingDays(t *testing.T) {
	for _, tc := range []struct {
		name, zone, anchor, interval string
		count                        int
		want                         []string
	}{
		{"the last of January", "UTC", "2026-01-31T12:00:00Z", "month", 1, []string{"2026-02-28 12:00", "2026-03-31 12:00", "2026-04-30 12:00", "2026-05-31 12:00"}},
		{"a leap day, yearly", "UTC", "2024-02-29T12:00:00Z", "year", 1, []string{"2025-02-28 12:00", "2026-02-28 12:00", "2027-02-28 12:00", "2028-02-29 12:00"}},
		{"each quarter", "UTC", "2025-11-30T00:00:00Z", "month", 3, []string{"2026-02-28 00:00", "2026-05-30 00:00"}},
		{"two weeks over summer time", "Europe/Berlin", "2026-03-20T11:00:00Z", "week", 2, []string{"2026-04-03 12:00", "2026-04-17 12:00"}},
		{"a day by its clock, not by UTC", "Europe/Berlin", "2026-01-30T23:30:00Z", "month", 1, []string{"2026-02-28 00:30", "2026-03-31 00:30"}},
		{"the hour that is skipped", "Europe/Berlin", "2026-03-28T01:30:00Z", "day", 1, []string{"2026-03-29 03:30", "2026-03-30 02:30"}},
		{"the hour that is shown twice", "Europe/Berlin", "2026-10-24T00:30:00Z", "day", 1, []string{"2026-10-25 02:30", "2026-10-26 02:30"}},
		{"half an hour", "America/St_Johns", "2026-01-31T03:30:00Z", "month", 1, []string{"2026-02-28 00:00", "2026-03-31 00:00"}},
		{"a day that was left out", "Pacific/Apia", "2011-11-30T22:00:00Z", "month", 1, []string{"2011-12-31 12:00"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			at := zone(t, lyceum.TimeZone(tc.zone))
			anchor, err := time.Parse(time.RFC3339, tc.anchor)
			if err != nil {
				t.Fatal(err)
			}
			b := lyceum.Billing{Anchor: anchor, Interval: tc.interval, Count: tc.count, Zone: at}
			for i, want := range tc.want {
				begin := b.Begin(i + 1)
				if got := begin.In(at).Format("2006-01-02 15:04"); got != want {
					t.Errorf("period %d begins %s, want %s", i+1, got, want)
				}
				if got := b.Period(begin); got != i+1 {
					t.Errorf("period %d begins in period %d", i+1, got)
				}
				if got := b.Period(begin.Add(-time.Second)); got != i {
					t.Errorf("before period %d is period %d", i+1, got)
				}
			}
			if !b.Begin(0).Equal(anchor) {
				t.Errorf("period 0 begins %v, not %v", b.Begin(0), anchor)
			}
		})
	}
	early := lyceum.Billing{Anchor: time.Date(2026, 10, 24, 0, 30, 0, 0, time.UTC), Interval: "day", Count: 1, Zone: zone(t, "Europe/Berlin")}
	if got, want := early.Begin(1), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("of a time that is shown twice it is %v, want the first, %v", got, want)
	}
}

// TestBillingDaysDoNotDrift checks every day of the month over eight years, in four time zones.
func TestBillingDaysDoNotDrift(t *testing.T) {
	for _, name := range []lyceum.TimeZone{"UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"} {
		at := zone(t, name)
		for day := 1; day <= 31; day++ {
			for _, hour := range []int{0, 2, 12, 23} {
				b := lyceum.Billing{Anchor: time.Date(2026, 1, day, hour, 30, 0, 0, at), Interval: "month", Count: 1, Zone: at}
				for n := 1; n <= 8*12; n++ {
					first := time.Date(2026, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC)
					want := first.AddDate(0, 0, min(day, first.AddDate(0, 1, -1).Day())-1)
					got := b.Begin(n).In(at)
					if got.Year() != want.Year() || got.YearDay() != want.YearDay() {
						t.Fatalf("%s: day %d, %d months later: %v, want %v", name, day, n, got, want)
					}
					if b.Period(b.Begin(n)) != n || b.Period(b.Begin(n).Add(-time.Second)) != n-1 {
						t.Fatalf("%s: day %d: %v is not where period %d begins", name, day, got, n)
					}
				}
			}
		}
	}
}

// TestBillingEndsWithTheYear9999 checks that what would end after the last time that can be
// written ends then.
func TestBillingEndsWithTheYear9999(t *testing.T) {
	for _, b := range []lyceum.Billing{
		{Interval: "day", Count: 36_500}, {Interval: "week", Count: 36_500}, {Interval: "month", Count: 1000}, {Interval: "year", Count: 36_500},
	} {
		b.Anchor, b.Zone = time.Date(9900, 1, 31, 12, 0, 0, 0, time.UTC), zone(t, "America/St_Johns")
		if got := b.Begin(2); !got.Equal(lyceum.Latest) {
			t.Errorf("%d times a %s later: %v", 2*b.Count, b.Interval, got)
		}
		if n := b.Period(lyceum.Latest); b.Begin(n).After(lyceum.Latest) || n > 100 {
			t.Errorf("the last moment is in period %d of %d times a %s", n, b.Count, b.Interval)
		}
	}
	sale := lyceum.Sale{BilledSince: lyceum.Some(lyceum.Latest), PaidUntil: lyceum.Some(lyceum.Latest)}
	if got := sale.LapsesAt(lyceum.SalePolicy{OnLapse: lyceum.EndSale, GraceDays: 45}); got != lyceum.Some(lyceum.Latest) {
		t.Errorf("the sale lapses at %v", got)
	}
}

// TestPeriodsOfAges checks that a period is found without visiting all those since a century that
// nobody remembers, such as that of 0024-03-01: this would take an hour.
func TestPeriodsOfAges(t *testing.T) {
	at := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, interval := range []string{"day", "week", "month", "year"} {
		b := lyceum.Billing{Anchor: at.AddDate(-2000, 0, 0), Interval: interval, Count: 1, Zone: zone(t, "Europe/Berlin")}
		for range 10_000 {
			if n := b.Period(at); b.Begin(n).After(at) || !b.Begin(n+1).After(at) {
				t.Fatalf("%v is not in %s %d since %v", at, interval, n, b.Anchor)
			}
		}
	}
}

// TestPeriodsHoldMoments checks that any time lies between the beginning of its period and that
// of the next one, also before the anchor.
func TestPeriodsHoldMoments(t *testing.T) {
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "America/St_Johns"), zone(t, "Pacific/Apia"), zone(t, "Australia/Lord_Howe")}
	rapid.Check(t, func(r *rapid.T) {
		moment := func(name string) time.Time {
			return time.Unix(rapid.Int64Range(946684800, 2524608000).Draw(r, name), 0).UTC()
		}
		b := lyceum.Billing{
			Anchor: moment("anchor"), Interval: rapid.SampledFrom([]string{"day", "week", "month", "year"}).Draw(r, "interval"),
			Count: rapid.IntRange(1, 24).Draw(r, "count"), Zone: rapid.SampledFrom(zones).Draw(r, "zone"),
		}
		at := moment("at")
		n := b.Period(at)
		if begin, next := b.Begin(n), b.Begin(n+1); begin.After(at) || !next.After(at) || !next.After(begin) {
			r.Fatalf("%v is not in period %d, from %v to %v", at, n, begin, next)
		}
	})
}
