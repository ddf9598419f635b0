package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// window is an owner's browser at a running console.
type window struct {
	t     *testing.T
	tab   context.Context
	at    string
	heard *webtest.Heard
	audit func(testing.TB, context.Context) // what sound checks in addition to the usual problems
}

// appearances are the window widths and colour schemes that pages are checked in. Most of a
// page is the same in all of them, and axe takes most of the time: in dark mode, at the narrow
// end of a layout, it only checks colours.
var appearances = []struct {
	width int64
	dark  bool
	audit func(testing.TB, context.Context)
}{
	{webtest.Desktop, false, webtest.Axe},
	{700, true, webtest.Colors},
	{webtest.Phone, false, webtest.Axe},
	{320, true, webtest.Colors},
}

// eachAppearance calls look in every appearance.
func (w *window) eachAppearance(look func()) {
	w.t.Helper()
	for _, as := range appearances {
		webtest.Look(w.t, w.tab, as.width, 800, as.dark)
		w.audit = as.audit
		look()
		if w.t.Failed() {
			w.t.Fatalf("at width %d, dark %t", as.width, as.dark)
		}
	}
	w.audit = webtest.Axe
}

// tour opens the pages, and calls sound for each in every appearance.
func (w *window) tour(paths []string, expected ...string) {
	w.t.Helper()
	for _, path := range paths {
		w.open(path)
		w.eachAppearance(func() { w.sound(expected...) })
	}
}

// show opens the console in a browser. The console uses the given site as its address, or the
// real one.
func show(t *testing.T, at ...web.Site) (*window, *place) {
	t.Helper()
	return showWith(t, func(*console.Options) {}, at...)
}

// showWith is show for a console with changed options.
func showWith(t *testing.T, change func(*console.Options), at ...web.Site) (*window, *place) {
	t.Helper()
	tab := webtest.Browser(t)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := open(t, append(at, web.Site{BaseURL: server.URL, AuthURL: server.URL})[0], change)
	mux.Handle("/admin", p.handler)
	mux.Handle("/admin/", p.handler)
	mux.Handle("/assets/", web.Assets())
	mux.HandleFunc("/secure/sign_in", func(w http.ResponseWriter, r *http.Request) { // a page of another package
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>in</title><link rel=icon href='data:,'><p id=next>" + r.URL.RawQuery))
	})
	w := &window{t: t, tab: tab, at: server.URL, heard: webtest.Listen(t, tab, server.URL), audit: webtest.Axe}
	webtest.Cookie(t, tab, server.URL, "lyceum", p.owner)
	return w, p
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	webtest.Do(w.t, w.tab, steps...)
}

func (w *window) until(expression string) { w.t.Helper(); webtest.Until(w.t, w.tab, expression) }

func (w *window) open(path string) { w.t.Helper(); w.do(chromedp.Navigate(w.at + path)) }

// text returns the value of an expression on the page.
func (w *window) text(expression string) string {
	w.t.Helper()
	return webtest.Eval[string](w.t, w.tab, expression)
}

// leave does a step that leads to another page, and waits for that page.
func (w *window) leave(step chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	webtest.Eval[bool](w.t, w.tab, "window.left = true")
	w.do(step)
	w.until("!window.left && document.readyState === 'complete'")
}

func (w *window) press(selector string) { w.t.Helper(); w.leave(chromedp.Click(selector)) }

// back goes back to a path; a page in the back/forward cache is not loaded again.
func (w *window) back(path string) {
	w.t.Helper()
	w.do(webtest.Start("history.back()"))
	w.until("location.pathname === '" + path + "' && document.readyState === 'complete'")
}

// sound fails for a page that the browser complains about, or that a user on a phone, with a
// keyboard or with a screen reader could not use.
func (w *window) sound(expected ...string) {
	w.t.Helper()
	for _, complaint := range w.heard.Take(expected...) {
		w.t.Errorf("%s: %s", w.text("location.pathname"), complaint)
	}
	webtest.Sound(w.t, w.tab)
	w.audit(w.t, w.tab)
	if w.text("String(document.styleSheets.length)") != "1" {
		w.t.Error("the page has not its one style sheet")
	}
}

