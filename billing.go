package lyceum

import "time"

// Billing is the calendar of a recurring sale. Period 0 begins at the anchor; earlier periods
// have negative numbers. Period n begins n × Count intervals after the anchor, by the clocks of
// the time zone: on the same day and at the same time, or on the last day of a shorter month.
// If clocks skip that time, the period begins later by as much as they skip; if they show it
// twice, it begins the first time.
type Billing struct {
	Anchor   time.Time
	Interval string // day, week, month or year
	Count    int    // number of intervals in a period, at least 1
	Zone     *time.Location
}

// Billing returns the calendar of a sale of the plan. An imported recurring plan without an
// interval is monthly.
func (p *PricingPlan) Billing(anchor time.Time, zone *time.Location) Billing {
	return Billing{
		Anchor: anchor, Interval: p.BillingInterval.Else("month"),
		Count: max(int(p.BillingIntervalCount.Else(1)), 1), Zone: zone,
	}
}

// Begin returns the beginning of a period, at most Latest.
func (b Billing) Begin(period int) time.Time {
	if period == 0 {
		return b.Anchor
	}
	return NotAfterLatest(b.begin(period))
}

func (b Billing) begin(period int) time.Time {
	anchor := b.Anchor.In(b.Zone)
	year, month, day := anchor.Date()
	switch n := period * b.Count; b.Interval {
	case "day":
		day += n
	case "week":
		day += 7 * n
	case "year":
		return b.at(year+n, month, day)
	default:
		return b.at(year, month+time.Month(n), day)
	}
	on := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return b.on(on)
}

// at returns when the clocks show the anchor's time of day on the given day, or on the last day
// of a month that is shorter. The month may be greater than 12.
func (b Billing) at(year int, month time.Month, day int) time.Time {
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return b.on(first.AddDate(0, 0, min(day, last)-1))
}

// on returns when the clocks show the anchor's time of day on the given day.
func (b Billing) on(day time.Time) time.Time {
	h, m, s := b.Anchor.In(b.Zone).Clock()
	want := time.Date(day.Year(), day.Month(), day.Day(), h, m, s, 0, time.UTC)
	t := time.Date(day.Year(), day.Month(), day.Day(), h, m, s, 0, b.Zone)
	_, offset := t.Zone()
	if shown := t.Add(time.Duration(offset) * time.Second); shown.Before(want) { // the clocks skipped it
		return want.Add(-time.Duration(offset) * time.Second).UTC()
	}
	if changed, _ := t.ZoneBounds(); !changed.IsZero() {
		_, before := changed.Add(-1).Zone()
		if early := want.Add(-time.Duration(before) * time.Second); early.Before(changed) { // the clocks showed it twice
			return early.UTC()
		}
	}
	return t.UTC()
}

// Period returns the number of the period that contains the given time.
func (b Billing) Period(at time.Time) int {
	from, to := b.Anchor.In(b.Zone), at.In(b.Zone)
	months := (to.Year()-from.Year())*12 + int(to.Month()-from.Month())
	days := int((at.Unix() - b.Anchor.Unix()) / daySeconds) // a Duration ends after 292 years
	n := months
	switch b.Interval {
	case "day":
		n = days
	case "week":
		n = days / 7
	case "year":
		n = months / 12
	}
	n /= b.Count
	for b.Begin(n).After(at) {
		n--
	}
	for next := b.Begin(n + 1); !next.After(at) && next.Before(Latest); next = b.Begin(n + 1) {
		n++
	}
	return n
}
