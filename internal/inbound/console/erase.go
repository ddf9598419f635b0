package console

import (
	"fmt"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
)

// erasePage is the data of the page that confirms erasing a user.
type erasePage struct {
	User    lyceum.User
	Path    string
	Outcome outcome
	Refusal string // why the user cannot be erased; empty if they can be
	Backups []lyceum.Backup
	Dumps   bool // the backups are unknown
}

// confirmErase serves GET /admin/people/{id}/erase.
func (c *console) confirmErase(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	p := erasePage{User: user, Path: personPath(user.ID)}
	of := func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error) { return []lyceum.UserID{user.ID}, nil, nil }
	preview, err := c.Learning.Preview(r.Context(), v.by(), outcomePage(), of, func(tx lyceum.Tx, now time.Time) error {
		_, err := c.People.EraseFrom(tx, now, user.ID, c.Doors)
		return err
	})
	switch {
	case err == nil:
		p.Outcome, p.Dumps = outcomeOf(&preview), c.Doors.Backups == nil
		if c.Doors.Backups != nil {
			if p.Backups, err = c.Doors.Backups(r.Context(), v.School.ID, user.ID); err != nil {
				return err
			}
		}
	case lyceum.KindOf(err) == lyceum.Invalid:
		p.Refusal = notErased(err)
	default:
		return err
	}
	return c.show(w, r, http.StatusOK, "person_erase.gohtml", v, "Erase this person?", p)
}

// erasePerson serves POST /admin/people/{id}/erase. The user is erased once the time to undo it
// is over.
func (c *console) erasePerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	_, err = c.People.PlanErasure(r.Context(), v.by(), user.ID)
	switch {
	case err == nil:
		return done(w, r, personPath(user.ID), "to-erase")
	case lyceum.KindOf(err) != lyceum.Invalid:
		return err
	}
	p := erasePage{User: user, Path: personPath(user.ID), Refusal: notErased(err)}
	return c.show(w, r, http.StatusUnprocessableEntity, "person_erase.gohtml", v, "Erase this person?", p)
}

// undoErasure serves POST /admin/people/{id}/undo-erase.
func (c *console) undoErasure(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	if err := c.People.UndoErasure(r.Context(), v.by(), user.ID); err != nil {
		return err
	}
	return done(w, r, personPath(user.ID), "not-erased")
}

// notErased explains why a user cannot be erased.
func notErased(err error) string {
	fields := lyceum.Public(err).Fields
	if len(fields) == 0 {
		return lyceum.Public(err).Detail
	}
	return fmt.Sprintf("This person cannot be erased yet: user %s.", fields[0].Message)
}