// fill creates two apps and two keys.
func (w *window) fill(p *place) {
	w.t.Helper()
	p.register("Ledger for Schools", "https://ledger.example.com/oauth/callback", "2")
	p.register(strings.Repeat("Aschenputtel", 8), "https://app.example.com/"+strings.Repeat("a-very-long-path/", 20), "1")
	p.send(p.owner, "POST", appsPath+"/2/disable", nil)
	for _, name := range []string{"Monthly report", "Bookkeeping"} {
		p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", name, "permissions", "read,write"))
	}
	p.send(p.owner, "POST", keysPath+"/2/revoke", nil)
}

var everyPage = []string{
	"/admin", appsPath, appsPath + "/new", appsPath + "/1", appsPath + "/2", appsPath + "/2?done=disabled", appsPath + "/1/delete",
	keysPath, keysPath + "/new", keysPath + "/1/revoke", keysPath + "/2/revoke", people, people + "?q=nobody&began=never", people + "/2",
}

func TestEveryPageInABrowser(t *testing.T) {
	w, p := show(t)
	for _, path := range []string{"/admin", appsPath, keysPath} { // while they are empty
		w.open(path)
		w.sound()
	}
	w.fill(p)
	w.tour(everyPage)
	w.open("/admin/nowhere")
	w.sound("404")
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.learner)
	w.open("/admin")
	w.sound("403")
}

// An owner registers an app, changes its secret and deletes it, creates a key, and a link to
// set a password, on a desktop and on a phone.
func TestRoomsInABrowser(t *testing.T) {
	w, p := show(t)
	for _, width := range []int64{webtest.Desktop, webtest.Phone} {
		webtest.Look(t, w.tab, width, 800, width == webtest.Phone)
		w.walk(p)
	}
}

