package lyceum

import "time"

const daySeconds = 24 * 60 * 60

// Number returns the number of days since 1970-01-01.
func (d Day) Number() int32 { return int32(d.utc().Unix() / daySeconds) }

// DayNumber returns the day with the given number; it is the inverse of Number.
func DayNumber(n int32) Day { return dayOf(time.Unix(int64(n)*daySeconds, 0).UTC()) }

// Add returns the day that is the given number of days later, or earlier if negative.
func (d Day) Add(days int) Day { return dayOf(d.utc().AddDate(0, 0, days)) }

// AddMonths returns the same day of the month the given number of months later, or earlier if
// negative. In a shorter month that is its last day.
func (d Day) AddMonths(months int) Day {
	first := time.Date(d.Year, d.Month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return Day{first.Year(), first.Month(), min(d.Day, last)}
}

// Weekday returns the day of the week.
func (d Day) Weekday() time.Weekday { return d.utc().Weekday() }

func dayOf(t time.Time) Day { return Day{t.Year(), t.Month(), t.Day()} }

// DayAt returns the day at the given time in a time zone. Days begin as defined by Days: if
// clocks are put back over midnight, the day that has begun continues.
func DayAt(at time.Time, in *time.Location) Day {
	day := dayOf(at.In(in))
	if next := day.Add(1); !at.Before(next.begins(in)) {
		return next
	}
	return day
}

// DayFinder finds the days of many times in one time zone. It is not safe for concurrent use.
type DayFinder struct {
	zone *time.Location
	// Between from and until, in Unix seconds, and for some time before and after, the offset
	// from UTC does not change.
	from, until, offset int64
}

// NewDayFinder returns a finder for the time zone.
func NewDayFinder(zone *time.Location) *DayFinder { return &DayFinder{zone: zone} }

// Of returns the number of the day at the given time in Unix seconds.
func (f *DayFinder) Of(second int64) int32 {
	if second < f.from || second >= f.until {
		const around = 2 * daySeconds
		at := time.Unix(second, 0).In(f.zone)
		from, until := at.ZoneBounds()
		if !from.IsZero() && second-from.Unix() < around || !until.IsZero() && until.Unix()-second < around {
			return DayAt(at, f.zone).Number()
		}
		_, offset := at.Zone()
		f.from, f.until, f.offset = second, second+1, int64(offset)
		if !from.IsZero() {
			f.from = from.Unix() + around
		}
		if !until.IsZero() {
			f.until = until.Unix() - around
		}
	}
	local := second + f.offset
	day := local / daySeconds
	if local%daySeconds < 0 {
		day--
	}
	return int32(day)
}
