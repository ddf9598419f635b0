package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

func TestPasswordLink(t *testing.T) {
	p := open(t, site)
	p.signIn(1, "author@example.com", lyceum.Author)
	for _, email := range []string{"learner@example.com", " Learner@Example.COM ", "author@example.com"} {
		t.Run(email, func(t *testing.T) {
			form := p.form(people, "email", email)
			w := p.send(p.owner, "POST", people, form)
			until := p.clock.Now().Add(48 * time.Hour).Format("2 Jan 2006, 15:04")
			want(t, w, 200, "Copy the link now", strings.ToLower(strings.TrimSpace(email)), until+" UTC (48 hours from now)",
				`http://school.example.com/secure/1/identity/set_password/lyceum_link_1_`)
			if w.Header().Get("Location") != "" || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("the link may stay somewhere: %v", w.Header())
			}
			text := link.FindString(w.Body.String())
			leads(t, p.send(p.owner, "POST", people, form), people+"?done=linked")
			want(t, p.send(p.owner, "GET", people+"?done=linked", nil), 200, "The link was already created")
			user, err := p.accounts.SetPassword(t.Context(), 1, text, "another four good words")
			if err != nil || user.Email != strings.ToLower(strings.TrimSpace(email)) {
				t.Errorf("the link is of %q: %v", user.Email, err)
			}
			if _, err := p.accounts.Link(t.Context(), 1, text); err == nil {
				t.Error("the link works twice")
			}
		})
	}
}

func TestPasswordLinkEnds(t *testing.T) {
	p := open(t, site)
	newLink := func() string {
		return link.FindString(p.send(p.owner, "POST", people, p.form(people, "email", "learner@example.com")).Body.String())
	}
	first, second := newLink(), newLink()
	if _, err := p.accounts.Link(t.Context(), 1, first); err != nil {
		t.Errorf("the second link ended the first before it was used: %v", err)
	}
	p.clock.Pass(access.LinkLifetime - time.Second)
	if _, err := p.accounts.Link(t.Context(), 1, second); err != nil {
		t.Errorf("the link ended before the time that the page says: %v", err)
	}
	p.clock.Pass(time.Second)
	if _, err := p.accounts.Link(t.Context(), 1, second); err == nil {
		t.Error("the link is good after the time that the page says")
	}
}

func TestPasswordLinkRefuses(t *testing.T) {
	p := open(t, site)
	p.signIn(p.addSchool("Southwind"), "learner@south.example.com", lyceum.Student)
	p.signIn(1, "gone@example.com", lyceum.Student)
	p.switchOff("gone@example.com")
	before := p.state()
	for _, tc := range []struct{ name, email, says string }{
		{"nothing", "", "Email address is required"},
		{"spaces", "  ", "Email address is required"},
		{"nobody", "nobody@example.com", "Email address belongs to nobody in this school"},
		{"no address", "learner", "belongs to nobody in this school"},
		{"of another school", "learner@south.example.com", "belongs to nobody in this school"},
		{"10 kB", strings.Repeat("x", 10<<10) + "@example.com", "belongs to nobody in this school"},
		{"NUL", "learner@example.com\x00", "belongs to nobody in this school"},
		{"no UTF-8", "learner\xff@example.com", "belongs to nobody in this school"},
		{"wildcard", "%@example.com", "belongs to nobody in this school"},
		{"markup", `"><script>alert(1)</script>@example.com`, "belongs to nobody in this school"},
		{"switched off", "gone@example.com", "belongs to a disabled person"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := p.send(p.owner, "POST", people, p.form(people, "email", tc.email))
			want(t, w, http.StatusUnprocessableEntity, "<title>Error: ", `id="email-error"`, `aria-invalid="true"`, tc.says)
		})
	}
	p.untouched(before)
	// After a correction, the same form is accepted.
	form := p.form(people, "email", "learnr@example.com")
	want(t, p.send(p.owner, "POST", people, form), 422, `value="learnr@example.com"`)
	form.Set("email", "learner@example.com")
	want(t, p.send(p.owner, "POST", people, form), 200, "Copy the link now")
	want(t, p.send(p.owner, "POST", people, url.Values{"email": {"learner@example.com"}}), 200, "Copy the link now") // a form without a name
}

// switchOff disables a user of school 1, who then cannot sign in.
func (p *place) switchOff(email string) {
	p.t.Helper()
	user, found, err := p.accounts.UserByEmail(p.t.Context(), p.by(), email)
	if err != nil || !found {
		p.t.Fatal(found, err)
	}
	user.DisabledAt = lyceum.Some(p.clock.Now())
	err = p.store.Write(p.t.Context(), lyceum.Stamp{School: 1, At: p.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, user)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}