func (w *window) walk(p *place) {
	w.t.Helper()
	// A rejected form has the focus on the error.
	w.open(appsPath + "/new")
	w.do(chromedp.SendKeys("#redirect_url", "http://app.example.com/callback"))
	w.press("main button[type=submit]")
	w.sound("422")
	if got := w.text("document.activeElement.getAttribute('role')"); got != "alert" {
		w.t.Errorf("the focus is on %q, want the list of what is wrong", got)
	}

	// After a correction, the secret is shown, can be copied, and is then gone.
	w.do(chromedp.SendKeys("#name", "Ledger for Schools"), chromedp.SetValue("#redirect_url", "https://app.example.com/callback"))
	w.press("main button[type=submit]")
	w.sound()
	secret := w.text(`document.getElementById("client-secret").textContent`)
	webtest.Eval[bool](w.t, w.tab, `Object.defineProperty(navigator.clipboard, "writeText", {value: async (t) => { window.clip = t; }}) && true`)
	w.do(chromedp.Click("[data-copy=client-secret]"))
	w.until("window.clip === document.getElementById('client-secret').textContent")
	w.until("document.querySelector('[data-copy=client-secret] [data-copy-label]').textContent === 'Copied'")
	w.until("document.getElementById('said').textContent === 'Copied.'")
	// Without access to the clipboard, the text is at least selected.
	webtest.Eval[bool](w.t, w.tab, `Object.defineProperty(document, "execCommand", {value: () => false}) &&
		Object.defineProperty(Object.getPrototypeOf(navigator), "clipboard", {value: undefined}) && true`)
	w.do(chromedp.Click("[data-copy=client-id]"))
	w.until("getSelection().toString() === document.getElementById('client-id').textContent")
	// Neither reloading nor going back submits the form again.
	app := w.text("location.pathname")
	w.leave(chromedp.Reload())
	w.until("document.querySelector('h1').textContent === 'Ledger for Schools' && location.pathname === '" + app + "'")
	w.press(".eyebrow a")
	w.back(app)
	if strings.Contains(w.text("document.documentElement.innerHTML"), secret) {
		w.t.Error("the secret comes back with the page")
	}
	w.sound()

	w.open(app) // chromedp cannot click on a page from the back/forward cache
	w.do(chromedp.SetValue("#keep", "7d"))
	w.press("form[action$=rotate] button")
	w.until("document.querySelector('h1').textContent === 'The new client secret'")
	w.sound()
	w.press("main .actions a")
	w.until("location.pathname === '" + app + "' && document.querySelector('.notice').textContent.includes('An older secret')")

	// The confirmation of deleting is shown inside the page, takes the focus and gives it back.
	w.do(chromedp.Click("a.danger"))
	w.until("document.activeElement.id === 'confirmation'")
	w.sound()
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until("document.activeElement.matches('a.danger') && document.getElementById('ask').childElementCount === 0")
	w.do(chromedp.Click("a.danger"))
	w.until("document.activeElement.id === 'confirmation'")
	w.leave(webtest.Start("for (const _ of [1, 2]) document.querySelector('#confirmation button').click()")) // a double click
	w.until("location.search === '?done=deleted'")
	w.sound()

	w.open(keysPath + "/new")
	w.do(chromedp.SendKeys("#name", "Monthly report"), chromedp.Click("#permissions-write"))
	w.press("main button[type=submit]")
	w.sound()
	secret = w.text("document.getElementById('api-key').textContent")
	w.press("nav a")
	w.back(keysPath)
	if strings.Contains(w.text("document.documentElement.innerHTML"), secret) {
		w.t.Error("the key comes back with the page")
	}
	w.open(keysPath)
	w.sound()
	w.do(chromedp.Click("a.danger"))
	w.until("document.activeElement.id === 'confirmation'")
	w.press("#confirmation button")
	w.until("location.search === '?done=revoked'")
	w.sound()

	w.open(people)
	w.do(chromedp.SendKeys("#email", "nobody@example.com"))
	w.press("#link-panel button[type=submit]")
	w.sound("422")
	w.do(chromedp.SetValue("#email", "learner@example.com"))
	w.press("#link-panel button[type=submit]")
	w.sound()
	link := w.text("document.getElementById('link').textContent")
	if user, err := p.accounts.Link(w.t.Context(), 1, link[strings.LastIndex(link, "/")+1:]); err != nil || user.Role != lyceum.Student {
		w.t.Errorf("the link %s is of %+v: %v", link, user, err)
	}
}

// Everything can be reached and done with a keyboard, in the order of the page.
func TestKeyboardInABrowser(t *testing.T) {
	w, p := show(t)
	w.open("/admin")
	var seen []string
	for range 20 {
		w.do(chromedp.KeyEvent(kb.Tab))
		seen = append(seen, w.text("document.activeElement.textContent.trim().split('\\n')[0].slice(0, 17)"))
		if !webtest.Eval[bool](t, w.tab, "[null, '::after'].some(part => getComputedStyle(document.activeElement, part).outlineStyle === 'solid')") {
			t.Errorf("no ring around %s", seen[len(seen)-1])
		}
	}
	want := "Skip to content|Northwind Academy|Overview|Transactions|Reports|People|Needs a look|Bulk changes|Comments|School|OAuth apps|API keys|Webhooks|Emails|Receipts|Staff|Audit log|Failed requests|Sign out|create an API key"
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("Tab leads to %s, want %s", got, want)
	}
	w.open("/admin")
	w.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	w.until("document.activeElement.closest('main')") // the header was skipped

	// A key is created and revoked using only the keyboard.
	w.open(keysPath + "/new")
	w.until("document.readyState === 'complete'")
	w.tabTo("#name")
	w.do(chromedp.KeyEvent("Report"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.ArrowDown))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo("main .actions a")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo("a.danger")
	w.do(chromedp.KeyEvent(kb.Enter))
	w.until("document.activeElement.id === 'confirmation'")
	w.do(chromedp.KeyEvent(kb.Tab))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=revoked'")
	keys, err := p.keys.List(t.Context(), p.by())
	if err != nil || len(keys) != 1 || !keys[0].RevokedAt.Present || keys[0].Permissions != lyceum.Read|lyceum.Write {
		t.Errorf("the keys are %+v: %v", keys, err)
	}
}

