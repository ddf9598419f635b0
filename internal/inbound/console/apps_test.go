package console_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

const good = "https://app.example.com/callback"

func TestRegisterRefuses(t *testing.T) {
	p := open(t, site)
	long := strings.Repeat("ü", 5<<10)
	for _, tc := range []struct {
		name                       string
		appName, redirect, version string
		wrong                      []string // invalid fields, in order
		unwrong                    []string
	}{
		{"all empty", "", "", "", []string{"name", "redirect_url", "version"}, nil},
		{"empty name", "", good, "1", []string{"name"}, []string{"redirect_url", "version"}},
		{"name of spaces", "   ", good, "1", []string{"name"}, nil},
		{"name of 10 kB", long, good, "1", []string{"name"}, []string{"redirect_url"}},
		{"name of 101", strings.Repeat("x", 101), good, "1", []string{"name"}, nil},
		{"name that is no UTF-8", "a\xffb", good, "1", []string{"name"}, nil},
		{"name with NUL", "a\x00b", good, "1", []string{"name"}, nil},
		{"Redirect URL that is no UTF-8", "Ledger", good + "\xff", "1", []string{"redirect_url"}, nil},
		{"http", "Ledger", "http://app.example.com/callback", "1", []string{"redirect_url"}, []string{"name"}},
		{"http on loopback", "Ledger", "http://127.0.0.1/callback", "1", []string{"redirect_url"}, nil},
		{"fragment", "Ledger", good + "#x", "1", []string{"redirect_url"}, nil},
		{"empty fragment", "Ledger", good + "#", "1", []string{"redirect_url"}, nil},
		{"javascript", "Ledger", "javascript:alert(1)", "1", []string{"redirect_url"}, nil},
		{"no host", "Ledger", "https:///callback", "1", []string{"redirect_url"}, nil},
		{"user and password", "Ledger", "https://a:b@app.example.com/", "1", []string{"redirect_url"}, nil},
		{"markup", "Ledger", `https://app.example.com/"><script>alert(1)</script>`, "1", []string{"redirect_url"}, nil},
		{"version 3", "Ledger", good, "3", []string{"version"}, []string{"name", "redirect_url"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			form := p.form(appsPath+"/new", "name", tc.appName, "redirect_url", tc.redirect, "version", tc.version, "require_pkce", "on")
			w := p.send(p.owner, "POST", appsPath, form)
			want(t, w, http.StatusUnprocessableEntity, "<title>Error: ", `role="alert"`)
			body := w.Body.String()
			for _, field := range tc.wrong {
				if !strings.Contains(body, `id="`+field+`-error"`) || !strings.Contains(body, `href="#`+field+`"`) || !strings.Contains(body, field+`-error"`) {
					t.Errorf("nothing beside %s", field)
				}
			}
			for _, field := range tc.unwrong {
				if strings.Contains(body, field+"-error") {
					t.Errorf("something beside %s", field)
				}
			}
			if !strings.Contains(html.UnescapeString(body), `value="`+readable(tc.appName)+`"`) {
				t.Error("the name that was typed is gone")
			}
			if !strings.Contains(html.UnescapeString(body), `value="`+readable(tc.redirect)+`"`) {
				t.Error("the Redirect URL that was typed is gone")
			}
			if strings.Contains(body, "<script>") {
				t.Error("markup got into the page")
			}
			if !strings.Contains(body, `name="require_pkce" value="on" checked`) || strings.Contains(body, `name="rotate_refresh_tokens" value="on" checked`) {
				t.Error("the switches have moved")
			}
		})
	}
	want(t, p.send(p.owner, "GET", appsPath, nil), 200, "No apps yet")
	// After a correction, the same form is accepted: a rejected submission does not count.
	form := p.form(appsPath+"/new", "name", "", "redirect_url", good, "version", "1")
	want(t, p.send(p.owner, "POST", appsPath, form), 422)
	form.Set("name", "Ledger")
	want(t, p.send(p.owner, "POST", appsPath, form), 200, "Copy the client secret now")
}

// readable returns a text as a page shows it: with U+FFFD for what it cannot show.
func readable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func TestChangeRefusesWhatCannotBeKept(t *testing.T) {
	p := open(t, site)
	path, _, _ := p.register("Ledger", good, "1")
	for _, name := range []string{"a\x00b", "a\xffb"} {
		w := p.send(p.owner, "POST", path, p.form(path, "name", name, "redirect_url", good))
		want(t, w, 422, "Name must be UTF-8 text without NUL characters", `value="`+readable(name)+`"`)
	}
	if app, err := p.apps.Get(t.Context(), p.by(), 1); err != nil || app.Name != "Ledger" {
		t.Errorf("the app is %q, %v", app.Name, err)
	}
}

