package console

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	users "github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

//go:embed templates
var pageTemplates embed.FS

// Options configure a console.
type Options struct {
	Site web.Site
	// School returns a school by its number.
	School   func(context.Context, lyceum.SchoolID) (lyceum.School, error)
	Accounts *access.Accounts
	Staff    *access.Staff
	Apps     *access.Apps
	Keys     *access.Keys
	Sales    *sales.Service
	Learning *learning.Service
	People   *users.Service
	Doors    users.Doors
	Bulk     *bulk.Service
	Events   *events.Service
	Emails   *templates.Service
	Reports  *reports.Service
	Failures *access.Failures
	Names    Names
	// Patience is how long the page after moving a clock, or sending to a webhook, waits for
	// the result. 0 does not wait.
	Patience time.Duration
	Log      *slog.Logger
	Clock    func() time.Time // nil means time.Now
	Moves    *clock.Service   // for the clock of a sandbox; nil on other servers
}

// Names looks up the names of users, courses and plans, many at a time. Unknown ones are left
// out.
type Names interface {
	In(ctx context.Context, school lyceum.SchoolID) lyceum.View
}

// The paths of the sections.
const (
	homePath         = "/admin"
	transactionsPath = "/admin/transactions"
	searchPath       = "/admin/search"
	salesPath        = "/admin/sales"
	peoplePath       = "/admin/people"
	attentionPath    = "/admin/attention"
	toStopPath       = "/admin/sales_to_stop"
	commentsPath     = "/admin/comments"
	appsPath         = "/admin/settings/oauth-apps"
	keysPath         = "/admin/settings/api-keys"
	webhooksPath     = "/admin/settings/webhooks"
	staffPath        = "/admin/settings/staff"
	ownPath          = "/admin/own"
	emailsPath       = "/admin/settings/emails"
	snippetPath      = "/admin/settings/page-snippet"
)

// signInPath is where unauthenticated visitors are redirected. The page is not part of the
// console: it asks for the school if there is more than one.
const signInPath = "/secure/sign_in"

// signOutPath returns the path for signing out of a school.
func signOutPath(school lyceum.SchoolID) string {
	return fmt.Sprintf("/secure/%d/identity/sign_out", school)
}

// linkURL returns the URL of a one-time link.
func (c *console) linkURL(school lyceum.SchoolID, link string) string {
	return fmt.Sprintf("%s/secure/%d/identity/set_password/%s", c.Site.AuthURL, school, link)
}

// maxForm is the largest form that is read, in bytes.
const maxForm = 64 << 10

type console struct {
	Options
	mux   *http.ServeMux
	acts  map[string]map[string]action // by pattern in mux, then by method
	pages *looks
}

// visit is one request of a signed-in user.
type visit struct {
	School  lyceum.School
	User    lyceum.User
	Role    lyceum.StaffRole // empty if they do not work for the school
	Author  bool             // their own courses have a place in the navigation
	session lyceum.KeyHash
	zone    *time.Location // of the school
}

// by returns the caller for the rules: the visitor.
func (v *visit) by() lyceum.By {
	return lyceum.By{
		School: v.School.ID, Actor: "user:" + strconv.Itoa(int(v.User.ID)), Staff: v.Role, Person: v.User.ID,
	}
}

// seeing is by, with the fingerprint of what the visitor was shown before changing it.
func (v *visit) seeing(f *form) lyceum.By {
	by := v.by()
	by.Shown = f.Shown
	return by
}

// action handles one request. It must not return an error after it has shown a page.
type action func(w http.ResponseWriter, r *http.Request, v *visit) error

// New returns the handler of /admin and everything below it.
func New(o Options) (http.Handler, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &console{Options: o, mux: http.NewServeMux()}
	c.pages = &looks{byZone: map[lyceum.TimeZone]map[string]*template.Template{}}
	if _, err := c.pages.of(lyceum.UTC, "home.gohtml"); err != nil {
		return nil, err
	}
	c.acts = c.routes()
	if c.Moves != nil {
		c.acts[clockPath] = map[string]action{"POST": c.moveClock}
	}
	for path, actions := range c.acts {
		c.mux.Handle(path, c.route(path, actions))
	}
	c.mux.HandleFunc("/", c.staff(func(http.ResponseWriter, *http.Request, *visit) error { return errNoPage }))

	protection := c.Site.CrossOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.apologize(w, r, nil, lyceum.Errorf(lyceum.Forbidden, "This form was sent from another site, so nothing was "+
			"changed. Open the page here and submit it again."))
	}))
	guarded := protection.Handler(c.mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.Protect(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, largest(r))
		guarded.ServeHTTP(w, r)
	}), nil
}