// tabTo presses Tab until the focus is on the selector.
func (w *window) tabTo(selector string) {
	w.t.Helper()
	for range 200 {
		if webtest.Eval[bool](w.t, w.tab, "document.activeElement.matches('"+selector+"')") {
			return
		}
		w.do(chromedp.KeyEvent(kb.Tab))
	}
	w.t.Fatalf("Tab never leads to %s", selector)
}

// After the session has ended, the page as well as a confirmation inside it lead to the
// sign-in.
func TestSignedOutInABrowser(t *testing.T) {
	w, p := show(t)
	w.fill(p)
	w.open(keysPath)
	if err := p.accounts.SignOut(t.Context(), 1, p.owner); err != nil {
		t.Fatal(err)
	}
	w.press("a.danger")
	w.until("location.pathname === '/secure/sign_in' && document.getElementById('next').textContent === 'next=%2Fadmin%2Fsettings%2Fapi-keys%2F1%2Frevoke'")
	w.open("/admin")
	w.until("document.getElementById('next').textContent === 'next=%2Fadmin'")
}

// Every page works without scripts.
func TestWithoutScripts(t *testing.T) {
	w, p := show(t)
	webtest.Scripts(t, w.tab, false)
	w.open(appsPath + "/new")
	w.do(chromedp.SendKeys("#name", "Plain"), chromedp.SendKeys("#redirect_url", "https://app.example.com/callback"), chromedp.Click("main button[type=submit]"))
	w.until("document.getElementById('client-secret')")
	if got := w.text("String(document.querySelectorAll('[data-copy]:not([hidden])').length)"); got != "0" {
		t.Error("a copy button is shown that cannot copy")
	}
	w.do(chromedp.Click("main .actions a"))
	w.until("location.pathname.endsWith('/1')")
	w.do(chromedp.Click("form[action$=disable] button"))
	w.until("location.search === '?done=disabled'")
	w.do(chromedp.Click("form[action$=rotate] button"))
	w.until("document.getElementById('client-secret')")
	w.do(chromedp.Click("main .actions a"))
	w.until("location.pathname.endsWith('/1')")
	w.do(chromedp.Click("a.danger"))
	w.until("location.pathname.endsWith('/delete')")
	w.do(chromedp.Click("#confirmation button"))
	w.until("location.search === '?done=deleted'")

	w.open(keysPath + "/new")
	w.do(chromedp.SendKeys("#name", "Plain"), chromedp.Click("main button[type=submit]"))
	w.until("document.getElementById('api-key')")
	w.do(chromedp.Click("main .actions a"))
	w.until("document.querySelector('a.danger')")
	w.do(chromedp.Click("a.danger"))
	w.until("location.pathname.endsWith('/revoke')")
	w.do(chromedp.Click("#confirmation button"))
	w.until("location.search === '?done=revoked'")

	w.open(people)
	w.do(chromedp.SendKeys("#email", "learner@example.com"), chromedp.Click("#link-panel button[type=submit]"))
	w.until("document.getElementById('link').textContent.includes('/set_password/')")
	for _, complaint := range w.heard.Take() {
		t.Error(complaint)
	}
	if apps, _ := p.apps.List(t.Context(), p.by()); len(apps) != 0 {
		t.Errorf("%d apps are left", len(apps))
	}
}

// wordsStayWhole checks that no name or date in a list is broken inside a word.
func (w *window) wordsStayWhole() {
	w.t.Helper()
	const broken = `(() => {
		const found = []
		for (const e of document.querySelectorAll("table.list tbody th, table.list time")) {
			const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT)
			for (let text; text = texts.nextNode();) for (const word of text.data.matchAll(/[^ \t\n]+/g)) {
				const range = document.createRange()
				range.setStart(text, word.index)
				range.setEnd(text, word.index + word[0].length)
				if (new Set([...range.getClientRects()].map(r => r.top)).size > 1) found.push(word[0])
			}
		}
		return found
	})()`
	for _, word := range webtest.Eval[[]string](w.t, w.tab, broken) {
		w.t.Errorf("%q is broken over two lines", word)
	}
}

