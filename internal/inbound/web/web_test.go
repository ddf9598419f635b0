package web_test

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// small is a page with everything that a small page may have.
const small = `{{define "title"}}{{.}}{{end}}
{{define "main"}}<main class="card wide">
<p class="school">Northwind Academy</p>
<h1>{{.}}</h1>
<p class="lead">Ledger wants to know who you are.</p>
<p class="error" role="alert">Wrong email address or password.</p>
<p class="notice" role="status">Your password is set.</p>
<ul class="scopes"><li>See your name</li><li><label><input type="checkbox" name="scope" value="email:read" checked> See your email address</label></li></ul>
<form class="stack" method="post">
<label>Email <input name="email" type="email" autocomplete="username" required></label>
<label>Password <small>At least 8 characters.</small> <input name="password" type="password" autocomplete="current-password" aria-invalid="true" aria-describedby="wrong"></label>
<p class="field-error" id="wrong">Password is missing</p>
<label><input type="checkbox" name="stay"> Stay signed in</label>
<button class="primary">Sign in</button>
</form>
<div class="actions"><button class="primary">Authorize</button> <button class="plain">Cancel</button> <a class="danger" href="/end">Delete</a></div>
<h2>Apps</h2>
<table class="list" role="table" aria-label="Apps">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">App</th><th role="columnheader" scope="col">May</th><th role="columnheader" scope="col">State</th><th role="columnheader" scope="col"><span class="visually-hidden">Disconnect</span></th></tr></thead>
<tbody role="rowgroup"><tr role="row"><th role="rowheader" scope="row">Ledger</th><td role="cell" data-label="May">See your name</td><td role="cell" data-label="State"><span class="badge badge-on">Active</span> <span class="badge badge-off">Off</span></td><td role="cell"><form method="post"><button class="plain">Disconnect</button></form></td></tr></tbody>
</table>
<p class="quiet"><a href="/forgotten">I forgot my password</a></p>
</main>{{end}}`

