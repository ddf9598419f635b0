package templates_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// desk is a school with its own emails.
type desk struct {
	*templates.Service

	store   lyceum.Store
	clock   *storetest.Clock
	by      lyceum.By
	options templates.Options
	log     strings.Builder
	sent    []templates.Message
	down    error // the error of the mail server
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &desk{
		store: store, clock: storetest.NewClock(storetest.Begin),
		by: lyceum.By{School: storetest.MakeSchool(t, store), Actor: "test"},
	}
	d.options = templates.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{1}), Log: slog.New(slog.NewTextHandler(&d.log, nil)),
		Send: func(_ context.Context, m templates.Message) error {
			d.sent = append(d.sent, m)
			return d.down
		},
	}
	d.change(func(*templates.Options) {})
	return d
}

// change creates the service again with other options.
func (d *desk) change(change func(*templates.Options)) {
	change(&d.options)
	d.Service = templates.New(d.store, d.clock.Now, d.options)
}

func draft(name templates.EmailName, subject, body string) templates.Draft {
	return templates.Draft{Name: name, Subject: lyceum.Some(subject), Body: lyceum.Some(body)}
}

// TestStandardEmails checks that every standard email works with the examples and with the
// shortest values.
func TestStandardEmails(t *testing.T) {
	d := newDesk(t)
	all, err := d.Emails(t.Context(), d.by, struct{}{})
	if err != nil || len(all) != len(templates.EmailNames()) {
		t.Fatal(len(all), err)
	}
	for _, email := range all {
		if _, err := d.Preview(t.Context(), d.by, templates.Draft{Name: email.Name}); err != nil {
			t.Errorf("%s: %v", email.Name, err)
		}
		values := templates.Values{}
		for _, v := range email.Variables {
			values[v.Name] = ""
		}
		if _, err := d.Compose(t.Context(), d.by.School, email.Name, values); err != nil {
			t.Errorf("%s, without values: %v", email.Name, err)
		}
	}
}

// TestOwnEmails checks that the school's own text is sent, and the standard one after a reset
// and if the school's text fails for a value that the examples do not have.
func TestOwnEmails(t *testing.T) {
	d := newDesk(t)
	values := templates.Values{"school.name": "Kiln", "changed": "password"}
	post := func(want string) {
		t.Helper()
		made, err := d.Compose(t.Context(), d.by.School, templates.AccountChanged, values)
		if got := made.Subject + "\n" + made.Text; err != nil || got != want {
			t.Errorf("made %q, %v, want %q", got, err, want)
		}
	}
	standard := "Your account at Kiln\nThe password of your account at Kiln was changed by the school.\n" +
		"You were signed out everywhere.\n\nIf you did not ask for this, get in touch with the school.\n"
	post(standard)
	own := draft(templates.AccountChanged, "{{ school.name }}\n says", "{{ 60 | divided_by: school.name.size }} {{ changed | upcase }}{% if school.name == '' %}{{ changed | hmac_sha256: changed }}{% endif %}")
	email, err := d.Change(t.Context(), d.by, own)
	if err != nil || !email.ChangedAt.Present {
		t.Fatal(email, err)
	}
	post("Kiln says\n15 PASSWORD")
	values["school.name"], values["changed"] = "", "canary"
	standard = strings.Replace(standard, "password", "canary", 1)
	post(strings.ReplaceAll(strings.Replace(standard, " Kiln", "", 1), "Kiln", ""))
	if got := d.log.String(); !strings.Contains(got, "the template of the body fails") || strings.Contains(got, "canary") {
		t.Error("the log says:", got)
	}
	values["school.name"] = "Kiln"
	if err := d.Reset(t.Context(), d.by, templates.AccountChanged); err != nil {
		t.Fatal(err)
	}
	post(standard)
}

