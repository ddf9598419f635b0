package console

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// personPage shows one person and what lets them in.
type personPage struct {
	User     lyceum.User
	Path     string
	Access   string // the path of what lets the person use what
	Give     *form
	Sessions int
	LastSeen lyceum.Opt[time.Time]
	Staff    lyceum.StaffRole // empty: they do not work here
	// Changeable: the visitor may change the account. Erasable: they may erase it.
	Changeable, Erasable bool
	SecondFactor         bool // they have one
}

func personPath(id lyceum.UserID) string { return fmt.Sprintf("%s/%d", peoplePath, id) }

// showPerson serves GET /admin/settings/people/{id}.
func (c *console) showPerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	return c.personPage(w, r, v, http.StatusOK, user, giveForm(user.ID))
}

func (c *console) personPage(
	w http.ResponseWriter, r *http.Request, v *visit, status int, user lyceum.User, give *form,
) error {
	stays, err := c.Accounts.Stays(r.Context(), v.by(), user.ID, "")
	if err != nil {
		return err
	}
	role, err := c.Accounts.StaffRole(r.Context(), v.School.ID, &user)
	if err != nil {
		return err
	}
	page := personPage{
		User: user, Path: personPath(user.ID), Access: accessPath(user.ID), Give: give, Sessions: len(stays),
		Staff: role,
	}
	if page.SecondFactor, err = c.Accounts.HasSecondFactor(r.Context(), v.School.ID, user.ID); err != nil {
		return err
	}
	over := role == "" || v.Role == lyceum.OwnerRole
	page.Changeable = over && access.Holds(v.Role, access.ChangePeople)
	page.Erasable = role == "" && access.Holds(v.Role, access.ErasePeople)
	if len(stays) > 0 {
		page.LastSeen = lyceum.Some(stays[0].SeenAt)
	}
	return c.show(w, r, status, "person.gohtml", v, user.Email, page)
}

// personAt finds the person whom the address names.
func (c *console) personAt(r *http.Request, v *visit) (lyceum.User, error) {
	id, ok := parseID[lyceum.UserID](r.PathValue("id"))
	if !ok {
		return lyceum.User{}, errNoPage
	}
	return c.Accounts.User(r.Context(), v.by(), id)
}

// disablePerson serves POST /admin/settings/people/{id}/disable.
func (c *console) disablePerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.deed(w, r, v, c.Accounts.SwitchOff, "person-off")
}

// enablePerson serves POST /admin/settings/people/{id}/enable.
func (c *console) enablePerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.deed(w, r, v, c.Accounts.SwitchOn, "person-on")
}

// signPersonOut serves POST /admin/settings/people/{id}/sign-out.
func (c *console) signPersonOut(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.deed(w, r, v, c.Accounts.SignOutEverywhere, "person-out")
}

// deed does something to the person whom the address names.
func (c *console) deed(
	w http.ResponseWriter,
	r *http.Request,
	v *visit,
	do func(context.Context, lyceum.By, lyceum.UserID) (lyceum.User, error),
	notice string,
) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	if _, err := do(r.Context(), v.by(), user.ID); err != nil {
		return err
	}
	return done(w, r, personPath(user.ID), notice)
}