func pages(t *testing.T) map[string]*template.Template {
	t.Helper()
	parsed, err := web.Pages(fstest.MapFS{
		"t/small.gohtml":  {Data: []byte(small)},
		"t/broken.gohtml": {Data: []byte(`{{define "title"}}x{{end}}{{define "main"}}<main>so far {{.No.Such}}</main>{{end}}`)},
	}, nil, "t/*.gohtml")
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestShow(t *testing.T) {
	w := httptest.NewRecorder()
	if err := web.Show(w, http.StatusTeapot, pages(t)["small.gohtml"], "A <b>"); err != nil {
		t.Fatal(err)
	}
	body := w.Body.String()
	if w.Code != http.StatusTeapot || !strings.Contains(body, "<title>A &lt;b&gt;</title>") || !strings.Contains(body, "<h1>A &lt;b&gt;</h1>") {
		t.Errorf("status %d: %s", w.Code, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestShowKeepsThePolicyItIsGiven(t *testing.T) {
	w := httptest.NewRecorder()
	web.Protect(w.Header())
	web.LetFormsLeave(w.Header())
	if err := web.Show(w, http.StatusOK, pages(t)["small.gohtml"], "A"); err != nil {
		t.Fatal(err)
	}
	if got := w.Header().Get("Content-Security-Policy"); strings.Contains(got, "form-action") || !strings.Contains(got, "base-uri 'none'") {
		t.Errorf("the policy is %q", got)
	}
}

func TestPageThatCannotBeRenderedSendsNothing(t *testing.T) {
	w := httptest.NewRecorder()
	if err := web.Show(w, http.StatusOK, pages(t)["broken.gohtml"], "A"); err == nil {
		t.Error("a page without its data is shown")
	}
	if w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("something was sent: %v %s", w.Header(), w.Body)
	}
}

func TestAssets(t *testing.T) {
	for name, kind := range map[string]string{
		"style.css": "text/css; charset=utf-8", "console.js": "text/javascript; charset=utf-8", "htmx.min.js": "text/javascript; charset=utf-8", "late.js": "text/javascript; charset=utf-8", "passkey.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		at, err := web.Asset(name)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		web.Assets().ServeHTTP(w, httptest.NewRequest("GET", at, nil))
		if w.Code != 200 || w.Header().Get("Content-Type") != kind || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" || w.Body.Len() == 0 {
			t.Errorf("%s: %d %v", at, w.Code, w.Header())
		}
		for _, foreign := range []string{"@import", "url(http", "url(//", "https://cdn"} {
			if strings.Contains(w.Body.String(), foreign) {
				t.Errorf("%s has %s", name, foreign)
			}
		}
	}
	if _, err := web.Asset("nothing.css"); err == nil {
		t.Error("an asset that is not there has a path")
	}
	for _, path := range []string{"/assets/", "/assets/style.css", "/assets/000000000000/style.css", "/assets/../page.go", "/assets/x/NOTICE.txt"} {
		w := httptest.NewRecorder()
		web.Assets().ServeHTTP(w, &http.Request{Method: "GET", URL: httptest.NewRequest("GET", "/", nil).URL.JoinPath(path)})
		if w.Code != 404 {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
}

func TestSessionCookie(t *testing.T) {
	for _, tc := range []struct{ site, cookie string }{
		{"https://school.example.com", "__Host-lyceum=text; Path=/; Max-Age=3600; HttpOnly; Secure; SameSite=Lax"},
		{"http://127.0.0.1:8080", "lyceum=text; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax"},
	} {
		site := web.Site{AuthURL: tc.site}
		w := httptest.NewRecorder()
		site.Begin(w, "text", time.Hour)
		if got := w.Header().Get("Set-Cookie"); got != tc.cookie {
			t.Errorf("%s: the cookie is %q, want %q", tc.site, got, tc.cookie)
		}
		r := httptest.NewRequest("GET", "/", nil)
		if got := site.Session(r); got != "" {
			t.Errorf("%s: without a cookie the session is %q", tc.site, got)
		}
		r.Header.Set("Cookie", strings.SplitN(tc.cookie, ";", 2)[0])
		if got := site.Session(r); got != "text" {
			t.Errorf("%s: the session is %q", tc.site, got)
		}
		w = httptest.NewRecorder()
		site.End(w)
		if got := w.Header().Get("Set-Cookie"); !strings.Contains(got, "lyceum=; Path=/; Max-Age=0; HttpOnly") {
			t.Errorf("%s: the cookie stays: %q", tc.site, got)
		}
	}
}

// A small page keeps what the package comment promises at any width, light and dark.
func TestSmallPageInABrowser(t *testing.T) {
	tab := webtest.Browser(t)
	page := pages(t)["small.gohtml"]
	mux := http.NewServeMux()
	mux.Handle("/assets/", web.Assets())
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		if err := web.Show(w, http.StatusOK, page, "Sign in"); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	heard := webtest.Listen(t, tab, server.URL)
	for _, width := range []int64{webtest.Desktop, webtest.Phone, 320} {
		for _, dark := range []bool{false, true} {
			webtest.Look(t, tab, width, 800, dark)
			webtest.Do(t, tab, chromedp.Navigate(server.URL))
			webtest.Sound(t, tab)
			if dark {
				webtest.Colors(t, tab)
			} else {
				webtest.Axe(t, tab)
			}
			cards := webtest.Eval[bool](t, tab, "getComputedStyle(document.querySelector('table.list td')).display === 'grid'")
			if cards != (width < 800) {
				t.Errorf("at width %d the list is cards: %t", width, cards)
			}
		}
	}
	for _, complaint := range heard.Take() {
		t.Error(complaint)
	}
}

// The helpers find problems: a check that finds nothing proves nothing.
func TestWebtestSees(t *testing.T) {
	tab := webtest.Browser(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>x</title><link rel=icon href="data:,"><h3>a</h3><input><button style="height:20px">go</button>
			<p style="color:#aaa;background:#fff">pale</p><img src="http://foreign.invalid/x.png"><script>console.error("oh")</script><div style="width:3000px">wide</div>`))
	}))
	t.Cleanup(server.Close)
	heard := webtest.Listen(t, tab, server.URL)
	webtest.Do(t, tab, chromedp.Navigate(server.URL))
	seen := &record{TB: t}
	webtest.Axe(seen, tab)
	webtest.Sound(seen, tab)
	all := strings.Join(append(seen.errors, heard.Take()...), "\n")
	for _, want := range []string{"color-contrast", "image-alt", "label:", "html-has-lang", "wider than the window", "smaller than 36", "there is not one h1", "heading is left out", "a foreign request", "console: error"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q was not seen in %s", want, all)
		}
	}
	colors := &record{TB: t}
	webtest.Colors(colors, tab)
	if len(colors.errors) != 1 || !strings.Contains(colors.errors[0], "color-contrast") {
		t.Errorf("of the colours was seen %q", colors.errors)
	}
}

func TestPasskeys(t *testing.T) {
	for at, want := range map[string][2]string{
		"https://School.example.com":      {"school.example.com", "https://school.example.com"},
		"https://school.example.com:443":  {"school.example.com", "https://school.example.com"},
		"https://school.example.com:8443": {"school.example.com", "https://school.example.com:8443"},
		"http://localhost:8080":           {"localhost", "http://localhost:8080"},
		"http://fern.localhost":           {"fern.localhost", "http://fern.localhost"},
		"http://school.example.com":       {},
		"http://127.0.0.1:8080":           {},
		"https://192.0.2.7":               {},
		"https://[2001:db8::1]":           {},
		"":                                {},
	} {
		host, origin, ok := web.Site{AuthURL: at}.Passkeys()
		if host != want[0] || origin != want[1] || ok != (want[0] != "") {
			t.Errorf("%s: %q, %q, %v", at, host, origin, ok)
		}
	}
}