// TestR62_LinksStayWithTheirReader checks that no text of a school can send a link with which
// somebody gets access to another server: neither one that is saved now, nor one that was saved
// before or does so only for some people.
func TestR62_LinksStayWithTheirReader(t *testing.T) {
	d := newDesk(t)
	const alone, plain = "must have a space, a line break or < before {{ link }}", "may use link only as {{ link }}, in no tag and with no filter"
	for body, want := range map[string]string{
		"Here: {{ link }}.": "", "{{link}}": "", "<{{ link }}>\n": "", "\n{{ link }}\n{{ 'link' | upcase }}": "",
		"{% comment %}the link{% endcomment %} {{ link }}":            "",
		"https://evil.example/?{{ link }}":                            "body " + alone,
		"{{ link }} https://evil.example/?{{ link }}":                 "body " + alone,
		"https://evil.example/? \n{{- link }}":                        "body " + alone,
		"https://evil.example/?{% if true -%} {{ link }}{% endif %}":  "body " + alone,
		"{{ link }} https://evil.example/?{{ link | url_encode }}":    "body " + plain,
		"{{ link }} {{ link | upcase }}":                              "body " + plain,
		"{{ link }} {% assign x=link %}https://evil.example/?{{ x }}": "body " + plain,
		"{{ link }} {% for c in link %}{{ c }}{% endfor %}":           "body " + plain,
		"{{ link }} {% if link.size == 3 %}x{% endif %}":              "body " + plain,
	} {
		_, err := d.Preview(t.Context(), d.by, draft(templates.SetPassword, "Password", strings.ReplaceAll(body, "\\n", "\n")))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", body, err, want)
		}
	}
	if _, err := d.Preview(t.Context(), d.by, draft(templates.Invitation, "See {{ link | upcase }}", "{{ link }}")); err == nil || !strings.Contains(err.Error(), "subject "+plain) {
		t.Error("in the subject:", err)
	}
	later := draft(templates.SetPassword, "Password", "{% if user.name == 'Olga' %}https://evil.example/?{% endif %}{{ link }}")
	if _, err := d.Change(t.Context(), d.by, later); err != nil {
		t.Fatal(err)
	}
	values := templates.Values{"school.name": "Kiln", "user.name": "Ana", "user.email": "a@example.com", "link": link}
	for name, want := range map[string]string{"Ana": link, "Olga": "Somebody asked for a new password"} {
		values["user.name"] = name
		if made, err := d.Compose(t.Context(), d.by.School, templates.SetPassword, values); err != nil || !strings.HasPrefix(made.Text, want) {
			t.Errorf("%s: %q, %v", name, made.Text, err)
		}
	}
}

// TestSwitches checks that turning an email on and off does not change its text, that a reset
// does not change whether it is on, and that each switch is in the journal.
func TestSwitches(t *testing.T) {
	d := newDesk(t)
	turn := func(name templates.EmailName, on bool) error {
		email, err := d.Change(t.Context(), d.by, templates.Draft{Name: name, Enabled: lyceum.Some(on)})
		if err == nil && (email.Enabled != on || email.ChangedAt.Present) {
			t.Errorf("%s is %+v", name, email)
		}
		return err
	}
	for _, on := range []bool{false, true, true} {
		if err := turn(templates.Receipt, on); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Reset(t.Context(), d.by, templates.Receipt); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[templates.EmailName]bool{templates.Receipt: true, templates.PaymentFailed: false, templates.SetPassword: true} {
		if email, err := d.Email(t.Context(), d.by, name); err != nil || email.Enabled != want {
			t.Errorf("%s is %+v, %v", name, email, err)
		}
	}
	if err := turn(templates.Receipt, false); err != nil {
		t.Fatal(err)
	}
	if err := turn(templates.SetPassword, true); err != nil {
		t.Error(err)
	}
	if err := turn(templates.SetPassword, false); lyceum.KindOf(err) != lyceum.Invalid {
		t.Error("turned off:", err)
	}
	v := d.store.In(t.Context(), d.by.School)
	noted, err := v.FindChanges(lyceum.ChangeFilter{Types: []lyceum.EntryType{lyceum.EmailTemplateUpdated}, Limit: 10})
	if err != nil || len(noted.Changes) != 2 {
		t.Error(noted, err)
	}
}

// TestSecretsSign checks that a secret signs, cannot be read anywhere, cannot be deleted while
// an email uses it, and still opens after the server's key was rotated.
func TestSecretsSign(t *testing.T) {
	d := newDesk(t)
	secret, err := d.AddSecret(t.Context(), d.by, templates.NewSecret{Name: "chat", Secret: "Jefe"})
	if err != nil || strings.Contains(secret.Sealed, "Jefe") {
		t.Fatal(secret, err)
	}
	signs := draft(templates.EmailChanged, "s", "{{ 'what do ya want for nothing?' | hmac_sha256: secrets.chat }}")
	if _, err := d.Change(t.Context(), d.by, signs); err != nil {
		t.Fatal(err)
	}
	d.options.Ring.Replace([]lyceum.SecretKey{{2}, {1}})
	made, err := d.Compose(t.Context(), d.by.School, templates.EmailChanged, templates.Values{})
	if err != nil || made.Text != "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Error(made, err)
	}
	if err := d.DeleteSecret(t.Context(), d.by, secret.ID); lyceum.KindOf(err) != lyceum.Conflict {
		t.Error("deleted from under an email:", err)
	}
	if needed, err := d.NeededKeys(t.Context()); err != nil || len(needed) != 1 || needed[lyceum.SecretKey{1}.ID()] != 1 {
		t.Error(needed, err)
	}
	if _, err := d.ChangeSecret(t.Context(), d.by, templates.NextSecret{ID: secret.ID, Secret: "other"}); err != nil {
		t.Fatal(err)
	}
	if made, _ := d.Compose(t.Context(), d.by.School, templates.EmailChanged, templates.Values{}); made.Text == "" || strings.HasPrefix(made.Text, "5bdcc146") {
		t.Error("still signed with the secret before:", made)
	}
	if err := d.Reset(t.Context(), d.by, templates.EmailChanged); err != nil {
		t.Fatal(err)
	}
	if err := d.DeleteSecret(t.Context(), d.by, secret.ID); err != nil {
		t.Error(err)
	}
	if err := d.DeleteSecret(t.Context(), d.by, secret.ID); lyceum.KindOf(err) != lyceum.NotFound {
		t.Error("deleted twice:", err)
	}
}

