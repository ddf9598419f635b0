package server_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// wantRefusedPage expects an error page that does not redirect.
func (b *browser) wantRefusedPage(t *testing.T, path string, status int) {
	t.Helper()
	w := b.get(path)
	if w.Code != status || w.Header().Get("Location") != "" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("%s: %d to %q: %.200s", path, w.Code, w.Header().Get("Location"), w.Body)
	}
	wantProtected(t, w.Header())
}

func TestA1_A2_A3_UnknownAppsAndForeignAddresses(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		out, in := c.browse(), c.browse()
		in.signIn(t, c.ours, learnerEmail)
		for _, b := range []*browser{out, in} {
			for _, change := range []func(url.Values){
				without("client_id"), set("client_id", ""), set("client_id", "nobody"), set("client_id", c.theirs.clients[lyceum.V1].id),
				set("client_id", c.ours.clients[lyceum.V1].id+"x"),
				set("redirect_uri", callbackURL+"/"), set("redirect_uri", "https://app.example.com/callback"), set("redirect_uri", "https://app.example.com/other?from=school"),
				set("redirect_uri", strings.ToUpper(callbackURL)), set("redirect_uri", strings.Replace(callbackURL, "c", "%63", 1)), set("redirect_uri", callbackURL+"&x=1"),
				set("redirect_uri", "https://user@app.example.com/callback?from=school"), set("redirect_uri", "https://app.example.com.evil.example/callback?from=school"),
				set("redirect_uri", strings.Replace(callbackURL, "https", "http", 1)), set("redirect_uri", "https://evil.example/"),
			} {
				b.wantRefusedPage(t, c.ours.authorize(lyceum.V1, change), http.StatusBadRequest)
			}
			b.wantRefusedPage(t, "/secure/99/identity/oauth_provider/authorize?client_id=x", http.StatusNotFound)
			b.wantRefusedPage(t, "/secure/x/identity/oauth_provider/authorize?client_id=x", http.StatusNotFound)
			b.wantRefusedPage(t, "/secure/01/identity/oauth_provider/authorize?client_id=x", http.StatusNotFound)
		}
		if code := in.code(t, c.ours, lyceum.V1, set("redirect_uri", callbackURL)); code == "" {
			t.Error("the registered redirect_uri gives no code")
		}
		if code := in.code(t, c.ours, lyceum.V1); code == "" { // A3
			t.Error("no redirect_uri gives no code")
		}
		c.disable(t, c.ours, lyceum.V1)
		in.wantRefusedPage(t, c.ours.authorize(lyceum.V1), http.StatusBadRequest)
	})
}

func (c *campus) disable(t *testing.T, p *campusSchool, version lyceum.InterfaceVersion) {
	t.Helper()
	if _, err := c.apps.Disable(t.Context(), lyceum.By{School: p.id, Actor: "test"}, p.clients[version].app.ID, true); err != nil {
		t.Fatal(err)
	}
}

