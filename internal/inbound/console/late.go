package console

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// confirmIdentity redirects a visitor who has not confirmed their identity recently to a page where
// they do, if door is an action that a stolen session must not be able to do. It reports
// whether it redirected.
func (c *console) confirmIdentity(w http.ResponseWriter, r *http.Request, v *visit, door string) (bool, error) {
	if !access.WantsFresh(door) {
		return false, nil
	}
	fresh, err := c.Accounts.Fresh(r.Context(), v.School.ID, c.Site.Session(r))
	if fresh || err != nil {
		return false, err
	}
	next := url.QueryEscape(c.wayBack(r, "unconfirmed"))
	c.leadAway(w, r, fmt.Sprintf("/secure/%d/identity/confirm?next=%s", v.School.ID, next))
	return true, nil
}

// signIn redirects to the sign-in, which redirects back.
func (c *console) signIn(w http.ResponseWriter, r *http.Request) {
	c.leadAway(w, r, signInPath+"?next="+url.QueryEscape(c.wayBack(r, "signed-out")))
}

// leadAway redirects the whole page, even if only a part of it was requested.
func (c *console) leadAway(w http.ResponseWriter, r *http.Request, to string) {
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to) // a part of a page must not be replaced by another page
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther) // #nosec G710 -- always a page of this server
}

// late are the messages at the top of a page whose form was submitted too late or was too large,
// by the value of the parameter done. Forms are not resubmitted automatically.
var late = map[string]string{
	"unconfirmed": "Nothing has been done yet: you had to confirm that it is you first. Please try again.",
	"signed-out":  "Nothing has been done yet: you had to sign in first. Please try again.",
	"too-large":   "Nothing was changed, because the form was too large. Shorten what you typed and send it again.",
}

// wayBack returns the requested page with its query. For a form, it is the page with the form,
// which then shows that nothing was done because of reason.
func (c *console) wayBack(r *http.Request, reason string) string {
	to := r.URL
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		to = c.formPage(r)
	}
	query := to.Query()
	if query.Del("done"); to != r.URL {
		query.Set("done", reason)
	}
	return (&url.URL{Path: to.Path, RawQuery: query.Encode()}).String()
}

// formPages are the pages of those forms that are neither at the path that they are sent to nor
// at a path above it.
var formPages = map[string]string{
	appsPath: "new", keysPath: "new", webhooksPath: "new", peoplePath + "/{id}/access": "..",
}

// formPage returns the page with the form that was sent. The Referer only determines which of
// the console's pages that is.
func (c *console) formPage(r *http.Request) *url.URL {
	own := &url.URL{Path: c.pageAbove(path.Join(r.URL.Path, formPages[r.Pattern]))}
	from, err := url.Parse(r.Referer())
	switch {
	case err != nil || !c.isPage(from.Path):
		return own
	case from.Path == own.Path:
		return from
	case from.Path == r.URL.Path: // a rejected form was shown here; a GET of this path is a different page
		return own
	case own.Path == r.URL.Path && !strings.HasPrefix(from.Path, own.Path+"/"):
		return own // the confirmation was part of another page
	}
	return from
}

// pageAbove returns the nearest page at a path or above it.
func (c *console) pageAbove(at string) string {
	for ; strings.HasPrefix(at, homePath+"/"); at = path.Dir(at) {
		if c.isPage(at) {
			return at
		}
	}
	return homePath
}

// isPage reports whether the console has a page at a path.
func (c *console) isPage(at string) bool {
	_, pattern := c.mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: at}})
	return c.acts[pattern][http.MethodGet] != nil
}
