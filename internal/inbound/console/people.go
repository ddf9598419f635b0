package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// linkPage is the data of the only page that shows a one-time link.
type linkPage struct {
	User      lyceum.User
	Path, URL string
	Until     time.Time
}

// maxEmail is longer than any email address (RFC 5321, section 4.5.3.1).
const maxEmail = 320

// makeLink serves POST /admin/people.
func (c *console) makeLink(w http.ResponseWriter, r *http.Request, v *visit) error {
	var link string
	f := linkForm(r.PostForm.Get("form"))
	f.keep(r.PostForm.Get, "email")
	made := c.Clock()
	user, err := c.person(r, v)
	if err == nil {
		link, err = c.Accounts.NewPasswordLink(r.Context(), v.sends(r), user.ID)
	}
	switch {
	case repeated(err):
		return done(w, r, peoplePath, "linked")
	case err != nil && f.refuse(err):
		return c.peoplePage(w, r, v, http.StatusUnprocessableEntity, f)
	case err != nil:
		return err
	}
	return c.show(w, r, http.StatusOK, "link.gohtml", v, "A link to set a password", linkPage{
		User: user, Path: peoplePath, URL: c.linkURL(v.School.ID, link),
		Until: made.Add(access.LinkLifetime),
	})
}

// person finds the user whose email address was typed, if they can sign in.
func (c *console) person(r *http.Request, v *visit) (lyceum.User, error) {
	refuse := func(message string) (lyceum.User, error) {
		return lyceum.User{}, lyceum.InvalidFields(lyceum.FieldError{Field: "email", Message: message})
	}
	const unknown = "belongs to nobody in this school; check the spelling"
	email := strings.TrimSpace(r.PostForm.Get("email"))
	switch {
	case email == "":
		return refuse("is required; type the person's email address in this school")
	case len(email) > maxEmail || !lyceum.IsText(email):
		return refuse(unknown)
	}
	user, found, err := c.Accounts.UserByEmail(r.Context(), v.by(), email)
	switch {
	case err == nil && !found:
		return refuse(unknown)
	case err == nil && user.DisabledAt.Present:
		return refuse("belongs to a disabled person, who could not sign in with a new password")
	}
	return user, err
}