// TestA5_A6_A9_A10_A11_A12_A18_WrongRequests checks that errors in a request reach the app, and
// only after the learner has signed in.
func TestA5_A6_A9_A10_A11_A12_A18_WrongRequests(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		in := c.browse()
		in.signIn(t, c.ours, learnerEmail)
		for _, tc := range []struct {
			change func(url.Values)
			word   string
		}{
			{without("response_type"), "invalid_request"},
			{set("response_type", "token"), "unsupported_response_type"},
			{set("response_type", "code token"), "unsupported_response_type"},
			{set("required_scopes", "everything"), "invalid_scope"},
			{set("optional_scopes", "everything"), "invalid_scope"},
			{set("required_scopes", "name:read \"evil\"\r\nX: y é"), "invalid_scope"}, // A18
			{set("required_scopes", "profile:read"), "invalid_scope"},                 // A11
			{set("required_scopes", ""), "invalid_scope"},                             // A10
			{also("response_type", "code"), "invalid_request"},                        // A6
			{also("required_scopes", "name:read"), "invalid_request"},
			{set("code_challenge", "short"), "invalid_request"},
			{set("code_challenge_method", "plain"), "invalid_request"},
		} {
			path := c.ours.authorize(lyceum.V1, tc.change)
			if to := c.browse().get(path).Header().Get("Location"); !strings.HasPrefix(to, c.ours.path("sign_in")) {
				t.Errorf("%s: who is not signed in is led to %q", path, to)
			}
			got := arrivedAt(t, in.get(path))
			if got.Get("error") != tc.word || got.Get("state") != "xyz" || got.Get("iss") != baseURL+"/v1" || got.Has("code") || got.Get("from") != "school" {
				t.Errorf("%s: the app is called with %v", path, got)
			}
			for _, r := range got.Get("error_description") {
				if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
					t.Errorf("error_description has %q", r)
				}
			}
		}
		got := arrivedAt(t, in.get(c.ours.authorize(lyceum.V1, also("state", "abc"))))
		if got.Get("error") != "invalid_request" || got.Has("state") {
			t.Errorf("two states: %v", got)
		}
		for _, name := range []string{"client_id", "redirect_uri"} {
			in.wantRefusedPage(t, c.ours.authorize(lyceum.V1, set("redirect_uri", callbackURL), also(name, "x")), http.StatusBadRequest)
		}
	})
}

func TestA7_A8_State(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		b := c.browse()
		b.signIn(t, c.ours, learnerEmail)
		for _, state := range []string{"x", strings.Repeat("s", 2000), "a+b%20c&=#?", "grüße ☃ 日本", "<script>\"'", "\t a \n"} {
			form := b.consent(t, c.ours.authorize(lyceum.V1, set("state", state), set("foo", "1")))
			got := arrivedAt(t, b.post(c.ours.path("oauth_provider/authorize"), form))
			if got.Get("state") != state || got.Has("foo") {
				t.Errorf("state %q comes back as %q", state, got.Get("state"))
			}
		}
		for _, change := range []func(url.Values){without("state"), set("state", "")} {
			form := b.consent(t, c.ours.authorize(lyceum.V1, change))
			if got := arrivedAt(t, b.post(c.ours.path("oauth_provider/authorize"), form)); got.Has("state") {
				t.Errorf("a state that was not sent: %v", got)
			}
		}
	})
}

func TestA13_BrokenQueries(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	good := c.ours.authorize(lyceum.V1)
	for _, tail := range []string{"&x=%zz", "&%zz=1", "&a;b=1", "&x=%00", "&x=%ff", "&state=%", "&%c3%28=1"} {
		b.wantRefusedPage(t, good+tail, http.StatusBadRequest)
	}
}

func TestA14_A15_Methods(t *testing.T) {
	c := newCampus(t)
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} {
		w := c.do(request(method, c.ours.authorize(lyceum.V1), nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
			t.Errorf("%s: %d", method, w.Code)
		}
		wantProtected(t, w.Header())
	}
	for _, method := range []string{http.MethodOptions, http.MethodGet} {
		w := c.do(request(method, c.ours.authorize(lyceum.V1), nil, "Origin: https://evil.example", "Access-Control-Request-Method: GET"))
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s", method, name)
			}
		}
	}
}

