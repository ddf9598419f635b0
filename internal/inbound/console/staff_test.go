package console_test

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const staffPath = "/admin/settings/staff"

// hire signs in a new member of the staff of school 1.
func (p *place) hire(email string, role lyceum.StaffRole) (session string, id lyceum.UserID) {
	p.t.Helper()
	session = p.signIn(1, email, lyceum.Student)
	v := p.store.In(p.t.Context(), 1)
	user, _, err := v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some(email)})
	if err != nil {
		p.t.Fatal(err)
	}
	leads(p.t, p.send(p.owner, "POST", staffPath, p.form(staffPath, "email", email, "role", string(role))), staffPath+"?done=staff-added")
	return session, user.ID
}

// R53: each role can open the pages that the table allows, and no route is missing from it.
func TestR53EveryRoleAndPage(t *testing.T) {
	p := open(t, site)
	sessions := map[lyceum.StaffRole]string{}
	for _, role := range lyceum.StaffRoles() {
		sessions[role], _ = p.hire("the-"+string(role)+"@example.com", role)
	}
	doors := access.Doors()
	for path, methods := range console.Routes() {
		for _, method := range methods {
			if _, known := doors[method+" "+path]; !known {
				t.Errorf("%s %s is in no role's reach; add it to internal/rules/access/doortable.go", method, path)
			}
		}
	}
	sent := 0
	for door := range doors {
		method, path, _ := strings.Cut(door, " ")
		if !strings.HasPrefix(path, "/admin") || path == "/admin/clock" { // only a sandbox has a clock to move
			continue
		}
		for role, session := range sessions {
			sent++
			if access.May(role, door) && method == "POST" {
				continue // tested elsewhere
			}
			w := p.send(session, method, strings.NewReplacer("{id}", "99", "{type}", "course", "{product}", "1", "{delivery}", "1", "{name}", "password", "{$}", "").Replace(path), nil)
			refused := w.Code == 403 || path == "/admin" && w.Code == 303
			if refused == access.May(role, door) {
				t.Errorf("%s, %s: status %d, want it open: %t", role, door, w.Code, access.May(role, door))
			}
		}
	}
	if sent < 400 {
		t.Errorf("only %d doors were tried", sent)
	}
}

// The first page leads nobody to a page that their role does not allow, nor does /admin/settings.
func TestFirstPageOfEachRole(t *testing.T) {
	for name, prepare := range map[string]func(*place){
		"a new school": func(p *place) {
			want(t, p.send(p.owner, "GET", "/admin", nil), 200, "Four steps to get started")
		},
		"what needs a look": func(p *place) {
			p.sellWithHook(1)
			p.fail(refusedBy)
			p.session()
			app, _, _ := p.register("Ledger", "https://ledger.example.com/", "1")
			leads(t, p.send(p.owner, "POST", app+"/disable", nil), app+"?done=disabled")
			want(t, p.send(p.owner, "GET", "/admin", nil), 200, "1 webhook has failed", "Show the webhooks", "1 OAuth app is disabled", "Show the apps")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, site)
			prepare(p)
			for _, role := range lyceum.StaffRoles() {
				session, _ := p.hire("the-"+string(role)+"@example.com", role)
				for _, from := range []string{"/admin", "/admin/settings"} {
					w := p.send(session, "GET", from, nil)
					if to := w.Header().Get("Location"); to != "" {
						w = p.send(session, "GET", to, nil)
					}
					want(t, w, 200)
					for _, found := range loads.FindAllStringSubmatch(w.Body.String(), -1) {
						path := html.UnescapeString(found[1])
						if strings.HasPrefix(path, "/admin") && p.send(session, "GET", path, nil).Code == 403 {
							t.Errorf("%s leads %s to %s", from, role, path)
						}
					}
				}
			}
		})
	}
}