func TestSecretIsShownOnce(t *testing.T) {
	p := open(t, site)
	form := p.form(appsPath+"/new", "name", "Ledger", "redirect_url", " "+good+" ", "version", "2", "require_pkce", "on", "rotate_refresh_tokens", "on")
	w := p.send(p.owner, "POST", appsPath, form)
	want(t, w, 200, "Copy the client secret now", "shown only this once", "http://api.example.com/v2/current_user/oauth2/token")
	id, text := client.FindString(w.Body.String()), secret.FindString(w.Body.String())
	if w.Header().Get("Location") != "" || w.Header().Get("Set-Cookie") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the secret may stay somewhere: %v", w.Header())
	}
	if !p.holds(lyceum.V2, id, text) || p.holds(lyceum.V1, id, text) || p.holds(lyceum.V2, id, text+"x") {
		t.Error("the credentials do not work as shown")
	}
	// A reload submits the same form again: nothing is created and no secret is shown.
	again := p.send(p.owner, "POST", appsPath, form)
	leads(t, again, appsPath+"/1?done=registered")
	for _, path := range []string{appsPath, appsPath + "/1", appsPath + "/1?done=registered", appsPath + "/1/delete", "/admin"} {
		if body := p.send(p.owner, "GET", path, nil).Body.String(); strings.Contains(body, "lyceum_secret") {
			t.Errorf("%s shows the secret again", path)
		}
	}
	want(t, p.send(p.owner, "GET", appsPath+"/1?done=registered", nil), 200, "already registered")
	w = p.send(p.owner, "GET", appsPath+"/1", nil)
	want(t, w, 200, id, good, "Version 2", "Never", `name="require_pkce" value="on" checked`, `name="rotate_refresh_tokens" value="on" checked`)
	if apps, _ := p.apps.List(t.Context(), p.by()); len(apps) != 1 {
		t.Errorf("there are %d apps, want 1", len(apps))
	}
	// The same form in another session is a different form.
	other, _, err := p.admitted(t.Context(), 1, "owner@example.com")
	if err != nil {
		t.Fatal(err)
	}
	want(t, p.send(other, "POST", appsPath, form), 200, "Copy the client secret now")
}

func TestB10NamesAreText(t *testing.T) {
	p := open(t, site)
	name := `<script>alert("1")</script>&amp;` + "\u202Egnp.exe"
	path, _, _ := p.register(name, good, "1")
	escaped := "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&amp;amp;"
	for _, at := range []string{appsPath, path, path + "/delete"} {
		want(t, p.send(p.owner, "GET", at, nil), 200, "<bdi>"+escaped)
	}
}

func TestRotateSecret(t *testing.T) {
	for _, tc := range []struct {
		keep string
		good time.Duration
	}{
		{"0", 0}, {"1h", time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"30d", 30 * 24 * time.Hour},
	} {
		t.Run(tc.keep, func(t *testing.T) {
			p := open(t, site)
			path, id, first := p.register("Ledger", good, "1")
			form := p.form(path, "keep", tc.keep)
			w := p.send(p.owner, "POST", path+"/rotate", form)
			want(t, w, 200, "Copy the client secret now")
			second := secret.FindString(w.Body.String())
			if second == first || !p.holds(lyceum.V1, id, second) {
				t.Error("the new secret does not work")
			}
			if got := p.holds(lyceum.V1, id, first); got != (tc.good > 0) {
				t.Errorf("right after, the old secret works: %t", got)
			}
			leads(t, p.send(p.owner, "POST", path+"/rotate", form), path+"?done=rotated")
			if !p.holds(lyceum.V1, id, second) {
				t.Error("a reload has changed the secret")
			}
			if tc.good == 0 {
				want(t, w, 200, "The old secret no longer works")
				return
			}
			until := p.clock.Now().Add(tc.good).Format("2 Jan 2006, 15:04") + " UTC"
			want(t, w, 200, "keeps working until "+until)
			want(t, p.send(p.owner, "GET", path, nil), 200, "An older secret keeps working until "+until)
			p.clock.Pass(tc.good - time.Second)
			if !p.holds(lyceum.V1, id, first) {
				t.Error("the old secret stopped too early")
			}
			p.clock.Pass(time.Second)
			if p.holds(lyceum.V1, id, first) || !p.holds(lyceum.V1, id, second) {
				t.Error("the old secret did not stop")
			}
		})
	}
}