// TestA17_D6_I1_I2_I3_Metadata checks that the issuer in a response is the one in the metadata.
func TestA17_D6_I1_I2_I3_Metadata(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	for version, issuer := range map[lyceum.InterfaceVersion]string{lyceum.V1: baseURL + "/v1", lyceum.V2: baseURL + "/v2"} {
		w := c.do(request(http.MethodGet, "/.well-known/oauth-authorization-server"+strings.TrimPrefix(issuer, baseURL), nil))
		for _, want := range []string{
			`"issuer":"` + issuer + `"`, `"code_challenge_methods_supported":["S256"]`, `"authorization_response_iss_parameter_supported":true`,
			`"grant_types_supported":["authorization_code","refresh_token"]`, `"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"]`,
			`"token_endpoint":"` + issuer + `/current_user/oauth2/token"`, `"authorization_endpoint":"` + authURL + `/secure/identity/oauth_provider/authorize"`,
		} {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%d %s has no %s", w.Code, w.Body, want)
			}
		}
		form := b.consent(t, c.ours.authorize(version))
		if got := arrivedAt(t, b.post(c.ours.path("oauth_provider/authorize"), form)); got.Get("iss") != issuer {
			t.Errorf("iss is %q, want %q", got.Get("iss"), issuer)
		}
		_, query, _ := strings.Cut(c.ours.authorize(version), "?")
		to := c.browse().get("/secure/identity/oauth_provider/authorize?" + query).Header().Get("Location")
		if to != c.ours.authorize(version) {
			t.Errorf("the address of the metadata leads to %q", to)
		}
	}
	for _, tail := range []string{"", "/v3", "/v1/", "/v1/x"} {
		if w := c.do(request(http.MethodGet, "/.well-known/oauth-authorization-server"+tail, nil)); w.Code != http.StatusNotFound {
			t.Errorf("%s is a %d", tail, w.Code)
		}
	}
	b.wantRefusedPage(t, "/secure/identity/oauth_provider/authorize", http.StatusBadRequest)
}

// TestA19_ConsentIsAskedForEachTime checks that just opening the page grants nothing.
func TestA19_ConsentIsAskedForEachTime(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		b := c.browse()
		b.signIn(t, c.ours, learnerEmail)
		for range 3 {
			b.consent(t, c.ours.authorize(lyceum.V1))
		}
		if granted, err := c.apps.GrantedBy(t.Context(), lyceum.By{School: c.ours.id, Actor: "test"}, learnerID); err != nil || len(granted) != 0 {
			t.Errorf("looking has granted %v, %v", granted, err)
		}
		b.code(t, c.ours, lyceum.V1)
		b.consent(t, c.ours.authorize(lyceum.V1))
	})
}

func TestB8_C19_OptionalScopesAreAChoice(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		b := c.browse()
		b.signIn(t, c.ours, learnerEmail)
		path := c.ours.authorize(lyceum.V1)
		w := b.get(path)
		for _, want := range []string{"Ledger", "Fernwood", "See your name", "See the courses you are enrolled in", learnerEmail, "app.example.com"} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("the page has no %q", want)
			}
		}
		if strings.Contains(w.Body.String(), `value="name:read"`) {
			t.Error("a required scope can be left out")
		}
		granted := func(scopes ...string) string {
			t.Helper()
			form := b.consent(t, path)
			form["scope"] = scopes
			w := c.token(t, lyceum.V1, "token", "form", exchangeOf(c.ours.clients[lyceum.V1], arrivedAt(t, b.post(c.ours.path("oauth_provider/authorize"), form)).Get("code")))
			var tokens tokenResponse
			decode(t, w.Body.Bytes(), &tokens)
			return tokens.Scope
		}
		if got := granted(); got != "name:read" { // C19
			t.Errorf("nothing chosen grants %q", got)
		}
		if got := granted("courses:read"); got != "courses:read name:read" {
			t.Errorf("courses:read chosen grants %q", got)
		}
		for _, scope := range []string{"email:read", "courses:update", "everything", ""} {
			form := b.consent(t, path)
			form.Set("scope", scope)
			w := b.post(c.ours.path("oauth_provider/authorize"), form)
			if w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
				t.Errorf("ticking %q is a %d to %q", scope, w.Code, w.Header().Get("Location"))
			}
		}
	})
}