// An invitation by email contains the link, and the page does not.
func TestInvitationByEmail(t *testing.T) {
	p := open(t, site)
	p.remake(func(o *console.Options) {
		o.Emails = p.emails(func(context.Context, templates.Message) error { return nil })
	})
	want(t, p.send(p.owner, "GET", staffPath, nil), 200, "Invite by email", "Invite with a link")
	leads(t, p.send(p.owner, "POST", staffPath, p.form(staffPath, "email", "new@example.com", "role", "bookkeeper", "by", "email")), staffPath+"?done=staff-invited")
	v := p.store.In(t.Context(), 1)
	sent, err := lyceum.All(v.Emails, v, lyceum.EmailFilter{})
	if err != nil || len(sent) != 1 || sent[0].Kind != lyceum.InvitationEmail || sent[0].Address != lyceum.Some("new@example.com") || strings.Contains(sent[0].Values, "set_password") {
		t.Errorf("the emails are %+v, %v", sent, err)
	}
	want(t, p.send(p.owner, "POST", staffPath, p.form(staffPath, "email", "other@example.com", "role", "support")), 200, "One-time link")
}

// A form that is sent twice says what it did the first time, and sends no second email.
func TestInvitedTwice(t *testing.T) {
	p := open(t, site)
	p.remake(func(o *console.Options) {
		o.Emails = p.emails(func(context.Context, templates.Message) error { return nil })
	})
	p.signIn(1, "known@example.com", lyceum.Student)
	for _, tc := range []struct{ email, by, done string }{
		{"new@example.com", "email", "staff-invited"},
		{"known@example.com", "email", "staff-added"},
	} {
		form := p.form(staffPath, "email", tc.email, "role", "support", "by", tc.by)
		for range 2 {
			leads(t, p.send(p.owner, "POST", staffPath, form), staffPath+"?done="+tc.done)
		}
	}
	form := p.form(staffPath, "email", "other@example.com", "role", "support")
	want(t, p.send(p.owner, "POST", staffPath, form), 200, "Copy the link now")
	leads(t, p.send(p.owner, "POST", staffPath, form), staffPath+"?done=staff-linked")
	v := p.store.In(t.Context(), 1)
	if sent, err := lyceum.All(v.Emails, v, lyceum.EmailFilter{}); err != nil || len(sent) != 1 {
		t.Errorf("%d emails are sent, %v", len(sent), err)
	}
}

// R54: a changed role applies from the next request on, for pages and for keys.
func TestR54RoleChangedWhileSignedIn(t *testing.T) {
	p := open(t, site)
	session, id := p.hire("partner@example.com", lyceum.ManagerRole)
	want(t, p.send(session, "GET", keysPath+"/new", nil), 200, "It can do no more than your role allows")
	w := p.send(session, "POST", keysPath, p.formOf(session, keysPath+"/new", "name", "Report", "permissions", "read,write"))
	want(t, w, 200, "Copy the key now")
	text := key.FindString(w.Body.String())
	may := func(door string) bool {
		t.Helper()
		by, err := p.keys.Check(t.Context(), text)
		return err == nil && access.PermitDoor(by, door) == nil
	}
	change := fmt.Sprintf("%s/%d", staffPath, id)
	if !may("POST /lyceum/v1/sales") || p.send(session, "GET", appsPath, nil).Code != 200 {
		t.Error("a manager may not what the table says")
	}
	want(t, p.send(p.owner, "POST", change, url.Values{"role": {"boss"}}), 422, "must be owner, manager, bookkeeper, author or support")
	leads(t, p.send(p.owner, "POST", change, url.Values{"role": {"bookkeeper"}}), staffPath+"?done=staff-changed")
	want(t, p.send(session, "GET", appsPath, nil), 403, "Your role here is bookkeeper")
	want(t, p.send(session, "GET", "/admin/transactions", nil), 200)
	if may("POST /lyceum/v1/sales") || !may("GET /v1/transactions") {
		t.Error("the key does not follow the role")
	}
	want(t, p.send(p.owner, "GET", staffPath, nil), 200, "partner@example.com", `<option value="bookkeeper" selected>`)
	const stops = "1 API key that they made stops working permanently"
	want(t, p.send(p.owner, "GET", change+"/remove", nil), 200, stops)
	leads(t, p.send(p.owner, "POST", change, url.Values{"role": {"owner"}}), staffPath+"?done=staff-changed")
	want(t, p.send(p.owner, "GET", change+"/remove", nil), 200, stops, "API keys that they made as an owner belong to the school and keep working")
	leads(t, p.send(p.owner, "POST", change+"/remove", nil), staffPath+"?done=owner-removed")
	want(t, p.send(p.owner, "GET", staffPath+"?done=owner-removed", nil), 200, "keep working: revoke those that they should no longer use")
	want(t, p.send(session, "GET", "/admin", nil), 403, "The console is for the school’s owners and staff")
	if may("GET /v1/transactions") {
		t.Error("the key of somebody who left works")
	}
}

