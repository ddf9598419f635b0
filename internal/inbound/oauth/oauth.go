package oauth

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

//go:embed templates
var pageTemplates embed.FS

// Options configure the pages.
type Options struct {
	Site web.Site
	// School returns a school by its number.
	School func(context.Context, lyceum.SchoolID) (lyceum.School, error)
	// OnlySchool returns the school of a server that has just one.
	OnlySchool func(context.Context) (lyceum.SchoolID, bool)
	OAuth      *access.OAuth
	Accounts   *access.Accounts
	Apps       *access.Apps
	// Emails renders and sends emails, if the server can.
	Emails *templates.Service
	// Readdress changes a user's email address to the one that they confirmed.
	Readdress access.Readdress
	Learning  *learning.Service // what learners have access to
	Sales     *sales.Service    // their receipts
	People    *people.Service
	Doors     people.Doors
	Log       *slog.Logger
	Clock     func() time.Time
}

// maxForm is the largest form that is read, in bytes.
const maxForm = 64 << 10

type pages struct {
	Options
	mux       *http.ServeMux
	templates map[string]*template.Template
	mailing   chan struct{} // limits how many emails are sent at the same time
	letters   *Notices
}

const lettersAtOnce = 8

// Pages returns the handlers of the pages by their path patterns.
func Pages(o Options) (map[string]http.Handler, error) {
	p := &pages{
		Options: o, mux: http.NewServeMux(), mailing: make(chan struct{}, lettersAtOnce),
		letters: &Notices{Emails: o.Emails, Site: o.Site},
	}
	var err error
	if p.templates, err = parse(); err != nil {
		return nil, err
	}
	const school = "/secure/{school}/identity"
	for pattern, act := range map[string]action{
		"GET /secure/sign_in":                                     p.whichSchool,
		"GET /secure/identity/oauth_provider/authorize":           p.authorizeAnywhere,
		"GET " + school + "/oauth_provider/authorize":             p.inSchool(p.showConsent),
		"POST " + school + "/oauth_provider/authorize":            p.inSchool(p.submitConsent),
		"GET " + school + "/sign_in":                              p.inSchool(p.showSignIn),
		"POST " + school + "/sign_in":                             p.inSchool(p.signIn),
		"POST " + school + "/sign_out":                            p.inSchool(p.signOut),
		"GET " + school + "/set_password/{link}":                  p.inSchool(p.showPassword),
		"POST " + school + "/set_password/{link}":                 p.inSchool(p.setPassword),
		"GET " + school + "/confirm_email/{link}":                 p.inSchool(p.showConfirm),
		"POST " + school + "/confirm_email/{link}":                p.inSchool(p.confirm),
		"GET " + school + "/forgot_password":                      p.inSchool(p.showForgotten),
		"POST " + school + "/forgot_password":                     p.inSchool(p.forgotten),
		"GET " + school + "/second_step":                          p.inSchool(p.showStep),
		"POST " + school + "/second_step":                         p.inSchool(p.takeStep),
		"GET " + school + "/confirm":                              p.inSchool(p.showIdentity),
		"POST " + school + "/confirm":                             p.inSchool(p.confirmIdentity),
		"POST " + school + "/passkey":                             p.inSchool(p.passkeyOptions),
		"GET " + secondFactorPath:                                 p.fresh(p.showSecond),
		"POST " + secondFactorPath:                                p.fresh(p.enableSecond),
		"POST " + secondFactorPath + "/recovery-codes":            p.fresh(p.renewRecovery),
		"POST " + secondFactorPath + "/remove":                    p.fresh(p.removeSecond),
		"POST " + secondFactorPath + "/passkeys":                  p.fresh(p.addPasskey),
		"POST " + secondFactorPath + "/passkeys/options":          p.fresh(p.newPasskeyOptions),
		"POST " + secondFactorPath + "/passkeys/{passkey}/remove": p.fresh(p.removePasskey),
		"GET /account/apps":                                       p.signedIn(p.listApps),
		"POST /account/apps/{app}/revoke":                         p.signedIn(p.revokeApp),
		"GET /account/sessions":                                   p.signedIn(p.listSessions),
		"POST /account/sessions/end":                              p.signedIn(p.endSessions),
		"POST /account/sessions/{session}/end":                    p.signedIn(p.endSession),
		"GET " + snippetPath:                                      p.signedIn(p.showSnippet),
		"GET /account/certificates":                               p.signedIn(p.listCertificates),
		"GET /account/certificates/{course}":                      p.signedIn(p.showCertificate),
		"GET " + accountPath:                                      p.signedIn(p.listMine),
		"GET /account/downloads/{download}":                       p.signedIn(p.listFiles),
		"GET " + receiptsPath:                                     p.signedIn(p.listReceipts),
		"GET " + receiptsPath + "/{receipt}":                      p.signedIn(p.showReceipt),
		"GET " + profilePath:                                      p.signedIn(p.showProfile),
		"POST " + profilePath:                                     p.signedIn(p.changeProfile),
		"GET " + emailPath:                                        p.fresh(p.showEmail),
		"POST " + emailPath:                                       p.fresh(p.changeEmail),
		"GET /.well-known/oauth-authorization-server/v1":          p.metadata(lyceum.V1),
		"GET /.well-known/oauth-authorization-server/v2":          p.metadata(lyceum.V2),
		"/": p.nothing,
	} {
		p.mux.Handle(pattern, p.page(act))
	}
	protection := p.Site.CrossOrigin(p.page(func(http.ResponseWriter, *http.Request) error {
		return lyceum.Errorf(lyceum.Forbidden, "This form was sent from another site, so nothing was changed. Open the "+
			"page here and submit it again.")
	}))
	guarded := protection.Handler(p.mux)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.Protect(w.Header())
		if r.Body != nil {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		}
		guarded.ServeHTTP(w, r)
	})
	all := map[string]http.Handler{}
	for _, root := range []string{"/secure", "/account", "/.well-known/oauth-authorization-server"} {
		all[root], all[root+"/"] = handler, handler
	}
	return all, nil
}