// TestB9_ConsentIsBoundToWhatWasShown checks that fields of the form other than the sealed
// request have no effect, and that a request that was not sealed for this session is shown, not
// granted.
func TestB9_ConsentIsBoundToWhatWasShown(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	path := c.ours.path("oauth_provider/authorize")
	form := b.consent(t, c.ours.authorize(lyceum.V1))
	for name, value := range map[string]string{"client_id": c.ours.clients[lyceum.V2].id, "state": "evil", "required_scopes": "email:read", "redirect_uri": "https://evil.example/"} {
		changed := url.Values{"request": form["request"], "answer": {"authorize"}, name: {value}}
		if got := arrivedAt(t, b.post(path, changed)); got.Get("state") != "xyz" || got.Get("code") == "" {
			t.Errorf("%s in the form: the app is called with %v", name, got)
		}
	}
	other := c.browse()
	other.signIn(t, c.ours, learnerEmail)
	foreign := c.browse()
	foreign.signIn(t, c.theirs, learnerEmail)
	body, mac, _ := strings.Cut(form.Get("request"), ".")
	for what, send := range map[string]struct {
		b       *browser
		request string
	}{
		"another session's":     {other, form.Get("request")},
		"another school's":      {foreign, form.Get("request")},
		"changed":               {b, body[:len(body)-4] + "AAAA." + mac},
		"with another seal":     {b, body + "." + strings.Repeat("A", 43)},
		"without a seal":        {b, body},
		"of nobody's":           {c.browse(), form.Get("request")},
		"nothing":               {b, ""},
		"not base64":            {b, "%%%.%%%"},
		"a line break":          {b, "YQ0KYg." + mac},
		"an empty request":      {b, "." + mac},
		"a seal in base64 only": {b, mac + "." + mac},
	} {
		w := send.b.post(path, url.Values{"request": {send.request}, "answer": {"authorize"}})
		to := w.Header().Get("Location")
		if strings.Contains(to, "code=") || strings.HasPrefix(to, "https://") || w.Code >= 500 {
			t.Errorf("a request %s: %d to %q", what, w.Code, to)
		}
	}
	if w := b.post(path, url.Values{"request": form["request"]}); w.Code != http.StatusBadRequest {
		t.Errorf("no answer is a %d", w.Code)
	}
	// The owner changes the app between the page and its submission.
	app := c.ours.clients[lyceum.V1].app
	change := access.AppForm{Name: "Ledger", RedirectURL: "https://new.example.com/", Version: lyceum.V1}
	if _, err := c.apps.Change(t.Context(), lyceum.By{School: c.ours.id, Actor: "test"}, app.ID, change); err != nil {
		t.Fatal(err)
	}
	if to := b.post(path, form).Header().Get("Location"); !strings.HasPrefix(to, "https://new.example.com/?code=") {
		t.Errorf("after the Redirect URL has changed the browser is led to %q", to)
	}
	c.disable(t, c.ours, lyceum.V1)
	if w := b.post(path, form); w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
		t.Errorf("after the app was switched off: %d to %q", w.Code, w.Header().Get("Location"))
	}
}

func TestB10_AppNamesAreUntrusted(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	for name, want := range map[string]string{
		"<script>alert(1)</script>": "&lt;script&gt;alert(1)&lt;/script&gt;",
		"Safe\u202egnp.exe":         "Safegnp.exe",
		"Zero\u200bwidth":           "Zerowidth",
		`" onmouseover="x`:          "&#34; onmouseover=&#34;x",
	} {
		client := c.register(t, c.ours.id, access.AppForm{Name: name, RedirectURL: callbackURL, Version: lyceum.V1})
		text := b.get(c.ours.authorize(lyceum.V1, set("client_id", client.id))).Body.String()
		if !strings.Contains(text, want) || strings.Contains(text, name) {
			t.Errorf("%q is shown otherwise than %q", name, want)
		}
	}
	_, _, err := c.apps.Register(t.Context(), lyceum.By{School: c.ours.id, Actor: "test"}, access.AppForm{Name: strings.Repeat("<b>", 3500), RedirectURL: callbackURL, Version: lyceum.V1})
	if lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("a name of 10 kB: %v", err)
	}
}