// R38: an API key of somebody who is disabled is rejected at once, and works again when they are
// enabled.
func TestR38_KeyOfDisabledStaff(t *testing.T) {
	p := open(t, site)
	session, id := p.hire("partner@example.com", lyceum.ManagerRole)
	w := p.send(session, "POST", keysPath, p.formOf(session, keysPath+"/new", "name", "Report", "permissions", "read"))
	want(t, w, 200, "Copy the key now")
	text := key.FindString(w.Body.String())
	partner := fmt.Sprintf("%s/%d", people, id)
	for _, step := range []struct {
		path string
		good bool
	}{{"", true}, {"/disable", false}, {"/enable", true}} {
		if step.path != "" {
			want(t, p.send(p.owner, "POST", partner+step.path, url.Values{}), 303)
		}
		if _, err := p.keys.Check(t.Context(), text); (err == nil) != step.good {
			t.Errorf("after %q: the key is good: %v, want %v", step.path, err == nil, step.good)
		}
	}
}

// formOf is form for a session other than the owner's.
func (p *place) formOf(session, path string, pairs ...string) url.Values {
	p.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	if found := once.FindStringSubmatch(p.send(session, "GET", path, nil).Body.String()); found != nil {
		form.Set("form", found[1])
	}
	return form
}

// R55: there is always an owner who can sign in.
func TestR55LastOwner(t *testing.T) {
	p := open(t, site)
	for _, tc := range []struct{ path, role string }{{"/1", "manager"}, {"/1/remove", ""}} {
		want(t, p.send(p.owner, "POST", staffPath+tc.path, url.Values{"role": {tc.role}}), 409, "last owner who can sign in")
	}
	session, id := p.hire("partner@example.com", lyceum.OwnerRole)
	leads(t, p.send(session, "POST", staffPath+"/1", url.Values{"role": {"manager"}}), staffPath+"?done=staff-changed")
	want(t, p.send(p.owner, "GET", staffPath, nil), 403)
	want(t, p.send(session, "POST", staffPath, p.formOf(session, staffPath, "email", "next@example.com", "role", "owner")), 200, "Copy the link now")
	want(t, p.send(session, "POST", fmt.Sprintf("%s/%d", staffPath, id), url.Values{"role": {"manager"}}), 409, "last owner who can sign in")
	want(t, p.send(session, "POST", fmt.Sprintf("%s/%d/disable", people, id), nil), 409, "last owner who can sign in")
	want(t, p.send(session, "POST", fmt.Sprintf("%s/%d/remove", staffPath, id), nil), 409, "last owner who can sign in")
	leads(t, p.send(session, "POST", staffPath+"/1", url.Values{"role": {"owner"}}), staffPath+"?done=staff-changed")
	leads(t, p.send(session, "POST", fmt.Sprintf("%s/%d/remove", staffPath, id), nil), "/admin?done=own-removed")
	want(t, p.send(session, "GET", "/admin?done=own-removed", nil), 403, "owners and staff", "You no longer work for the school. API keys that you made as an owner belong to it and keep working.")
}

