package console_test

import (
	"context"
	"errors"
	"html"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

const emailsPath = "/admin/settings/emails"

// emails returns the emails of a server that sends with the given function; nil means that it
// has no mail server.
func (p *place) emails(send templates.Send) *templates.Service {
	return templates.New(p.store, p.clock.Now, templates.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{1}), Log: slog.New(slog.DiscardHandler), Send: send,
	})
}

// textOf returns the text of the field body on a page.
func textOf(w *httptest.ResponseRecorder) string {
	_, rest, _ := strings.Cut(w.Body.String(), `<textarea id="body"`)
	_, rest, _ = strings.Cut(rest, ">\n")
	text, _, _ := strings.Cut(rest, "</textarea>")
	return html.UnescapeString(text)
}

// An owner writes an email, previews it, sends it to themselves and goes back to the standard
// email.
func TestEmails(t *testing.T) {
	var sent []string
	var down error
	p := open(t, site)
	p.remake(func(o *console.Options) {
		o.Emails = p.emails(func(_ context.Context, m templates.Message) error {
			sent = append(sent, m.To+": "+m.Subject+": "+m.Text)
			return down
		})
	})
	const path = emailsPath + "/account_changed"
	post := func(do, subject, body string) *httptest.ResponseRecorder {
		return p.send(p.owner, "POST", path, url.Values{"do": {do}, "subject": {subject}, "body": {body}})
	}
	want(t, p.send(p.owner, "GET", emailsPath, nil), 200, "Account changed by the school", "Standard")
	want(t, p.send(p.owner, "GET", path, nil), 200, "Your account at {{ school.name }}", "{{ changed }}", "Send to the owner")
	want(t, p.send(p.owner, "GET", emailsPath+"/welcome", nil), 404)
	leads(t, post("save", "Your account at {{ school.name }}", textOf(p.send(p.owner, "GET", path, nil))), path+"?done=changed")
	if w := p.send(p.owner, "GET", emailsPath, nil); strings.Contains(w.Body.String(), "Your own") {
		t.Error("the standard text is the school's own after it was saved without a change")
	}

	want(t, post("preview", "About {{ school.name }}", "1 <b>\r\n{{ changed }}"), 200, "<h2 id=\"preview\">Preview</h2>", "About My school", "1 &lt;b&gt;\npassword</pre>")
	want(t, post("preview", "{{ nothing }}", "{% if %}"), 422, "2 fields need correction", "Subject is not a valid template: line 1: undefined variable", "Text is not a valid template", "{% if %}</textarea>")
	want(t, post("save", "x", "{{ secrets.chat | upcase | hmac_sha1 }}"), 422, "is not a filter")
	want(t, post("test", "About", "{{ changed }}"), 200, "The email was sent to <bdi>owner@example.com</bdi>. Nothing was saved.")
	if len(sent) != 1 || sent[0] != "owner@example.com: About: password" {
		t.Error(sent)
	}
	down = errors.New("gone")
	want(t, post("test", "My draft", "Mine: {{ changed }}"), 503, "The mail server did not take the email. Nothing was saved.", `value="My draft"`, "Mine: {{ changed }}</textarea>")
	if !strings.Contains(p.log.String(), "gone") {
		t.Error("the log does not say why: ", p.log.String())
	}
	want(t, p.send(p.owner, "GET", emailsPath, nil), 200, "Standard")

	leads(t, post("save", "About", "Mine: {{ changed }}"), path+"?done=changed")
	want(t, p.send(p.owner, "GET", path+"?done=changed", nil), 200, "The changes are saved.", "Mine: {{ changed }}", "Go back to the standard text")
	want(t, p.send(p.owner, "GET", emailsPath, nil), 200, "Your own")
	leads(t, post("standard", "", ""), path+"?done=email-standard")
	want(t, p.send(p.owner, "GET", path+"?done=email-standard", nil), 200, "The email has the standard text again.", "Your account at {{ school.name }}")
}