func TestRotateRefuses(t *testing.T) {
	p := open(t, site)
	path, id, text := p.register("Ledger", good, "1")
	for _, keep := range []string{"", "2h", "-1", "31d", "9223372036854775807"} {
		want(t, p.send(p.owner, "POST", path+"/rotate", p.form(path, "keep", keep)), 422, `id="keep-error"`, "Ledger")
	}
	if !p.holds(lyceum.V1, id, text) {
		t.Error("a refused rotation has changed the secret")
	}
}

func TestDisableAndEnable(t *testing.T) {
	p := open(t, site)
	path, id, text := p.register("Ledger", good, "1")
	leads(t, p.send(p.owner, "POST", path+"/disable", url.Values{}), path+"?done=disabled")
	want(t, p.send(p.owner, "GET", path+"?done=disabled", nil), 200, "The app is disabled", "Enable")
	want(t, p.send(p.owner, "GET", appsPath, nil), 200, "Disabled")
	want(t, p.send(p.owner, "GET", "/admin", nil), 200, "1 OAuth app is disabled")
	if p.holds(lyceum.V1, id, text) {
		t.Error("the app works while it is switched off")
	}
	leads(t, p.send(p.owner, "POST", path+"/disable", url.Values{}), path+"?done=disabled")
	leads(t, p.send(p.owner, "POST", path+"/enable", url.Values{}), path+"?done=enabled")
	if !p.holds(lyceum.V1, id, text) {
		t.Error("the app does not work after it is switched on")
	}
}

func TestDelete(t *testing.T) {
	p := open(t, site)
	path, id, text := p.register("Ledger", good, "1")
	want(t, p.send(p.owner, "GET", path+"/delete", nil), 200, "Permanently delete Ledger?", `action="`+path+`/delete"`)
	if !p.holds(lyceum.V1, id, text) {
		t.Error("the question alone has deleted the app")
	}
	leads(t, p.send(p.owner, "POST", path+"/delete", url.Values{}), appsPath+"?done=deleted")
	want(t, p.send(p.owner, "GET", appsPath+"?done=deleted", nil), 200, "The app is deleted", "No apps yet")
	if p.holds(lyceum.V1, id, text) {
		t.Error("the app works after it is deleted")
	}
	want(t, p.send(p.owner, "GET", path, nil), 404)
	want(t, p.send(p.owner, "POST", path, nil), 409, "This app was deleted on")
	for _, method := range []string{"GET", "POST"} {
		want(t, p.send(p.owner, method, path+"/delete", nil), 404)
	}
}

func TestChange(t *testing.T) {
	p := open(t, site)
	path, id, text := p.register("Ledger", good, "1")
	form := url.Values{"name": {"Books"}, "redirect_url": {"https://books.example.com/back?a=b"}, "version": {"2"}, "rotate_refresh_tokens": {"on"}}
	leads(t, p.send(p.owner, "POST", path, form), path+"?done=changed")
	app, err := p.apps.Get(t.Context(), p.by(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if app.Name != "Books" || app.RedirectURL != "https://books.example.com/back?a=b" || app.Version != lyceum.V1 || app.RequirePKCE || !app.RotateRefreshTokens {
		t.Errorf("the app is %+v", app)
	}
	if !p.holds(lyceum.V1, id, text) {
		t.Error("a change has changed the secret")
	}
	want(t, p.send(p.owner, "GET", path+"?done=changed", nil), 200, "The changes are saved.", "Books")
	w := p.send(p.owner, "POST", path, url.Values{"name": {""}, "redirect_url": {"http://x.example.com"}})
	want(t, w, 422, `id="name-error"`, `id="redirect_url-error"`, `value="http://x.example.com"`, "<h1><bdi>Books</bdi></h1>")
	if app, _ = p.apps.Get(t.Context(), p.by(), 1); app.Name != "Books" {
		t.Errorf("a refused change has changed the name to %q", app.Name)
	}
}

func TestLastUseIsShown(t *testing.T) {
	p := open(t, site)
	path, id, text := p.register("Ledger", good, "1")
	p.clock.Pass(time.Hour)
	p.holds(lyceum.V1, id, text)
	grants, apps := p.oauth.Uses()
	if err := p.store.Bookkeep(t.Context(), lyceum.Bookkeeping{GrantUses: grants, AppUses: apps}); err != nil {
		t.Fatal(err)
	}
	want(t, p.send(p.owner, "GET", path, nil), 200, `<time datetime="2026-03-14T10:26:53Z">`)
}