// A role for somebody who was removed from the staff meanwhile is not saved, and the page says why.
func TestRoleOfARemovedColleague(t *testing.T) {
	p := open(t, site)
	_, id := p.hire("partner@example.com", lyceum.SupportRole)
	at := fmt.Sprintf("%s/%d", staffPath, id)
	leads(t, p.send(p.owner, "POST", at+"/remove", nil), staffPath+"?done=staff-removed")
	before := p.journal()
	for _, path := range []string{at, at + "/remove"} {
		want(t, p.send(p.owner, "POST", path, url.Values{"role": {"manager"}}), 409,
			"partner@example.com does not work for the school, so nothing was changed. Somebody may have removed them meanwhile.")
	}
	want(t, p.send(p.owner, "POST", staffPath+"/999", url.Values{"role": {"manager"}}), 404)
	if p.journal() != before {
		t.Error("something was saved")
	}
}

// An owner who takes another role is told so on the first page of that role.
func TestOwnRole(t *testing.T) {
	p := open(t, site)
	for role, first := range map[string]string{"manager": "/admin", "bookkeeper": "/admin", "author": "/admin/own", "support": people} {
		session, id := p.hire(role+"@example.com", lyceum.OwnerRole)
		change := fmt.Sprintf("%s/%d", staffPath, id)
		leads(t, p.send(session, "POST", change, url.Values{"role": {"owner"}}), staffPath+"?done=staff-changed")
		leads(t, p.send(session, "POST", change, url.Values{"role": {role}}), first+"?done=own-role")
		want(t, p.send(session, "GET", first+"?done=own-role", nil), 200, "Your own role is changed.")
	}
}

// R56: staff who are not owners cannot take over the account of someone with more rights.
func TestR56AccountsOfStaff(t *testing.T) {
	p := open(t, site)
	support, id := p.hire("help@example.com", lyceum.SupportRole)
	p.hire("partner@example.com", lyceum.ManagerRole)
	for _, email := range []string{"owner@example.com", "partner@example.com"} {
		want(t, p.send(support, "POST", people, url.Values{"email": {email}}), 403, "Only an owner can change their account")
	}
	for _, deed := range []string{"disable", "enable", "sign-out"} {
		want(t, p.send(support, "POST", people+"/1/"+deed, nil), 403, "Only an owner can change their account")
	}
	w := p.send(support, "GET", people+"/1", nil)
	if want(t, w, 200, "Works here as Owner"); strings.Contains(w.Body.String(), "/sign-out") && strings.Contains(w.Body.String(), people+"/1/sign-out") {
		t.Error("what support may not do to an owner is offered")
	}
	leads(t, p.send(support, "POST", people+"/2/sign-out", nil), people+"/2?done=person-out")
	want(t, p.send(p.owner, "POST", fmt.Sprintf("%s/%d/erase", people, id), nil), 422, "works for the school")
}

// R56: a link that support made for a learner ends when the learner becomes staff.
func TestR56LinksFromBefore(t *testing.T) {
	p := open(t, site)
	support, _ := p.hire("help@example.com", lyceum.SupportRole)
	for _, role := range []lyceum.StaffRole{lyceum.OwnerRole, lyceum.ManagerRole} {
		email := "new-" + string(role) + "@example.com"
		p.signIn(1, email, lyceum.Student)
		w := p.send(support, "POST", people, p.formOf(support, people, "email", email))
		want(t, w, 200, "A link to set a password")
		text := link.FindString(w.Body.String())
		if _, err := p.accounts.Link(t.Context(), 1, text); err != nil {
			t.Fatal(err)
		}
		leads(t, p.send(p.owner, "POST", staffPath, p.form(staffPath, "email", email, "role", string(role))),
			staffPath+"?done=staff-added")
		if _, err := p.accounts.SetPassword(t.Context(), 1, text, password); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("support takes over the account of a new %s: %v", role, err)
		}
	}
}