// LargeForms returns the largest bodies, in bytes, of the pages that accept more than the
// others, by their path patterns.
func LargeForms() map[string]int64 {
	// Form encoding can triple the size of a byte, and turns the end of a line into six bytes.
	const template = maxForm + 6*templates.MaxSource
	return map[string]int64{BulkPath: MaxUpload, emailsPath + "/": template, snippetPath: template}
}

// largest returns the largest body that is accepted in a request, in bytes.
func largest(r *http.Request) int64 {
	for pattern, most := range LargeForms() {
		if r.URL.Path == pattern || strings.HasSuffix(pattern, "/") && strings.HasPrefix(r.URL.Path, pattern) {
			return most
		}
	}
	return maxForm
}

// routes returns the actions of every path, by method.
func (c *console) routes() map[string]map[string]action {
	app, key := appsPath+"/{id}", keysPath+"/{id}"
	sale, refund := salesPath+"/{id}", transactionsPath+"/{id}/refund"
	person, bulkJob, comment := peoplePath+"/{id}", BulkPath+"/{id}", commentsPath+"/{id}"
	hook, delivery := webhooksPath+"/{id}", webhooksPath+"/{id}/deliveries/{delivery}"
	return map[string]map[string]action{
		homePath:                                {"GET": c.home},
		homePath + "/{$}":                       {"GET": lead(homePath)},
		"/admin/settings":                       {"GET": leadToSettings},
		transactionsPath:                        {"GET": c.listTransactions},
		exportPath:                              {"GET": c.exportSales},
		searchPath:                              {"GET": c.search},
		salesPath:                               {"GET": lead(transactionsPath)},
		sale:                                    {"GET": c.showSale},
		sale + "/cancel":                        {"GET": c.confirmCancel, "POST": c.cancelSale},
		refund:                                  {"GET": c.newRefund, "POST": c.previewRefund},
		refund + "/keep":                        {"POST": c.keepRefund},
		appsPath:                                {"GET": c.listApps, "POST": c.registerApp},
		appsPath + "/new":                       {"GET": c.newApp},
		app:                                     {"GET": c.showApp, "POST": c.changeApp},
		app + "/rotate":                         {"POST": c.rotateSecret},
		app + "/disable":                        {"POST": c.disableApp},
		app + "/enable":                         {"POST": c.enableApp},
		app + "/delete":                         {"GET": c.confirmDelete, "POST": c.deleteApp},
		keysPath:                                {"GET": c.listKeys, "POST": c.createKey},
		keysPath + "/new":                       {"GET": c.newKey},
		key + "/revoke":                         {"GET": c.confirmRevoke, "POST": c.revokeKey},
		webhooksPath:                            {"GET": c.listWebhooks, "POST": c.createWebhook},
		webhooksPath + "/new":                   {"GET": c.newWebhook},
		hook:                                    {"GET": c.showWebhook},
		hook + "/edit":                          {"GET": c.editWebhook, "POST": c.changeWebhook},
		hook + "/test":                          {"POST": c.testWebhook},
		hook + "/resume":                        {"POST": c.resumeWebhook},
		hook + "/rotate":                        {"GET": c.confirmRotate, "POST": c.rotateWebhook},
		hook + "/delete":                        {"GET": c.confirmDeleteWebhook, "POST": c.deleteWebhook},
		hook + "/resend":                        {"GET": c.newResend, "POST": c.confirmResend},
		hook + "/resend/keep":                   {"POST": c.keepResend},
		delivery:                                {"GET": c.showDelivery},
		delivery + "/resend":                    {"POST": c.resendDelivery},
		staffPath:                               {"GET": c.listStaff, "POST": c.inviteStaff},
		staffPath + "/second-factor":            {"POST": c.demandSecondFactor},
		person + "/second-factor":               {"POST": c.dropSecondFactor},
		staffPath + "/{id}":                     {"POST": c.changeStaff},
		staffPath + "/{id}/remove":              {"GET": c.confirmRemoveStaff, "POST": c.removeStaff},
		ownPath:                                 {"GET": c.showOwn},
		requestsPath:                            {"GET": c.listRequests},
		auditPath:                               {"GET": c.audit},
		auditFilePath:                           {"GET": c.exportAudit},
		emailsPath:                              {"GET": c.listEmails},
		emailsPath + "/secrets":                 {"POST": c.keepSecret},
		emailsPath + "/secrets/{id}/delete":     {"GET": c.confirmDeleteSecret, "POST": c.deleteSecret},
		emailsPath + "/{name}":                  {"GET": c.showEmail, "POST": c.changeEmail},
		snippetPath:                             {"GET": c.showSnippet, "POST": c.changeSnippet},
		receiptsPath:                            {"GET": c.listReceipts, "POST": c.changeSeller},
		schoolPath:                              {"GET": c.showSchool, "POST": c.changeSchool},
		peoplePath:                              {"GET": c.listPeople, "POST": c.makeLink},
		person:                                  {"GET": c.showPerson},
		person + "/disable":                     {"POST": c.disablePerson},
		person + "/enable":                      {"POST": c.enablePerson},
		person + "/sign-out":                    {"POST": c.signPersonOut},
		person + "/erase":                       {"GET": c.confirmErase, "POST": c.erasePerson},
		person + "/data":                        {"POST": c.handOver},
		person + "/undo-erase":                  {"POST": c.undoErasure},
		person + "/access":                      {"GET": c.showAccess, "POST": c.giveAccess},
		person + "/access/{type}/{product}/end": {"GET": c.confirmEnd, "POST": c.endAccess},
		reportPath:                              {"GET": c.showReport},
		reportFilePath:                          {"GET": c.sendReport},
		attentionPath:                           {"GET": c.listAttention},
		attentionPath + "/{id}/dismiss":         {"POST": c.dismissAttention},
		toStopPath:                              {"GET": c.listToStop},
		commentsPath:                            {"GET": c.listComments},
		commentsPath + "/review":                {"POST": c.reviewComments},
		comment + "/approve":                    {"POST": c.moderate(approving)},
		comment + "/remove":                     c.moderates(removing),
		comment + "/deny":                       c.moderates(denying),
		sale + "/charging_stopped":              {"POST": c.chargingStopped},
		BulkPath:                                {"GET": c.newBulk, "POST": c.prepareBulk},
		bulkJob:                                 {"GET": c.showBulk},
		bulkJob + "/start":                      {"POST": c.startBulk},
		bulkJob + "/cancel":                     {"POST": c.cancelBulk},
	}
}