// An owner turns on an email that is off by default, and turns it off again. Emails about
// accounts have no switch.
func TestEmailSwitches(t *testing.T) {
	p := open(t, site)
	const path = emailsPath + "/receipt"
	const subject = "Your payment to {{ school.name }}"
	post := func(path, do string) *httptest.ResponseRecorder {
		text := textOf(p.send(p.owner, "GET", path, nil))
		return p.send(p.owner, "POST", path, url.Values{"do": {do}, "subject": {subject}, "body": {text}})
	}
	want(t, p.send(p.owner, "GET", emailsPath, nil), 200, "Receipt", "Payment failed", "Access ended", "Order not finished", ">Always<", ">Off<")
	want(t, p.send(p.owner, "GET", path, nil), 200, "This email is not sent.", "{{ payment.total }}", "$23.79")
	leads(t, post(path, "on"), path+"?done=changed")
	want(t, p.send(p.owner, "GET", path+"?done=changed", nil), 200, "The changes are saved.", "This email is sent.")
	want(t, p.send(p.owner, "GET", emailsPath, nil), 200, ">On<", "Standard")
	leads(t, post(path, "off"), path+"?done=changed")
	want(t, p.send(p.owner, "GET", path, nil), 200, "This email is not sent.")
	typed := url.Values{"do": {"on"}, "subject": {"Mine"}, "body": {"1\r\n2"}}
	want(t, p.send(p.owner, "POST", path, typed), 200, "This email is sent.", "Your changes to the text are not saved yet.", `value="Mine"`, "\n1\n2</textarea>")
	want(t, p.send(p.owner, "GET", path, nil), 200, "This email is sent.", subject)
	typed.Set("do", "off")
	want(t, p.send(p.owner, "POST", path, typed), 200, "This email is not sent.", "Your changes to the text are not saved yet.", `value="Mine"`)
	if page := p.send(p.owner, "GET", emailsPath+"/set_password", nil); strings.Contains(page.Body.String(), "Sending") {
		t.Error("an email that is always sent has a switch")
	}
	want(t, post(emailsPath+"/set_password", "off"), 422, "must be true: the email set_password is about an account, and always sent", subject)
}

func TestTemplateSecrets(t *testing.T) {
	p := open(t, site)
	keep := func(name, secret string) *httptest.ResponseRecorder {
		return p.send(p.owner, "POST", emailsPath+"/secrets", url.Values{"name": {name}, "secret": {secret}})
	}
	want(t, p.send(p.owner, "GET", emailsPath, nil), 200, "This server has no mail server")
	want(t, keep("Chat", ""), 422, "Name must be 1 to 40 lower-case letters")
	want(t, keep("chat", ""), 422, "Secret must have 1 to 512 bytes")
	leads(t, keep("chat", "unspeakable"), emailsPath+"?done=secret-added")
	leads(t, keep("chat", "unspeakable too"), emailsPath+"?done=secret-changed")
	page := p.send(p.owner, "GET", emailsPath+"?done=secret-changed", nil)
	want(t, page, 200, "The secret is replaced.", "secrets.chat")
	if strings.Contains(page.Body.String()+p.log.String(), "unspeakable") {
		t.Error("the secret is shown")
	}
	want(t, page, 200, `href="/admin/settings/emails/secrets/1/delete" hx-get=`)
	want(t, p.send(p.owner, "GET", emailsPath+"/secrets/1/delete", nil), 200, "Permanently delete <code>secrets.chat</code>?", "Delete the secret")
	want(t, p.send(p.owner, "GET", emailsPath+"/secrets/2/delete", nil), 404)
	const email = emailsPath + "/email_changed"
	leads(t, p.send(p.owner, "POST", email, url.Values{"do": {"save"}, "subject": {"s"}, "body": {"{{ 'x' | hmac_sha256: secrets.chat }}"}}), email+"?done=changed")
	want(t, p.send(p.owner, "POST", emailsPath+"/secrets/1/delete", url.Values{}), 409, "signs with this secret; change the email first")
	leads(t, p.send(p.owner, "POST", email, url.Values{"do": {"standard"}}), email+"?done=email-standard")
	leads(t, p.send(p.owner, "POST", emailsPath+"/secrets/1/delete", url.Values{}), emailsPath+"?done=secret-deleted")
	want(t, p.send(p.owner, "POST", emailsPath+"/secrets/01/delete", url.Values{}), 404)
}

func TestEmailPagesInABrowser(t *testing.T) {
	w, p := show(t)
	p.send(p.owner, "POST", emailsPath+"/secrets", url.Values{"name": {"chat"}, "secret": {"s"}})
	p.session()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	w.tour([]string{emailsPath, emailsPath + "/receipt"})
	w.open(emailsPath)
	w.do(chromedp.Click("main a.danger"))
	w.until("document.activeElement.id === 'confirmation'")
	w.sound()
	w.open(emailsPath + "/set_password")
	w.press("main button[value=preview]")
	w.eachAppearance(func() { w.sound() })
}
