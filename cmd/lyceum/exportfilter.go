package main

import (
	"context"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// filter reads the list's own filters; they are for transactions alone.
func (c *exportCommand) filter() (lyceum.TransactionFilter, error) {
	var f lyceum.TransactionFilter
	setID(&f.UserID, c.UserID)
	setID(&f.AffiliateID, c.AffiliateID)
	setID(&f.CourseID, c.CourseID)
	setID(&f.PricingPlanID, c.PricingPlanID)
	if c.IsFullyRefunded != nil {
		f.FullyRefunded = lyceum.Some(*c.IsFullyRefunded)
	}
	if c.IsChargeback != nil {
		f.Chargeback = lyceum.Some(*c.IsChargeback)
	}
	var err error
	if c.Start != "" {
		if f.Created.After, err = lyceum.ParseTime(c.Start); err != nil {
			return f, wrongFlag("--start", err)
		}
	}
	if c.End != "" {
		if f.Created.Until, err = lyceum.ParseTime(c.End); err != nil {
			return f, wrongFlag("--end", err)
		}
		if f.Created.Until.IsZero() { // the first second of year 1 would leave the end open
			f.Created.Until = f.Created.Until.Add(time.Nanosecond)
		}
	}
	if c.Kind != "transactions" && (f != (lyceum.TransactionFilter{}) || c.Month+c.From+c.Until != "") {
		return f, lyceum.Invalidf("the filters are for transactions; %s are exported whole", c.Kind)
	}
	return f, nil
}

func wrongFlag(name string, err error) error {
	return lyceum.InvalidFields(lyceum.FieldError{Field: name, Message: lyceum.Public(err).Detail})
}

// dayRange is a period of whole days. Its zero value is not narrowed.
type dayRange struct{ first, last lyceum.Opt[lyceum.Day] }

// days reads --month, or --from and --until.
func (c *exportCommand) days() (d dayRange, err error) {
	if err := c.onePeriod(); err != nil {
		return d, err
	}
	if c.Month != "" {
		first, last, err := lyceum.ParseMonth(c.Month)
		if err != nil {
			return d, wrongFlag("--month", err)
		}
		return dayRange{lyceum.Some(first), lyceum.Some(last)}, nil
	}
	for _, end := range []struct {
		flag, text string
		to         *lyceum.Opt[lyceum.Day]
	}{{"--from", c.From, &d.first}, {"--until", c.Until, &d.last}} {
		if end.text == "" {
			continue
		}
		day, err := lyceum.ParseDay(end.text)
		if err != nil {
			return d, wrongFlag(end.flag, err)
		}
		*end.to = lyceum.Some(day)
	}
	if d.first.Present && d.last.Present && d.last.Value.Before(d.first.Value) {
		return d, lyceum.InvalidFields(lyceum.FieldError{
			Field: "--until", Message: "must not be before the day given with --from",
		})
	}
	return d, nil
}

// onePeriod rejects a period that is given in more than one way.
func (c *exportCommand) onePeriod() error {
	var ways []string
	for _, way := range []struct{ flags, given string }{
		{"--month", c.Month}, {"--from and --until", c.From + c.Until}, {"--start and --end", c.Start + c.End},
	} {
		if way.given != "" {
			ways = append(ways, way.flags)
		}
	}
	if len(ways) > 1 {
		return lyceum.Invalidf("%s are different ways to give a period; use one: --month for a month, "+
			"--from and --until for whole days, --start and --end for moments", strings.Join(ways, " with "))
	}
	return nil
}

// in returns the period in the school's time zone.
func (d dayRange) in(ctx context.Context, store lyceum.Store, id lyceum.SchoolID) (lyceum.Period, error) {
	school, err := store.GetSchool(ctx, id)
	if err != nil {
		return lyceum.Period{}, err
	}
	at, err := school.TimeZone.Location()
	if err != nil {
		return lyceum.Period{}, err
	}
	return lyceum.Days(d.first, d.last, at), nil
}

func setID[ID ~int32](to *lyceum.Opt[ID], from *int32) {
	if from != nil {
		*to = lyceum.Some(ID(*from))
	}
}
