package oauth_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// signedOut ends the learner's sessions, as another tab may.
func (w *window) signedOut() {
	w.t.Helper()
	if _, err := w.people.SignOutEverywhere(w.t.Context(), lyceum.By{School: w.school, Actor: "user:7"}, 7); err != nil {
		w.t.Fatal(err)
	}
}

// What a learner typed before the session ended is there after the sign-in, but no code,
// and not for somebody else.
func TestLateFormInABrowser(t *testing.T) {
	w := show(t)
	w.phone()
	w.open(w.at + "/secure/sign_in?next=/account/profile")
	w.signIn(password)
	late := func() {
		t.Helper()
		w.wantHeading("Sign in")
		w.signIn(password)
		webtest.Until(t, w.tab, "document.querySelector('[data-late]').innerText.startsWith('Nothing has been done yet: you had to sign in')")
	}
	value := func(field string) string { return w.text("document.querySelector(\"" + field + "\").value") }

	w.do(chromedp.SetValue("input[name=name]", "Mira Lind"), chromedp.Click("input[name=marketing]"))
	w.signedOut()
	w.leave(chromedp.Click("main form.stack button"))
	late()
	if name, shown := value("input[name=name]"), value("input[name=shown_name]"); name != "Mira Lind" || shown != "Mira Okafor" {
		t.Errorf("the name is %q, of %q", name, shown)
	}
	for _, width := range []int64{webtest.Desktop, webtest.Phone} {
		webtest.Look(t, w.tab, width, 800, false)
		w.sound()
	}
	w.leave(chromedp.Click("main form.stack button"))
	v := w.store.In(t.Context(), w.school)
	if user, err := v.Users.Get(v, 7); err != nil || user.Name.Value != "Mira Lind" || !user.Marketing.Value {
		t.Errorf("the learner is %+v, %v", user, err)
	}

	w.open(w.at + "/account/profile/email")
	w.do(chromedp.SetValue("input[name=email]", "mira@other.example.com"))
	w.signedOut()
	w.leave(chromedp.Click("main form.stack button"))
	late()
	if got := value("input[name=email]"); got != "mira@other.example.com" {
		t.Errorf("the address is %q", got)
	}

	const factors, add, set = "/account/second-factor", "form[data-for=add] ", "form[action='/account/second-factor'] "
	w.open(w.at + factors)
	w.do(chromedp.SendKeys(add+"input[name=name]", "Work phone"))
	w.signedOut()
	w.leave(chromedp.Click(add + "button"))
	late()
	if got := value(add + "input[name=name]"); got != "Work phone" {
		t.Errorf("the passkey is called %q", got)
	}
	w.do(chromedp.SendKeys(set+"input[name=code]", "123456"))
	sealed := value(set + "input[name=sealed]")
	w.signedOut()
	w.leave(chromedp.Click(set + "button"))
	late()
	if code := value(set + "input[name=code]"); code != "" || value(set+"input[name=sealed]") == sealed {
		t.Errorf("the code of another setup is kept: %q", code)
	}

	storetest.Write(t, w.store, w.school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{
			ID: 8, Email: "ben@example.com", Role: lyceum.Student,
			PasswordHash: lyceum.Some(access.HashPassword(password, [16]byte{2})),
		})
		return err
	})
	w.open(w.at + "/account/profile")
	w.do(chromedp.SetValue("input[name=phone_number]", "555 0100"))
	w.signedOut()
	w.leave(chromedp.Click("main form.stack button"))
	w.do(chromedp.SendKeys("input[name=email]", "ben@example.com"), chromedp.SendKeys("input[name=password]", password))
	w.leave(chromedp.Click("button.primary"))
	webtest.Until(t, w.tab, "document.querySelector('[data-late]')")
	if got := value("input[name=phone_number]") + w.text("String(sessionStorage.length)"); got != "0" {
		t.Errorf("somebody else sees %q", got)
	}
}
