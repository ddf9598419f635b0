package console

import (
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
)

// clockPath moves the clock of a sandbox; others do not have it.
const clockPath = "/admin/clock"

// moveClock moves the clock of a sandbox by what a button says.
func (c *console) moveClock(w http.ResponseWriter, r *http.Request, v *visit) error {
	d := clock.Distance{}
	switch by := r.PostFormValue("by"); by {
	case "day", "month":
		d.By = lyceum.Some(clock.Span{Count: 1, Unit: by})
	case "next":
		shown, err := c.Moves.Show(r.Context(), v.by(), struct{}{})
		if err != nil {
			return err
		}
		if !shown.Next.Present {
			return done(w, r, homePath, "clock-idle")
		}
		d.To = lyceum.Some(shown.Next.Value.At)
	default:
		return errNoPage
	}
	if _, err := c.Moves.Move(r.Context(), v.by(), d); err != nil {
		return err
	}
	return done(w, r, homePath, "clock")
}
