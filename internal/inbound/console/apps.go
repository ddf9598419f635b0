package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// appPage is the data of the pages about one app.
type appPage struct {
	App    lyceum.OAuthApp
	Path   string
	Form   *form  // changes the app
	Rotate *form  // creates a new secret
	Keeps  []keep // the choices in Rotate
}

// secretPage is the data of the only page that shows a client secret.
type secretPage struct {
	App              lyceum.OAuthApp
	Path, Secret     string
	New              bool // the app is new, not only its secret
	Authorize, Token string
}

// keep is a choice of how long an old secret continues to work.
type keep struct {
	Value, Label string
	For          time.Duration
}

var keeps = []keep{
	{"0", "stops working now", 0},
	{"1h", "keeps working for 1 hour", time.Hour},
	{"1d", "keeps working for 1 day", 24 * time.Hour},
	{"7d", "keeps working for 7 days", 7 * 24 * time.Hour},
	{"30d", "keeps working for 30 days", 30 * 24 * time.Hour},
}

const usualKeep = "1d"

var (
	appFields        = append([]string{"version"}, changeableFields...)
	changeableFields = []string{"name", "redirect_url", "require_pkce", "rotate_refresh_tokens"}
)

// listApps serves GET /admin/settings/oauth-apps.
func (c *console) listApps(w http.ResponseWriter, r *http.Request, v *visit) error {
	apps, err := c.Apps.List(r.Context(), v.by())
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, "apps.gohtml", v, "OAuth apps", apps)
}

// newApp serves GET /admin/settings/oauth-apps/new.
func (c *console) newApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: appsPath, Once: newForm(), Values: map[string]string{"version": "1"}}
	return c.show(w, r, http.StatusOK, "app_new.gohtml", v, "Register an app", f)
}

// registerApp serves POST /admin/settings/oauth-apps.
func (c *console) registerApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: appsPath, Once: r.PostForm.Get("form"), Values: map[string]string{}}
	f.keep(r.PostForm.Get, appFields...)
	by := leaving(v.sends(r), func(app lyceum.OAuthApp) lyceum.OAuthAppID { return app.ID })
	app, secret, err := c.Apps.Register(r.Context(), by, appForm(r))
	if before, ok := madeBefore[lyceum.OAuthAppID](err); ok {
		return done(w, r, appPath(before), "registered")
	}
	switch {
	case err != nil && f.refuse(err):
		return c.show(w, r, http.StatusUnprocessableEntity, "app_new.gohtml", v, "Register an app", f)
	case err != nil:
		return err
	}
	return c.showSecret(w, r, v, "Your app is registered", secretPage{App: app, Secret: secret, New: true})
}

// showSecret shows the only page that ever contains a client secret. It is the response to a
// POST and is not stored, so that no URL leads to it.
func (c *console) showSecret(w http.ResponseWriter, r *http.Request, v *visit, title string, p secretPage) error {
	p.Path, p.Authorize, p.Token = appPath(p.App.ID), c.authorizeURL(v.School.ID), c.tokenURL(p.App.Version)
	return c.show(w, r, http.StatusOK, "app_secret.gohtml", v, title, p)
}

func appPath(id lyceum.OAuthAppID) string { return fmt.Sprintf("%s/%d", appsPath, id) }

func appForm(r *http.Request) access.AppForm {
	f := access.AppForm{
		Name:                r.PostForm.Get("name"),
		RedirectURL:         strings.TrimSpace(r.PostForm.Get("redirect_url")),
		RequirePKCE:         r.PostForm.Get("require_pkce") != "",
		RotateRefreshTokens: r.PostForm.Get("rotate_refresh_tokens") != "",
	}
	switch r.PostForm.Get("version") {
	case "1":
		f.Version = lyceum.V1
	case "2":
		f.Version = lyceum.V2
	}
	return f
}

// app finds the app in the path.
func (c *console) app(r *http.Request, v *visit) (lyceum.OAuthApp, error) {
	id, ok := parseID[lyceum.OAuthAppID](r.PathValue("id"))
	if !ok {
		return lyceum.OAuthApp{}, errNoPage
	}
	return c.Apps.Get(r.Context(), v.by(), id)
}

// newAppPage returns the page of an app, with the app's current values in its forms.
func newAppPage(app lyceum.OAuthApp) appPage {
	values := map[string]string{"name": app.Name, "redirect_url": app.RedirectURL}
	if app.RequirePKCE {
		values["require_pkce"] = "on"
	}
	if app.RotateRefreshTokens {
		values["rotate_refresh_tokens"] = "on"
	}
	path := appPath(app.ID)
	return appPage{
		App: app, Path: path, Keeps: keeps,
		Form:   &form{Action: path, Shown: app.Shown(), Values: values},
		Rotate: &form{Action: path + "/rotate", Once: newForm(), Values: map[string]string{"keep": usualKeep}},
	}
}

