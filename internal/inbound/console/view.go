package console

import (
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	users "github.com/lyceum-school/lyceum/internal/rules/people"
)

// view is the data of every page.
type view struct {
	Title  string
	Visit  *visit // nil if the visitor was not admitted
	Room   string // the path of the section, to mark it in the navigation
	Notice string
	Late   string // why a form did nothing
	Wrong  bool   // a form was rejected; its fields say why
	Now    time.Time
	Moves  bool // Now is the clock of a sandbox, which can be moved
	Moving lyceum.Opt[time.Time]
	Data   any
}

// May reports whether the visitor may perform an action, such as "GET /admin/sales/{id}".
func (v view) May(door string) bool { return v.Visit != nil && access.May(v.Visit.Role, door) }

// problem is the data of the page for what could not be done.
type problem struct {
	Sentence string
	Form     string // path of the form that was submitted; empty if there is none
}

// field is one text input of a form, with its value and what is wrong with it.
type field struct {
	Name, Label, Hint, Value, Error, Type string

	Mode     string // which keyboard a phone shows
	Optional bool
}

// copyable is a text for the user to copy.
type copyable struct{ ID, Label, Text string }

// moment is a time, and what to show if there is none.
type moment struct {
	At   lyceum.Opt[time.Time]
	None string
}

// functionsIn returns the functions for templates; they show times in the given zone.
func functionsIn(at *time.Location) template.FuncMap {
	shown := func(layout string) func(time.Time) string {
		return func(t time.Time) string { return t.In(at).Format(layout) }
	}
	named := func(layout string) func(time.Time) string {
		return func(t time.Time) string { return inZone(t, at, layout) }
	}
	return template.FuncMap{
		"sentence":    sentence,
		"plain":       web.Plain,
		"visible":     web.Visible,
		"copyable":    func(id, label, text string) copyable { return copyable{id, label, text} },
		"moment":      func(at lyceum.Opt[time.Time], none string) moment { return moment{at, none} },
		"time":        func(at time.Time) moment { return moment{At: lyceum.Some(at)} },
		"machine":     func(at time.Time) string { return string(lyceum.AppendTime(nil, at)) },
		"human":       named(humanTime),
		"day":         shown("2\u00a0Jan\u00a02006"),
		"minute":      shown("15:04"),
		"second":      named("2\u00a0Jan\u00a02006, 15:04:05"),
		"number":      number,
		"breakable":   breakable,
		"undoMinutes": func() int { return int(users.UndoTime / time.Minute) },
		"linkHours":   func() int { return int(access.LinkLifetime / time.Hour) },
		"signOut":     signOutPath,
		"roleName":    roleName,
		"count":       func(n int, one, many string) string { return count(int64(n), one, many) },
		"count64":     count,
		"int64":       func(n int32) int64 { return int64(n) },
	}
}

// humanTime is the layout of times.
const humanTime = "2\u00a0Jan\u00a02006, 15:04"

// inZone formats a time with the abbreviation of its zone.
func inZone(t time.Time, at *time.Location, layout string) string {
	return t.In(at).Format(layout) + "\u00a0" + lyceum.ZoneAbbreviation(t.In(at))
}

// roleName capitalises the name of a role.
func roleName(role any) string {
	name := fmt.Sprint(role)
	return strings.ToUpper(name[:1]) + name[1:]
}

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// number formats a number for people: 12,345.
func number(n int64) string { return thousands(strconv.FormatInt(n, 10)) }

// breakable splits a URL into pieces between which a line may break: after the slashes of its
// path, before it is broken anywhere else.
func breakable(text string) []string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return []string{text}
	}
	pieces := strings.SplitAfter(rest, "/")
	pieces[0] = scheme + "://" + pieces[0]
	return pieces
}

// mostZones is how many time zones have parsed pages at a time: those of one take 9 MB.
const mostZones = 16

// looks are the parsed pages for the time zones that schools have.
type looks struct {
	mu     sync.Mutex
	byZone map[lyceum.TimeZone]map[string]*template.Template
}

// of returns a page that shows times in a zone.
func (l *looks) of(zone lyceum.TimeZone, page string) (*template.Template, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pages, ok := l.byZone[zone]
	if !ok {
		at, err := zone.Location()
		if err != nil {
			return nil, err
		}
		if pages, err = parse(at); err != nil {
			return nil, err
		}
		for other := range l.byZone {
			if len(l.byZone) < mostZones {
				break
			}
			delete(l.byZone, other)
		}
		l.byZone[zone] = pages
	}
	return pages[page], nil
}

