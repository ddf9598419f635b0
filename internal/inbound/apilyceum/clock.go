package apilyceum

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
)

// longestMove is how long moving the clock may take.
const longestMove = 15 * time.Minute

// clock returns the operations that only a sandbox has.
func (f *Face) clock() []wire.Operation {
	const path = "/lyceum/v1/clock"
	rule := wire.Rendered(f.Clock.Move, wire.As("move", moved))
	move := wire.New("moveClock", wire.Run, path, wire.Serve(bindMove, rule))
	move.Waits = longestMove
	return append([]wire.Operation{
		one("showClock", wire.Get, path, wire.Anything, f.Clock.Show, "clock", clockShown),
		move,
	}, f.snapshots()...)
}

// spans are the units of a span by their spellings.
var spans = map[string]string{
	"s": "second", "m": "minute", "h": "hour", "d": "day", "day": "day", "week": "week", "month": "month", "year": "year",
}

var spanText = regexp.MustCompile(`^([0-9]{1,9}) ?(?:([smhd])|(day|week|month|year)s?)$`)

func bindMove(in *wire.Input) clock.Distance {
	sent := func(name string) bool { return in.Body(name).Given() && !in.Body(name).Null() }
	text, to := in.Body("advance").Text(1, wire.Unbounded), in.Body("to").Time()
	d := clock.Distance{To: to}
	switch {
	case sent("advance") && sent("to"):
		in.Refuse("to", "must not be sent together with advance")
	case text.Present:
		parts := spanText.FindStringSubmatch(text.Value)
		if parts == nil {
			in.Refuse("advance", "must be a number with a unit, such as 90s, 15m, 12h, 31d, 2 weeks, 1 month or 1 year")
			break
		}
		count, _ := strconv.Atoi(parts[1]) // at most nine digits
		d.By = lyceum.Some(clock.Span{Count: count, Unit: spans[cmp.Or(parts[2], parts[3])]})
	case !sent("advance") && !sent("to"):
		in.Refuse("advance", "or to is required")
	}
	return d
}

func clockShown(t clock.Time) gen.Clock {
	shown := gen.Clock{Now: wire.Moment(t.Now), IsStanding: t.Stands}
	if t.Next.Present {
		shown.Next = &gen.NextDue{At: wire.Moment(t.Next.Value.At), What: gen.NextDueWhat(t.Next.Value.What)}
	}
	if t.Moving != nil {
		move := moved(*t.Moving)
		shown.Move = &move
	}
	return shown
}

func moved(m clock.Moved) gen.Move {
	shown := gen.Move{
		From: wire.Moment(m.From), To: wire.Moment(m.To), At: wire.Moment(m.At),
		PaymentCount: int32(m.Payments), FailedPaymentCount: int32(m.FailedPayments),
		DeliveryCount: int32(m.Deliveries.Sent), FailedDeliveryCount: int32(m.Deliveries.Failed),
		Events: []gen.EventCount{},
	}
	for name, count := range m.Events {
		shown.Events = append(shown.Events, gen.EventCount{Name: string(name), Count: count})
	}
	slices.SortFunc(shown.Events, func(a, b gen.EventCount) int { return cmp.Compare(a.Name, b.Name) })
	return shown
}
