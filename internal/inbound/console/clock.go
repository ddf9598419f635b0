package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
)

// clockPath is where the clock of a sandbox is moved; other servers do not serve it.
const clockPath = "/admin/clock"

// moveClock moves the clock of a sandbox by the distance on the button. If it takes longer than
// c.Patience, it continues in the background, and pages show its progress. The visitor stays
// signed in.
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
	to, err := d.Target(c.Clock(), v.zone)
	if err == nil {
		err = c.Accounts.Outlast(r.Context(), v.by(), c.Site.Session(r), to)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), c.Patience)
	defer cancel()
	_, err = c.Moves.Move(ctx, v.by(), d)
	if errors.Is(err, context.DeadlineExceeded) {
		return done(w, r, homePath, "clock-moving")
	}
	if err != nil {
		return err
	}
	return done(w, r, homePath, "clock")
}

// moving returns the time that the clock of a sandbox is being moved to, if it is.
func (c *console) moving() lyceum.Opt[time.Time] {
	if c.Moves == nil {
		return lyceum.None[time.Time]()
	}
	return c.Moves.Moving()
}