// parse parses the page templates, each with the shared parts.
func parse(at *time.Location) (map[string]*template.Template, error) {
	pages, err := web.Pages(pageTemplates, functionsIn(at), "templates/*.gohtml")
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		if _, err := page.ParseFS(pageTemplates, "templates/parts/*.gohtml"); err != nil {
			return nil, fmt.Errorf("parse parts: %w", err)
		}
	}
	return pages, nil
}

// rooms maps each page to the section it belongs to.
var rooms = map[string]string{
	"home.gohtml":             homePath,
	"report.gohtml":           reportPath,
	"apps.gohtml":             appsPath,
	"app_new.gohtml":          appsPath,
	"app.gohtml":              appsPath,
	"app_secret.gohtml":       appsPath,
	"app_delete.gohtml":       appsPath,
	"emails.gohtml":           emailsPath,
	"email.gohtml":            emailsPath,
	"keys.gohtml":             keysPath,
	"key_new.gohtml":          keysPath,
	"key_secret.gohtml":       keysPath,
	"key_revoke.gohtml":       keysPath,
	"webhooks.gohtml":         webhooksPath,
	"webhook_form.gohtml":     webhooksPath,
	"webhook_secret.gohtml":   webhooksPath,
	"webhook.gohtml":          webhooksPath,
	"webhook_rotate.gohtml":   webhooksPath,
	"webhook_delete.gohtml":   webhooksPath,
	"webhook_refused.gohtml":  webhooksPath,
	"resend.gohtml":           webhooksPath,
	"resend_question.gohtml":  webhooksPath,
	"delivery.gohtml":         webhooksPath,
	"people.gohtml":           peoplePath,
	"person.gohtml":           peoplePath,
	"link.gohtml":             peoplePath,
	"person_erase.gohtml":     peoplePath,
	"access.gohtml":           peoplePath,
	"access_end.gohtml":       peoplePath,
	"audit.gohtml":            auditPath,
	"requests.gohtml":         requestsPath,
	"receipts.gohtml":         receiptsPath,
	"school.gohtml":           schoolPath,
	"staff.gohtml":            staffPath,
	"staff_link.gohtml":       staffPath,
	"staff_remove.gohtml":     staffPath,
	"own.gohtml":              ownPath,
	"attention.gohtml":        attentionPath,
	"to_stop.gohtml":          attentionPath,
	"comments.gohtml":         commentsPath,
	"comment_moderate.gohtml": commentsPath,
	"bulk.gohtml":             BulkPath,
	"bulk_job.gohtml":         BulkPath,
	"transactions.gohtml":     transactionsPath,
	"search.gohtml":           transactionsPath,
	"sale.gohtml":             transactionsPath,
	"sale_refused.gohtml":     transactionsPath,
	"refund.gohtml":           transactionsPath,
	"cancel.gohtml":           transactionsPath,
}

