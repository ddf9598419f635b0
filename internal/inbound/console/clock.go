package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
)

// clockPath moves the clock of a sandbox; others do not have it.
const clockPath = "/admin/clock"

// moveClock moves the clock of a sandbox by what a button says. A move that takes
// longer continues, and pages show how far it is.
func (c *console) moveClock(w http.ResponseWriter, r *http.Request, v *visit) error {
	d := clock.Distance{}
	switch by := r.PostFormValue("by"); by {
	case "day", "month":
		d.By = lyceum.Some(clock.Span{Count: 1, Unit: by})
	case "renewal":
		shown, err := c.Moves.Show(r.Context(), v.by(), struct{}{})
		if err != nil {
			return err
		}
		if !shown.Payment.Present {
			return done(w, r, homePath, "clock-idle")
		}
		d.To = shown.Payment
	default:
		return errNoPage
	}
	ctx, cancel := context.WithTimeout(r.Context(), c.Patience)
	defer cancel()
	_, err := c.Moves.Move(ctx, v.by(), d)
	if errors.Is(err, context.DeadlineExceeded) {
		return done(w, r, homePath, "clock-moving")
	}
	if err != nil {
		return err
	}
	return done(w, r, homePath, "clock")
}

// moving returns where the clock of a sandbox is being moved, if it is.
func (c *console) moving() lyceum.Opt[time.Time] {
	if c.Moves == nil {
		return lyceum.None[time.Time]()
	}
	return c.Moves.Moving()
}