func TestInvitations(t *testing.T) {
	p := open(t, site)
	for _, tc := range []struct{ email, role, field, says string }{
		{"", "manager", "email", "must be an email address"},
		{"nobody", "manager", "email", "must be an email address"},
		{"a@example.com", "boss", "role", "must be owner, manager, bookkeeper, author or support"},
		{"owner@example.com", "support", "email", "works here as owner already"},
	} {
		w := p.send(p.owner, "POST", staffPath, p.form(staffPath, "email", tc.email, "role", tc.role))
		want(t, w, 422, `id="`+tc.field+`-error"`, tc.says)
	}
	form := p.form(staffPath, "email", "books@example.com", "role", "bookkeeper")
	w := p.send(p.owner, "POST", staffPath, form)
	want(t, w, 200, "Copy the link now", "work here as Bookkeeper")
	text := link.FindString(w.Body.String())
	leads(t, p.send(p.owner, "POST", staffPath, form), staffPath+"?done=staff-linked")
	if _, err := p.accounts.SetPassword(t.Context(), 1, text, password); err != nil {
		t.Fatal(err)
	}
	if _, err := p.accounts.SetPassword(t.Context(), 1, text, password); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("the link works twice: %v", err)
	}
	session, _, err := p.admitted(t.Context(), 1, "books@example.com")
	if err != nil {
		t.Fatal(err)
	}
	want(t, p.send(session, "GET", "/admin/transactions", nil), 200)
	want(t, p.send(session, "GET", keysPath, nil), 200, "No keys yet")
	p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", "The school’s", "permissions", "read"))
	want(t, p.send(session, "GET", keysPath, nil), 200, "No keys yet")
	want(t, p.send(session, "POST", keysPath+"/1/revoke", nil), 404)
}

func TestOwnCourses(t *testing.T) {
	p := open(t, site)
	p.market()
	session, id := p.hire("author@example.com", lyceum.AuthorRole)
	leads(t, p.send(session, "GET", "/admin", nil), "/admin/own")
	want(t, p.send(session, "GET", "/admin/own", nil), 200, "You are not an author yet", `href="/admin/own" aria-current="page"`)
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Authors.Save(tx,
			lyceum.AuthorProfile{ID: 76, Name: lyceum.Some("Ann, before"), UserID: lyceum.Some(id), ArchivedAt: lyceum.Some(storetest.Begin)},
			lyceum.AuthorProfile{ID: 77, Name: lyceum.Some("Ann"), UserID: lyceum.Some(id)})
		if err == nil {
			_, err = tx.Courses.Save(tx, lyceum.Course{ID: 771, Name: "Hers", AuthorID: lyceum.Some(lyceum.AuthorID(77)), IsPublished: true})
		}
		return err
	})
	w := p.send(session, "GET", "/admin/own?month=2026-02", nil)
	want(t, w, 200, "Hers", "Published", "Statement of February 2026", "/admin/own?month=2026-01", "/admin/own?month=2026-03", "Nothing in this month")
	if strings.Contains(w.Body.String(), "Pottery") {
		t.Error("an author sees a course of somebody else")
	}
	p.write(func(tx lyceum.Tx) error {
		return tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "America/Asuncion" }) // October 2023 began at one o'clock
	})
	want(t, p.send(session, "GET", "/admin/own?month=2023-10", nil), 200, "Statement of October 2023", "/admin/own?month=2023-09", "/admin/own?month=2023-11")
	want(t, p.send(session, "GET", "/admin/own?month=x", nil), 422, "a month such as 2026-03")
	want(t, p.send(session, "GET", "/admin/transactions", nil), 403, "Your role here is author")

	manager, id := p.hire("manager@example.com", lyceum.ManagerRole)
	if w := p.send(manager, "GET", people, nil); strings.Contains(w.Body.String(), "/admin/own") {
		t.Error("a manager who is no author has a link to their courses")
	}
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 78, Name: lyceum.Some("Max"), UserID: lyceum.Some(id)})
		return err
	})
	want(t, p.send(manager, "GET", people, nil), 200, `href="/admin/own"`, "My courses")
}