// action handles one request. It must not return an error after it has sent a response.
type action func(w http.ResponseWriter, r *http.Request) error

func (p *pages) page(act action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := act(w, r); err != nil {
			p.apologize(w, r, err)
		}
	})
}

// nothing responds to requests that no page serves. If the page supports other methods, the
// response lists them.
func (p *pages) nothing(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := p.mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return p.show(w, http.StatusMethodNotAllowed, "problem.gohtml", nil, view{
			Title: "Request not possible", Error: "This page does not accept that kind of request.",
		})
	}
	return lyceum.Errorf(lyceum.NotFound, "Page not found. The URL may have been mistyped.")
}

// visit is one request of a browser to a school.
type visit struct {
	School lyceum.School
	User   lyceum.User // the zero User if nobody is signed in
	secret string      // of the session

	snippet bool // the school adds a snippet to the page
}

// path returns the path of one of the school's pages.
func (v *visit) path(page string) string {
	return fmt.Sprintf("/secure/%d/identity/%s", v.School.ID, page)
}

// inSchool finds the school of a path, and the user who is signed in to it.
func (p *pages) inSchool(act func(http.ResponseWriter, *http.Request, *visit) error) action {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := strconv.ParseInt(r.PathValue("school"), 10, 32)
		if err != nil || strconv.FormatInt(id, 10) != r.PathValue("school") {
			return errNoSchool
		}
		v, err := p.visit(r, lyceum.SchoolID(id))
		if err != nil {
			return err
		}
		return act(w, r, v)
	}
}

var errNoSchool = lyceum.Errorf(lyceum.NotFound, "There is no school with this number here. The URL may have "+
	"been mistyped.")

func (p *pages) visit(r *http.Request, id lyceum.SchoolID) (*visit, error) {
	school, err := p.School(r.Context(), id)
	if lyceum.KindOf(err) == lyceum.NotFound && err != nil {
		return nil, errNoSchool
	}
	if err != nil {
		return nil, err
	}
	v := &visit{School: school}
	secret := p.Site.Session(r)
	user, err := p.Accounts.Session(r.Context(), id, secret)
	if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
		return nil, err
	}
	if err == nil {
		v.User, v.secret = user, secret
	}
	return v, nil
}

// signedIn finds the school that the browser is signed in to, or redirects to the sign-in.
func (p *pages) signedIn(act func(http.ResponseWriter, *http.Request, *visit) error) action {
	return func(w http.ResponseWriter, r *http.Request) error {
		if id, ok := access.SchoolOfSession(p.Site.Session(r)); ok {
			v, err := p.visit(r, id)
			if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
				return err
			}
			if err == nil && v.User.ID != 0 {
				added, err := p.Emails.Snippet(r.Context(), v.by(), struct{}{})
				if err != nil {
					return err
				}
				v.snippet = added.Body != ""
				return act(w, r, v)
			}
		}
		see(w, r, "/secure/sign_in?next="+url.QueryEscape(wayBack(r, "not-signed-in")))
		return nil
	}
}

// wayBack returns the requested account page with its query. For a form, it is the page with the
// form, which then shows that nothing was done because of reason.
func wayBack(r *http.Request, reason string) string {
	page := r.URL.Path
	if r.Method != http.MethodPost {
		query := r.URL.Query()
		query.Del("done")
		return (&url.URL{Path: page, RawQuery: query.Encode()}).String()
	}
	if room, _, deeper := strings.Cut(strings.TrimPrefix(page, accountPath+"/"), "/"); deeper && page != emailPath {
		page = accountPath + "/" + room
	}
	return page + "?done=" + reason
}

// readForm parses the form of a page.
func readForm(r *http.Request) (parameters, url.Values, error) {
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return parameters{}, nil, lyceum.Errorf(lyceum.TooLarge, "The form is larger than %d kilobytes, so nothing "+
				"was changed.", maxForm>>10)
		}
		return parameters{}, nil, lyceum.Invalidf("The form could not be read, so nothing was changed. Open the page " +
			"again and resubmit it.")
	}
	form := parameters{values: map[string]string{}}
	for name, values := range r.PostForm {
		for _, value := range values {
			if err := decent(value); err != nil {
				return parameters{}, nil, lyceum.Invalidf("The form could not be read, so nothing was changed. Open the page " +
					"again and resubmit it.")
			}
		}
		form.values[name] = values[0]
	}
	return form, r.PostForm, nil
}

// local returns next if it is an address on this server, otherwise "": anything else would be
// an open redirector (RFC 9700, section 4.11). Browsers treat a backslash as a slash in the
// path, but as a normal character in the query, such as in the state of an app.
func local(next string) string {
	to, err := url.Parse(next)
	path, _, _ := strings.Cut(next, "?")
	if err != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || to.Host != "" ||
		to.Scheme != "" || strings.ContainsAny(next, "\r\n\t") || strings.Contains(path, `\`) {
		return ""
	}
	return next
}

// see redirects the browser, always with a 303, so that what was sent here is not sent there
// (RFC 9700, section 4.12). The target is one of four: a page of this server, what local has
// accepted, the Redirect URL of an app, or the page that the browser says it came from.
func see(w http.ResponseWriter, r *http.Request, to string) {
	http.Redirect(w, r, to, http.StatusSeeOther) // #nosec G710 -- see above
}