func lightOrDark(dark bool) string {
	if dark {
		return "dark"
	}
	return "light"
}

// TestPictures follows an owner's first day. If LYCEUM_PICTURES names a folder, it takes the
// screenshots of docs/pages:
//
//	LYCEUM_PICTURES=$PWD/docs/pages go test -run TestPictures ./internal/inbound/console
func TestPictures(t *testing.T) {
	w, p := show(t, web.Site{BaseURL: "http://api.northwind.example", AuthURL: "http://northwind.example"})
	picture := func(name string, phone bool, schemes ...bool) {
		for _, dark := range schemes {
			width, look := int64(webtest.Desktop), "-"
			if phone {
				width, look = webtest.Phone, "-phone-"
			}
			webtest.Screenshot(t, w.tab, "console-"+name+look+lightOrDark(dark), width, dark)
		}
	}
	const light, dark, desk, phone = false, true, false, true

	w.open(appsPath)
	picture("apps-empty", desk, light)
	w.open(appsPath + "/new")
	picture("app-new", desk, dark)
	w.do(chromedp.SendKeys("#redirect_url", "http://ledger.example.com/oauth/callback"))
	w.press("main button[type=submit]")
	picture("app-refused", phone, light)
	webtest.Look(t, w.tab, webtest.Desktop, 844, light)
	w.do(chromedp.SendKeys("#name", "Ledger for Schools"), chromedp.SetValue("#redirect_url", "https://ledger.example.com/oauth/callback"))
	w.press("main button[type=submit]")
	picture("app-secret", desk, light)
	picture("app-secret", phone, dark)
	for i, app := range []string{"Alumni Map", "Course Planner"} {
		p.register(app, "https://"+strings.ToLower(strings.ReplaceAll(app, " ", "-"))+".example.com/callback", []string{"1", "2"}[i])
	}
	p.send(p.owner, "POST", appsPath+"/2/disable", nil)
	p.clock.Pass(26 * time.Hour)
	session, _, err := p.admitted(t.Context(), 1, "owner@example.com")
	if err != nil {
		t.Fatal(err)
	}
	p.owner = session
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	for _, name := range []string{"Monthly report", "Bookkeeping", "Old import script"} {
		permissions := "read,write"
		if name == "Monthly report" {
			permissions = "read"
		}
		shown := p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", name, "permissions", permissions))
		p.clock.Pass(11 * time.Minute)
		if _, err := p.keys.Check(t.Context(), key.FindString(shown.Body.String())); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.store.Bookkeep(t.Context(), lyceum.Bookkeeping{KeyUses: p.keys.Uses()}); err != nil {
		t.Fatal(err)
	}
	p.send(p.owner, "POST", keysPath+"/3/revoke", nil)

	w.open("/admin")
	picture("overview", desk, light, dark)
	picture("overview", phone, light)
	w.open(appsPath)
	picture("apps", desk, light)
	w.open(appsPath + "/1")
	picture("app", desk, light)
	picture("app", phone, dark)
	webtest.Look(t, w.tab, webtest.Desktop, 844, light)
	w.open(keysPath)
	w.wordsStayWhole()
	picture("keys", desk, light, dark)
	picture("keys", phone, light)
	webtest.Look(t, w.tab, webtest.Desktop, 844, light)
	w.do(chromedp.Click("a.danger"))
	w.until("document.activeElement.id === 'confirmation'")
	picture("key-question", desk, light)
	w.open(people)
	picture("people", desk, light)
	w.open(people + "/2")
	picture("person", desk, light)
	picture("person", phone, light)
	w.open(people)
	w.do(chromedp.SendKeys("#email", "learner@example.com"))
	w.press("#link-panel button[type=submit]")
	picture("people-link", desk, light)
	picture("people-link", phone, light)
}
