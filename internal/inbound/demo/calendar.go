package demo

import (
	"sort"
	"time"

	"github.com/lyceum-school/lyceum"
)

// moment is a time in seconds since the first day of sales began.
type moment int32

const (
	hour moment = 3600
	day         = 24 * hour

	// salesDays is the number of days from 2023-01-02 to 2026-06-30, inclusive.
	salesDays = 1276

	// closing is the first second after the last day of sales.
	closing = salesDays * day
)

// opening is the first second of 2023-01-02, a Monday.
var opening = time.Date(2023, time.January, 2, 0, 0, 0, 0, time.UTC)

// founded is when the school was created.
var founded = on(2022, time.September, 5) + 9*hour

func on(year int, month time.Month, day int) moment {
	return momentOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

func momentOf(t time.Time) moment { return usual.moment(t) }

// calendar converts moments to times.
type calendar struct {
	begin time.Time // of the first day of sales, which decides which months and weekdays are busy
	days  int       // by which everything happens later than that
	live  bool      // the school ends at a clock, and its sales continue from there
}

// usual is the calendar of a school from New.
var usual = calendar{begin: opening}

// ending returns the calendar of a school whose sales end at the given time.
func ending(at time.Time) calendar {
	return calendar{begin: lyceum.Second(at).AddDate(0, 0, -salesDays), live: true}
}

func (cal calendar) time(m moment) time.Time { return cal.unmoved(m).AddDate(0, 0, cal.days) }

// unmoved returns the time of a moment without the days by which everything happens later.
func (cal calendar) unmoved(m moment) time.Time {
	return lyceum.Second(time.Unix(cal.begin.Unix()+int64(m), 0))
}

func (cal calendar) moment(t time.Time) moment { return moment(t.Unix() - cal.begin.Unix()) }

// monthsLater returns the same day and time of day in a later month, or that month's last
// day if it is shorter.
func (cal calendar) monthsLater(m moment, months int) moment {
	t := cal.unmoved(m)
	year, month, dayOfMonth := t.Date()
	midnight := time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC)
	first := time.Date(year, month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return cal.moment(first) + moment(min(dayOfMonth, last)-1)*day + moment(t.Unix()-midnight.Unix())
}

// over reports whether a time is past the end of the school.
func (cal calendar) over(t time.Time) bool { return !t.Before(cal.time(closing)) }

// demand is how busy the school is over time. sums[h] is the total demand of hours 0 to h.
type demand struct{ sums []float64 }

var (
	weekdayDemand = [7]float64{
		time.Sunday: 1.25, time.Monday: 1.05, time.Tuesday: 1, time.Wednesday: 1,
		time.Thursday: 0.95, time.Friday: 0.85, time.Saturday: 0.9,
	}
	monthDemand = [13]float64{
		time.January: 1.3, time.February: 1.05, time.March: 1, time.April: 0.95,
		time.May: 0.9, time.June: 0.85, time.July: 0.75, time.August: 0.8, time.September: 1.05,
		time.October: 1.1, time.November: 1.7, time.December: 1.2,
	}
	hourDemand = [24]float64{
		0.7, 0.5, 0.35, 0.3, 0.3, 0.35, 0.5, 0.7, 0.9, 1, 1.05, 1.1,
		1.15, 1.1, 1.1, 1.15, 1.2, 1.3, 1.45, 1.6, 1.65, 1.5, 1.2, 0.9,
	}
)

func newDemand(cal calendar) *demand {
	d := &demand{sums: make([]float64, 0, salesDays*24)}
	sum := 0.0
	for n := range salesDays {
		date := cal.begin.AddDate(0, 0, n)
		growth := 1 + 2.5*float64(n)/salesDays
		busy := growth * weekdayDemand[date.Weekday()] * monthDemand[date.Month()]
		if date.Month() == time.November && date.Day() >= 22 {
			busy *= 1.6 // the end of November
		}
		for h := range hourDemand {
			sum += busy * hourDemand[(date.Hour()+h)%len(hourDemand)]
			d.sums = append(d.sums, sum)
		}
	}
	return d
}

// at returns the moment by which the given fraction of all demand has arrived, from 0 up
// to but excluding 1. A larger fraction is never earlier.
func (d *demand) at(part float64) moment {
	want := part * d.sums[len(d.sums)-1]
	h := sort.SearchFloat64s(d.sums, want)
	before := 0.0
	if h > 0 {
		before = d.sums[h-1]
	}
	within := (want - before) / (d.sums[h] - before)
	return moment(h)*hour + min(hour-1, moment(within*float64(hour)))
}
