package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// staffPage is the data of the page of the school's staff.
type staffPage struct {
	Form   *form
	Roles  []lyceum.StaffRole
	People []colleague
	Rights []rightRow
	Sends  bool // the server can send email
}

// colleague is a member of the staff on that page.
type colleague struct {
	access.Colleague

	Path string
	Self bool
}

// rightRow says which roles have a right.
type rightRow struct {
	Right access.Right
	Held  []bool // in the order of the roles
}

func staffMemberPath(id lyceum.UserID) string { return fmt.Sprintf("%s/%d", staffPath, id) }

// listStaff serves GET /admin/settings/staff.
func (c *console) listStaff(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: staffPath, Once: newForm(), Values: map[string]string{}}
	return c.staffPage(w, r, v, http.StatusOK, f)
}

func (c *console) staffPage(w http.ResponseWriter, r *http.Request, v *visit, status int, f *form) error {
	all, err := c.Staff.List(r.Context(), v.by())
	if err != nil {
		return err
	}
	p := staffPage{Form: f, Roles: lyceum.StaffRoles(), Sends: c.Emails.Sends()}
	for _, one := range all {
		p.People = append(p.People, colleague{one, staffMemberPath(one.User.ID), one.User.ID == v.User.ID})
	}
	for _, right := range access.Rights() {
		row := rightRow{Right: right}
		for _, role := range p.Roles {
			row.Held = append(row.Held, access.Holds(role, right))
		}
		p.Rights = append(p.Rights, row)
	}
	return c.show(w, r, status, "staff.gohtml", v, "Staff", p)
}

// staffLink is the data of the only page that shows the link of an invited person.
type staffLink struct {
	linkPage

	Role lyceum.StaffRole
}

// inviteStaff serves POST /admin/settings/staff.
func (c *console) inviteStaff(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: staffPath, Once: r.PostForm.Get("form"), Values: map[string]string{}}
	f.keep(r.PostForm.Get, "email", "role")
	n := access.Invitation{
		Email: strings.TrimSpace(r.PostForm.Get("email")), Role: lyceum.StaffRole(r.PostForm.Get("role")),
	}
	if r.PostForm.Get("by") == "email" && c.Emails.Sends() {
		n.Send = func(tx lyceum.Tx, user lyceum.User, link string) error {
			return c.Emails.Queue(tx, templates.Outgoing{
				Name: templates.Invitation, User: lyceum.Some(user.ID), To: lyceum.Some(user.Email),
				Values: templates.Values{"role": string(n.Role), "link": c.linkURL(v.School.ID, link)},
			})
		}
	}
	made, by := c.Clock(), v.sends(r)
	by.Once.Render = func(made any) ([]byte, error) {
		invited, _ := made.(access.Invited)
		return []byte(invitedNotice(invited)), nil
	}
	in, err := c.Staff.Invite(r.Context(), by, n)
	if before, ok := errors.AsType[*lyceum.RepeatError](err); ok {
		return done(w, r, staffPath, cmp.Or(string(before.Body), "staff-linked"))
	}
	switch {
	case err != nil && f.refuse(err):
		return c.staffPage(w, r, v, http.StatusUnprocessableEntity, f)
	case err != nil:
		return err
	case in.Link == "":
		return done(w, r, staffPath, invitedNotice(in))
	}
	return c.show(w, r, http.StatusOK, "staff_link.gohtml", v, "An invitation", staffLink{linkPage{
		User: in.User, Path: staffPath, URL: c.linkURL(v.School.ID, in.Link), Until: made.Add(access.LinkLifetime),
	}, n.Role})
}

// invitedNotice returns the notice for an invitation; for one with a link, that of a form that was
// submitted twice.
func invitedNotice(in access.Invited) string {
	switch {
	case in.Sent:
		return "staff-invited"
	case in.Link == "":
		return "staff-added"
	}
	return "staff-linked"
}

// changeStaff serves POST /admin/settings/staff/{id}.
func (c *console) changeStaff(w http.ResponseWriter, r *http.Request, v *visit) error {
	one, err := c.colleagueAt(r, v)
	if err != nil {
		return err
	}
	role := lyceum.StaffRole(r.PostForm.Get("role"))
	_, err = c.Staff.Change(r.Context(), v.by(), one.User.ID, role)
	if e := lyceum.Public(err); err != nil && e.Kind == lyceum.Invalid {
		return lyceum.Invalidf("%s", strings.Join(e.Sentences(), " "))
	}
	if err != nil {
		return err
	}
	if one.Self && role != v.Role {
		return done(w, r, firstPage(role), "own-role")
	}
	return done(w, r, staffPath, "staff-changed")
}

// demandSecondFactor serves POST /admin/settings/staff/second-factor.
func (c *console) demandSecondFactor(w http.ResponseWriter, r *http.Request, v *visit) error {
	demanded := r.PostForm.Get("demanded")
	if demanded != "on" && demanded != "off" {
		return lyceum.Invalidf("The requirement must be on or off.")
	}
	if err := c.Accounts.DemandSecondFactor(r.Context(), v.by(), demanded == "on"); err != nil {
		return err
	}
	return done(w, r, staffPath, "changed")
}

// dropSecondFactor serves POST /admin/people/{id}/second-factor.
func (c *console) dropSecondFactor(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.deed(w, r, v, c.Accounts.RemoveSecondFactor, "second-dropped")
}

// colleagueAt finds the member of the staff in the path. It fails with Conflict for another person.
func (c *console) colleagueAt(r *http.Request, v *visit) (colleague, error) {
	id, ok := parseID[lyceum.UserID](r.PathValue("id"))
	if !ok {
		return colleague{}, errNoPage
	}
	all, err := c.Staff.List(r.Context(), v.by())
	if err != nil {
		return colleague{}, err
	}
	for _, one := range all {
		if one.User.ID == id {
			return colleague{one, staffMemberPath(id), id == v.User.ID}, nil
		}
	}
	in := c.Names.In(r.Context(), v.School.ID)
	user, err := in.Users.Get(in, id)
	if err != nil {
		return colleague{}, err
	}
	return colleague{}, lyceum.Errorf(lyceum.Conflict, "%s does not work for the school, so nothing was changed. "+
		"Somebody may have removed them meanwhile. You can invite them on the page Staff.", user.Email)
}

// confirmRemoveStaff serves GET /admin/settings/staff/{id}/remove.
func (c *console) confirmRemoveStaff(w http.ResponseWriter, r *http.Request, v *visit) error {
	one, err := c.colleagueAt(r, v)
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, "staff_remove.gohtml", v, "Remove from the staff?", one)
}

// removeStaff serves POST /admin/settings/staff/{id}/remove.
func (c *console) removeStaff(w http.ResponseWriter, r *http.Request, v *visit) error {
	one, err := c.colleagueAt(r, v)
	if err != nil {
		return err
	}
	if _, err := c.Staff.Remove(r.Context(), v.by(), one.User.ID); err != nil {
		return err
	}
	switch {
	case one.Self:
		return done(w, r, homePath, "own-removed")
	case one.Role == lyceum.OwnerRole:
		return done(w, r, staffPath, "owner-removed")
	}
	return done(w, r, staffPath, "staff-removed")
}