func lead(path string) action {
	return func(w http.ResponseWriter, r *http.Request, _ *visit) error {
		http.Redirect(w, r, path, http.StatusSeeOther)
		return nil
	}
}

// leadToSettings serves GET /admin/settings: it redirects to the first page of the settings that
// the visitor may open, or otherwise to the first page of their role.
func leadToSettings(w http.ResponseWriter, r *http.Request, v *visit) error {
	for _, path := range []string{schoolPath, keysPath} {
		if access.May(v.Role, "GET "+path) {
			return lead(path)(w, r, v)
		}
	}
	return lead(firstPage(v.Role))(w, r, v)
}

var errNoPage = lyceum.Errorf(lyceum.NotFound, "Page not found. It may have been deleted, or the URL was mistyped.")

// route returns the handler of a path, which selects the action by method.
func (c *console) route(path string, actions map[string]action) http.HandlerFunc {
	var methods []string
	for method := range actions {
		methods = append(methods, method)
	}
	slices.Sort(methods)
	return c.staff(func(w http.ResponseWriter, r *http.Request, v *visit) error {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		act, ok := actions[method]
		if !ok {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			return c.show(w, r, http.StatusMethodNotAllowed, "problem.gohtml", v, "Nothing was changed",
				problem{Sentence: "This page does not accept that kind of request."})
		}
		if !access.May(v.Role, method+" "+path) {
			return c.closed(w, r, v)
		}
		if redirected, err := c.confirmIdentity(w, r, v, method+" "+path); redirected || err != nil {
			return err
		}
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			return lyceum.Invalidf("The part of this URL after the question mark is invalid: a percent sign must be " +
				"followed by two hexadecimal digits, and parameters are separated by &, not by a semicolon.")
		}
		if method == http.MethodPost {
			if err := r.ParseForm(); err != nil {
				if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
					return c.show(w, r, http.StatusRequestEntityTooLarge, "problem.gohtml", v, web.Title(lyceum.TooLarge), problem{
						Sentence: fmt.Sprintf("The form is larger than %d kilobytes, so nothing was changed.", largest(r)>>10),
						Form:     c.wayBack(r, "too-large"),
					})
				}
				return lyceum.Invalidf("The form could not be read, so nothing was changed. Open the page again and resubmit it.")
			}
		}
		return act(w, r, v)
	})
}