// notices are the messages at the top of a page after an action, by the value of the parameter
// done.
var notices = map[string]string{
	"changed":      "The changes are saved.",
	"clock":        "The clock was moved, and everything that was due in between has happened.",
	"clock-idle":   "No payment is due, so the clock was not moved.",
	"clock-moving": "The clock is being moved. The pages show its progress.",
	"disabled":     "The app is disabled. Its tokens no longer work.",
	"enabled":      "The app is enabled again.",
	"deleted":      "The app is deleted, and all access it had has ended.",
	"registered": "This app is already registered: the form was submitted twice. Its secret was shown the first " +
		"time and cannot be shown again. If it is lost, create a new one below.",
	"rotated": "The app already has its new secret: the form was submitted twice. The secret was shown the first " +
		"time and cannot be shown again. If it is lost, create another one below.",
	"revoked": "The key is revoked and no longer works.",
	"linked": "The link was already created: the form was submitted twice. It was shown the first time and cannot " +
		"be shown again. If it is lost, create and use another, which ends the first.",
	"staff-invited": "The invitation is being sent. They work here once they have chosen a password.",
	"staff-added":   "They work here now, and sign in with their existing password.",
	"staff-linked": "They work here already: the form was submitted twice. The link was shown the first time and " +
		"cannot be shown again. If it is lost, create another under People.",
	"staff-changed": "The role is changed. It takes effect with their next request.",
	"own-role":      "Your own role is changed. Only an owner can change it again.",
	"own-removed": "You no longer work for the school. API keys that you made as an owner belong to it and keep " +
		"working.",
	"staff-removed": "They no longer work here, and the API keys that they made are revoked.",
	"owner-removed": "They no longer work here. API keys that they made as an owner belong to the school and keep " +
		"working: revoke those that they should no longer use.",
	"second-dropped":   "The second factor is removed. The person signs in with only the password.",
	"person-off":       "The person is disabled and can no longer sign in.",
	"person-on":        "The person is enabled again.",
	"person-out":       "The person is signed out everywhere.",
	"secret-added":     "The secret is saved. Templates can sign with it.",
	"secret-changed":   "The secret is replaced. Templates sign with the new one.",
	"secret-deleted":   "The secret is deleted.",
	"email-standard":   "The email has the standard text again.",
	"to-erase":         "The person will be erased. Until then nothing changes, and you can undo it below.",
	"not-erased":       "The person is kept. Nothing was erased.",
	"given":            "Access is given.",
	"access-ended":     "Access has ended. If your payment system still charges the person, stop it there as well.",
	"comment-approved": "The comment is approved. Learners see it.",
	"comment-removed":  "The comment is removed. Learners no longer see it.",
	"comment-denied":   "The comment is denied. Learners do not see it.",
	"review-on":        "New comments wait until you approve them.",
	"review-off":       "New comments are visible at once. Those that already wait still do.",
	"dismissed":        "The warning is dismissed.",
	"stopped":          "The sale is off the list: your payment system no longer charges it.",
	"discarded":        "The bulk change is cancelled. Changes made so far are kept.",
	"refunded": "The refund is recorded. Lyceum does not move money: refund the buyer in your payment system " +
		"as well.",
	"canceled": "The sale is cancelled.",
	"hook-created": "This webhook already exists: the form was submitted twice. Its secret was shown the first time " +
		"and cannot be shown again. If it is lost, rotate it below.",
	"hook-rotated": "The webhook already has its new secret: the form was submitted twice. The secret was shown the " +
		"first time and cannot be shown again. If it is lost, rotate it again.",
	"hook-deleted": "The webhook is deleted. Nothing more will be sent to it.",
	"came-back":    "The test was sent. The response is below.",
	"came-again":   "It was sent again. The response is below.",
	"tested":       "The test is being sent. Reload this page to see the response.",
	"resumed":      "The webhook is enabled again.",
	"resent":       "The deliveries are being sent again. Reload this page to see the results.",
	"resent-one":   "The delivery is being sent again. Reload this page to see the response.",
	"created": "This key already exists: the form was submitted twice. It was shown the first time and cannot be " +
		"shown again. If it is lost, revoke it and create another.",
}

func (c *console) show(
	w http.ResponseWriter, r *http.Request, status int, page string, v *visit, title string, data any,
) error {
	zone := lyceum.UTC
	if v != nil {
		zone = v.School.TimeZone
	}
	look, err := c.pages.of(zone, page)
	if err != nil {
		return err
	}
	after := r.URL.Query().Get("done")
	return web.Show(w, status, look, view{
		Title: title, Visit: v, Room: rooms[page], Notice: notices[after], Late: late[after],
		Wrong: status == http.StatusUnprocessableEntity, Now: c.Clock(), Moves: c.Moves != nil,
		Moving: c.moving(), Data: data,
	})
}

// done redirects to the page that shows what was done.
func done(w http.ResponseWriter, r *http.Request, path, notice string) error {
	http.Redirect(w, r, path+"?done="+notice, http.StatusSeeOther) // #nosec G710 -- always a page of this server
	return nil
}

// statusOf returns the HTTP status of an error page.
func statusOf(kind lyceum.Kind) int {
	if kind == lyceum.Invalid {
		return http.StatusUnprocessableEntity // like a form whose fields are rejected
	}
	return web.Status(kind)
}

// apologize shows an error to the user, and logs what must not be shown.
func (c *console) apologize(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	e := lyceum.Public(err)
	sentence := e.Detail
	switch e.Kind {
	case lyceum.Internal:
		web.Logger(c.Log, w, r).ErrorContext(r.Context(), "console request failed", "err", err)
		sentence = "The server’s log has the details. Try again; if the problem persists, contact the person who " +
			"runs the server."
	case lyceum.NotFound:
		if e.Code != erasedPerson {
			sentence = errNoPage.Detail
		}
	case lyceum.Unavailable:
		web.Logger(c.Log, w, r).Log(r.Context(), wire.RefusalLevel(r), "console request cannot be answered now",
			"err", err)
		sentence = web.Unavailable(e)
	default:
	}
	what := problem{Sentence: sentence}
	if err := c.show(w, r, statusOf(e.Kind), "problem.gohtml", v, web.Title(e.Kind), what); err != nil {
		web.Logger(c.Log, w, r).ErrorContext(r.Context(), "console page cannot be shown", "err", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
	}
}