func TestB11_Cancel(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		b := c.browse()
		b.referer = "https://app.example.com/settings?tab=2"
		to := b.get(c.ours.authorize(lyceum.V1)).Header().Get("Location")
		b.referer = authURL + to
		b.signIn(t, c.ours, learnerEmail)
		form := b.consent(t, c.ours.authorize(lyceum.V1))
		form.Set("answer", "cancel")
		w := b.post(c.ours.path("oauth_provider/authorize"), form)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "https://app.example.com/settings?tab=2" {
			t.Errorf("Cancel is a %d to %q", w.Code, w.Header().Get("Location"))
		}
		if granted, err := c.apps.GrantedBy(t.Context(), lyceum.By{School: c.ours.id, Actor: "test"}, learnerID); err != nil || len(granted) != 0 {
			t.Errorf("Cancel has granted %v, %v", granted, err)
		}
		// Another app in another tab leads back to its own page.
		b.referer = "https://app.example.com/"
		form = b.consent(t, c.ours.authorize(lyceum.V1))
		b.referer = "https://other.example.com/"
		other := b.consent(t, c.ours.authorize(lyceum.V2))
		for want, form := range map[string]url.Values{"https://app.example.com/": form, "https://other.example.com/": other} {
			form.Set("answer", "cancel")
			if to := b.post(c.ours.path("oauth_provider/authorize"), form).Header().Get("Location"); to != want {
				t.Errorf("Cancel in a tab from %q leads to %q", want, to)
			}
		}
		// A referer that is not a page, or none, leads home.
		for _, referer := range []string{"", "javascript:alert(1)", "data:text/html,x", "//evil.example", strings.Repeat("https://a.example/", 200)} {
			b := c.browse()
			b.signIn(t, c.ours, learnerEmail)
			b.referer = referer
			form := b.consent(t, c.ours.authorize(lyceum.V1))
			form.Set("answer", "cancel")
			if to := b.post(c.ours.path("oauth_provider/authorize"), form).Header().Get("Location"); to != "/account/apps?done=cancelled" {
				t.Errorf("from %.40q Cancel leads to %q", referer, to)
			}
		}
	})
}

// A user who is signed in as somebody else signs out on the consent page and continues as
// themselves. Cancel still leads back to the page they came from.
func TestSignOutOnTheConsentPage(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, ownerEmail)
	b.referer = "https://blog.example.org/post"
	path := c.ours.authorize(lyceum.V2)
	next := regexp.MustCompile(`name="next" value="([^"]*)"`).FindStringSubmatch(b.get(path).Body.String())
	b.referer = ""
	if next == nil || html.UnescapeString(next[1]) != path {
		t.Fatalf("the sign-out leads on to %q", next)
	}
	out := b.post(c.ours.path("sign_out"), url.Values{"next": {path}})
	if want := c.ours.path("sign_in") + "?done=signed_out&next=" + url.QueryEscape(path); leads(out) != want {
		t.Errorf("the sign-out leads to %q, want %q", leads(out), want)
	}
	if !strings.Contains(b.get(leads(out)).Body.String(), "You are signed out") {
		t.Error("the sign-out is not told")
	}
	in := b.post(c.ours.path("sign_in"), url.Values{"email": {learnerEmail}, "password": {goodPassword}, "next": {path}})
	if form := b.consent(t, leads(in)); !strings.Contains(b.get(path).Body.String(), learnerEmail) {
		t.Error("it is not the learner who is asked")
	} else {
		form.Set("answer", "cancel")
		if got := leads(b.post(c.ours.path("oauth_provider/authorize"), form)); got != "https://blog.example.org/post" {
			t.Errorf("Cancel leads to %q", got)
		}
	}
	if got := leads(b.post(c.ours.path("sign_out"), url.Values{"next": {"https://evil.example/"}})); got != c.ours.path("sign_in")+"?done=signed_out" {
		t.Errorf("the sign-out leads to %q", got)
	}
}
