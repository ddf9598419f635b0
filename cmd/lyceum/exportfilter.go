package main

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// listFilter holds the fields of the sales list's filter as flags. A flag is named like its
// field, with dashes.
type listFilter struct {
	UserID          *int32 `name:"user-id" help:"Transactions of this user." placeholder:"ID"`
	AffiliateID     *int32 `name:"affiliate-id" help:"Transactions of this affiliate." placeholder:"ID"`
	CourseID        *int32 `name:"course-id" help:"Transactions of this course's pricing plans." placeholder:"ID"`
	PricingPlanID   *int32 `name:"pricing-plan-id" help:"Transactions of this pricing plan." placeholder:"ID"`
	IsFullyRefunded *bool  `name:"is-fully-refunded" help:"Only full refunds; =false for all others."`
	IsChargeback    *bool  `name:"is-chargeback" help:"Only chargebacks; =false for all others."`
}

// createdWithin is a period, either of whole days in the school's time zone, or between two
// times as in the sales list.
type createdWithin struct {
	Month string `help:"Created in this month, such as 2026-03, in the school's time zone." placeholder:"MONTH"`
	From  string `help:"Created on this day or later, such as 2026-03-01, in the school's time zone." placeholder:"DAY"`
	Until string `help:"Created on this day or earlier; the whole day is included." placeholder:"DAY"`
	Start string `help:"Created after this time, as in the API." placeholder:"TIME"`
	End   string `help:"Created at this time or earlier; a date means its midnight in UTC." placeholder:"TIME"`
}

// given returns the flags that were given, by the names of their fields.
func (c *exportCommand) given() url.Values {
	values := url.Values{}
	flags := reflect.ValueOf(c.listFilter)
	for i := range flags.NumField() {
		if flag := flags.Field(i); !flag.IsNil() {
			name := flags.Type().Field(i).Tag.Get("name")
			values.Set(strings.ReplaceAll(name, "-", "_"), fmt.Sprint(flag.Elem()))
		}
	}
	for name, text := range map[string]string{"start": c.Start, "end": c.End} {
		if text != "" {
			values.Set(name, text)
		}
	}
	return values
}

// filter parses the filters of the sales list, which are only for transactions.
func (c *exportCommand) filter() (lyceum.TransactionFilter, error) {
	given := c.given()
	if c.Kind != "transactions" && (len(given) > 0 || c.Month+c.From+c.Until != "") {
		return lyceum.TransactionFilter{}, lyceum.Invalidf("filters only apply to transactions; %s are exported in "+
			"full", c.Kind)
	}
	f, err := wire.SalesFilterOf(given)
	if err == nil {
		return f, nil
	}
	wrong := slices.Clone(lyceum.Public(err).Fields)
	for i := range wrong {
		wrong[i].Field = "--" + strings.ReplaceAll(wrong[i].Field, "_", "-")
	}
	return f, lyceum.InvalidFields(wrong...)
}

func wrongFlag(name string, err error) error {
	return lyceum.InvalidFields(lyceum.FieldError{Field: name, Message: lyceum.Public(err).Detail})
}

// dayRange is a period of whole days. Its zero value includes everything.
type dayRange struct{ first, last lyceum.Opt[lyceum.Day] }

// days parses --month, or --from and --until.
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
			Field: "--until", Message: "must not be before --from",
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
		return lyceum.Invalidf("%s cannot be combined; use --month for a month, "+
			"--from and --until for whole days, --start and --end for points in time", strings.Join(ways, " with "))
	}
	return nil
}

// in returns the period in the school's time zone.
func (d dayRange) in(ctx context.Context, store lyceum.Store, id lyceum.SchoolID) (lyceum.Period, error) {
	school, err := store.In(ctx, id).GetSchool()
	if err != nil {
		return lyceum.Period{}, err
	}
	at, err := school.TimeZone.Location()
	if err != nil {
		return lyceum.Period{}, err
	}
	return lyceum.Days(d.first, d.last, at), nil
}