// closed responds if the visitor's role does not allow the page: the home page redirects to the
// first page of the role, other pages return an error.
func (c *console) closed(w http.ResponseWriter, r *http.Request, v *visit) error {
	if r.URL.Path == homePath && r.Method != http.MethodPost {
		http.Redirect(w, r, firstPage(v.Role), http.StatusSeeOther)
		return nil
	}
	return lyceum.Errorf(lyceum.Forbidden, "Your role here is %s, which does not allow this. An owner of the school can "+
		"change your role.", v.Role)
}

// firstPage returns the start page of a role.
func firstPage(role lyceum.StaffRole) string {
	switch {
	case access.May(role, "GET "+homePath):
		return homePath
	case role == lyceum.AuthorRole:
		return ownPath
	}
	return peoplePath
}

// unguarded reports whether the visitor is an owner without the second factor that the school
// requires owners to have.
func (c *console) unguarded(r *http.Request, v *visit) (bool, error) {
	if !v.School.OwnersSecondFactor || v.Role != lyceum.OwnerRole {
		return false, nil
	}
	has, err := c.Accounts.HasSecondFactor(r.Context(), v.School.ID, v.User.ID)
	return !has, err
}

// staff admits the staff of the school, redirects unauthenticated visitors to the sign-in, and
// shows others that they have no access. What each role may open is decided by route.
func (c *console) staff(next action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := c.visitor(r)
		switch {
		case isNotFound(err):
			c.signIn(w, r)
			return
		case err != nil:
		case v.Role == "":
			err = c.show(w, r, http.StatusForbidden, "stranger.gohtml", nil, "Only the school’s staff can open this page", v)
		default:
			var unguarded bool
			if unguarded, err = c.unguarded(r, v); unguarded {
				c.leadAway(w, r, "/account/second-factor")
				return
			}
			if err == nil {
				err = next(w, r, v)
			}
		}
		if err != nil {
			c.apologize(w, r, v, err)
		}
	}
}

func isNotFound(err error) bool { return err != nil && lyceum.KindOf(err) == lyceum.NotFound }

// visitor returns the signed-in user. The error is NotFound if nobody is signed in.
func (c *console) visitor(r *http.Request) (*visit, error) {
	text := c.Site.Session(r)
	id, ok := access.SchoolOfSession(text)
	if !ok {
		return nil, lyceum.Errorf(lyceum.NotFound, "nobody is signed in")
	}
	user, err := c.Accounts.Session(r.Context(), id, text)
	if err != nil {
		return nil, err
	}
	role, err := c.Accounts.StaffRole(r.Context(), id, &user)
	if err != nil {
		return nil, err
	}
	school, err := c.School(r.Context(), id)
	if err != nil {
		return nil, fmt.Errorf("get the school of a session: %w", err)
	}
	zone, err := school.TimeZone.Location()
	if err != nil {
		return nil, fmt.Errorf("read the time zone of school %d: %w", id, err)
	}
	v := &visit{School: school, User: user, Role: role, session: access.HashSecret(text), zone: zone}
	if v.Author = role == lyceum.AuthorRole; !v.Author && access.Holds(role, access.SeeOwn) {
		view := c.Names.In(r.Context(), id)
		_, v.Author, err = view.Authors.First(view, lyceum.PartnerFilter{UserID: lyceum.Some(user.ID)})
	}
	return v, err
}

// parseID parses an id exactly as the console writes it, so that each object has only one URL.
func parseID[ID ~int32](text string) (ID, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return ID(n), err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}
