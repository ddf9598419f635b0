package lyceum

import (
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // zones are the same on machines that have no database of them
)

// TimeZone is the IANA name of a time zone, such as Europe/Berlin.
type TimeZone string

// UTC is the time zone of a school that has not chosen one.
const UTC TimeZone = "UTC"

// ZoneTaken is the sentence about valid time zones, worded to follow a field's name.
const ZoneTaken = "must be the IANA name of a time zone, such as Europe/Berlin, America/New_York or UTC"

var (
	zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)
	// The machine's own database may have additional names, which other machines do not know.
	zoneOfMachine = regexp.MustCompile(`^(Local|localtime|Factory|posixrules|(posix|right)/.*)$`)
)

// Check returns an error if z is not the name of a time zone.
func (z TimeZone) Check() error {
	if _, err := z.Location(); err != nil {
		return InvalidFields(FieldError{Field: "time_zone", Message: ZoneTaken})
	}
	return nil
}

// Location returns the location of the time zone. It fails for unknown names.
func (z TimeZone) Location() (*time.Location, error) {
	if !zoneName.MatchString(string(z)) || zoneOfMachine.MatchString(string(z)) {
		return nil, Invalidf("%q is not the name of a time zone", string(z))
	}
	at, err := time.LoadLocation(string(z))
	if err != nil {
		return nil, Invalidf("%q is not the name of a time zone", string(z))
	}
	return at, nil
}

// Day is a calendar day in no particular time zone. The zero value is not a day.
type Day struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDay parses a day such as 2024-01-31 in the years 1 to 9999.
func ParseDay(text string) (Day, error) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || at.Year() < 1 {
		return Day{}, Invalidf("must be a day such as 2024-01-31")
	}
	return Day{at.Year(), at.Month(), at.Day()}, nil
}

// ParseMonth parses a month such as 2024-01 and returns its first and last day.
func ParseMonth(text string) (first, last Day, err error) {
	at, err := time.Parse("2006-01", text)
	if err != nil || at.Year() < 1 {
		return Day{}, Day{}, Invalidf("must be a month such as 2024-01")
	}
	end := at.AddDate(0, 1, -1)
	return Day{at.Year(), at.Month(), 1}, Day{end.Year(), end.Month(), end.Day()}, nil
}

func (d Day) String() string { return d.utc().Format(time.DateOnly) }

// Before reports whether d is before other.
func (d Day) Before(other Day) bool { return d.utc().Before(other.utc()) }

func (d Day) utc() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// begins returns the first moment at which clocks in the time zone show the day or a later one.
// That is not always midnight: if clocks are put forward at midnight, the day begins at one
// o'clock, and a zone that moved across the date line skipped whole days.
func (d Day) begins(in *time.Location) time.Time {
	const farther = 26 * time.Hour // than any zone has ever been from UTC
	midnight := d.utc()
	at := midnight.Add(-farther).In(in)
	for {
		_, offset := at.Zone()
		begin := midnight.Add(-time.Duration(offset) * time.Second)
		_, change := at.ZoneBounds()
		if begin.Before(at) {
			return at
		}
		if change.IsZero() || begin.Before(change) {
			return begin.In(in)
		}
		at = change
	}
}

// Days returns the period from the first day to the last, both inclusive, in the calendar of
// the time zone. An absent day leaves that end open.
func Days(first, last Opt[Day], in *time.Location) Period {
	var p Period
	if first.Present {
		p.After = first.Value.begins(in).Add(-time.Second).UTC() // times have whole seconds
	}
	if last.Present {
		next := last.Value.utc().AddDate(0, 0, 1)
		p.Until = Day{next.Year(), next.Month(), next.Day()}.begins(in).Add(-time.Second).UTC()
	}
	return p
}

// ZoneAbbreviation returns the abbreviation of the zone of t at that time: CET, or UTC-03 if it
// has no name.
func ZoneAbbreviation(t time.Time) string {
	name, _ := t.Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}