// TestSecretsAreBounded checks that a school can have at most MaxSecrets secrets, and none if
// the server has no key.
func TestSecretsAreBounded(t *testing.T) {
	d := newDesk(t)
	for i := range templates.MaxSecrets {
		name := "s" + strings.Repeat("x", i%40) + string(rune('a'+i/40))
		if _, err := d.AddSecret(t.Context(), d.by, templates.NewSecret{Name: name[:min(len(name), 40)], Secret: "x"}); err != nil {
			t.Fatal(name, err)
		}
	}
	if _, err := d.AddSecret(t.Context(), d.by, templates.NewSecret{Name: "one_more", Secret: "x"}); lyceum.KindOf(err) != lyceum.Conflict {
		t.Error(err)
	}
	d.change(func(o *templates.Options) { o.Ring = nil })
	if _, err := d.AddSecret(t.Context(), d.by, templates.NewSecret{Name: "no_key", Secret: "x"}); lyceum.KindOf(err) != lyceum.Conflict {
		t.Error(err)
	}
}

// TestTestsGoToTheOwner checks that a test email goes to the first owner who is not disabled, and
// that the mail server's error is only logged.
func TestTestsGoToTheOwner(t *testing.T) {
	d := newDesk(t)
	if _, err := d.Test(t.Context(), d.by, templates.Draft{Name: templates.EmailChanged}); lyceum.KindOf(err) != lyceum.Conflict {
		t.Error("without an owner:", err)
	}
	owner := lyceum.User{ID: 2, Email: "owner@example.com", Role: lyceum.Owner, CreatedAt: storetest.Begin}
	left := lyceum.User{
		ID: 1, Email: "left@example.com", Role: lyceum.Owner, CreatedAt: storetest.Begin, DisabledAt: lyceum.Some(storetest.Begin),
	}
	err := d.store.Write(t.Context(), d.by.Stamp(storetest.Begin), func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, left, owner)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if to, err := d.Test(t.Context(), d.by, templates.Draft{Name: templates.EmailChanged}); err != nil || to != owner.Email || len(d.sent) != 1 {
		t.Error(to, err, d.sent)
	}
	d.down = errors.New("550 ana@example.com is unknown")
	_, err = d.Test(t.Context(), d.by, templates.Draft{Name: templates.EmailChanged})
	if lyceum.KindOf(err) != lyceum.Unavailable || strings.Contains(lyceum.Public(err).Detail, "550") {
		t.Error(err)
	}
	d.change(func(o *templates.Options) { o.Send = nil })
	if _, err := d.Test(t.Context(), d.by, templates.Draft{Name: templates.EmailChanged}); lyceum.KindOf(err) != lyceum.Conflict {
		t.Error("without a mail server:", err)
	}
}