// showApp serves GET /admin/settings/oauth-apps/{id}.
func (c *console) showApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	app, err := c.app(r, v)
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, "app.gohtml", v, app.Name, newAppPage(app))
}

// changeApp serves POST /admin/settings/oauth-apps/{id}.
func (c *console) changeApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.OAuthAppID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	f := &form{Action: appPath(id), Shown: r.PostForm.Get("shown"), Values: map[string]string{}}
	f.keep(r.PostForm.Get, changeableFields...)
	_, wrong := c.Apps.Change(r.Context(), v.seeing(f), id, appForm(r))
	if wrong == nil {
		return done(w, r, f.Action, "changed")
	}
	app, err := c.app(r, v)
	if isNotFound(err) {
		return c.appGone(w, r, v, id, f)
	}
	if err != nil {
		return err
	}
	p := newAppPage(app)
	if !f.overtaken(wrong, p.Form, changeableFields...) && !f.refuse(wrong) {
		return wrong
	}
	p.Form = f
	return c.show(w, r, http.StatusUnprocessableEntity, "app.gohtml", v, app.Name, p)
}

// appGone shows the submitted changes of a deleted app in the form for a new one.
func (c *console) appGone(w http.ResponseWriter, r *http.Request, v *visit, id lyceum.OAuthAppID, f *form) error {
	in := c.Names.In(r.Context(), v.School.ID)
	app, err := in.OAuthApps.Get(in, id)
	if err != nil {
		return err
	}
	deleted, err := deletedBy(in, v, "oauth_app", int32(id), app.DeletedAt.Value)
	if err != nil {
		return err
	}
	f.Action, f.Once, f.Shown = appsPath, newForm(), ""
	f.Values["version"] = strconv.Itoa(int(app.Version))
	f.Refused = "This app" + deleted + "register it as a new app, or cancel."
	return c.show(w, r, http.StatusConflict, "app_new.gohtml", v, "Register an app", f)
}

// rotateSecret serves POST /admin/settings/oauth-apps/{id}/rotate.
func (c *console) rotateSecret(w http.ResponseWriter, r *http.Request, v *visit) error {
	app, err := c.app(r, v)
	if err != nil {
		return err
	}
	var rotated lyceum.OAuthApp
	var secret string
	chosen, err := chosenKeep(r.PostForm.Get("keep"))
	if err == nil {
		rotated, secret, err = c.Apps.Rotate(r.Context(), v.sends(r), app.ID, chosen)
	}
	p := newAppPage(app)
	switch {
	case repeated(err):
		return done(w, r, appPath(app.ID), "rotated")
	case err != nil && p.Rotate.refuse(err):
		return c.show(w, r, http.StatusUnprocessableEntity, "app.gohtml", v, app.Name, p)
	case err != nil:
		return err
	}
	return c.showSecret(w, r, v, "The new client secret", secretPage{App: rotated, Secret: secret})
}

func chosenKeep(value string) (time.Duration, error) {
	for _, k := range keeps {
		if k.Value == value {
			return k.For, nil
		}
	}
	return 0, lyceum.InvalidFields(lyceum.FieldError{
		Field: "keep", Message: "must stop working now or keep working for one of the listed times",
	})
}

// disableApp serves POST /admin/settings/oauth-apps/{id}/disable.
func (c *console) disableApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.turn(w, r, v, true, "disabled")
}

// enableApp serves POST /admin/settings/oauth-apps/{id}/enable.
func (c *console) enableApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.turn(w, r, v, false, "enabled")
}

func (c *console) turn(w http.ResponseWriter, r *http.Request, v *visit, off bool, notice string) error {
	app, err := c.app(r, v)
	if err != nil {
		return err
	}
	if _, err := c.Apps.Disable(r.Context(), v.by(), app.ID, off); err != nil {
		return err
	}
	return done(w, r, appPath(app.ID), notice)
}

// confirmDelete serves GET /admin/settings/oauth-apps/{id}/delete.
func (c *console) confirmDelete(w http.ResponseWriter, r *http.Request, v *visit) error {
	app, err := c.app(r, v)
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, "app_delete.gohtml", v, "Delete this app?", newAppPage(app))
}

// deleteApp serves POST /admin/settings/oauth-apps/{id}/delete.
func (c *console) deleteApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	app, err := c.app(r, v)
	if err != nil {
		return err
	}
	if err := c.Apps.Delete(r.Context(), v.by(), app.ID); err != nil {
		return err
	}
	return done(w, r, appsPath, "deleted")
}
