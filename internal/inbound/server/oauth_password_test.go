package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestR35_CommonPasswordsAreChanged checks that a program may create a student with a common
// password, which only gives access to the page where another one is chosen, and that the user
// can continue after that.
func TestR35_CommonPasswordsAreChanged(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		for _, tc := range []struct {
			email, password string
			change          bool
		}{
			{"jonas@example.com", "Dragon", true},
			{"olu@example.com", "iloveyou1", true},
			{"pia@example.com", "pia", false},
			{"ada@example.com", "ada@example.com", true},
			{"grace@example.com", "zzzzzz", true},
			{"alan@example.com", "kestrel", false},
			{"mary@example.com", "kx-plum", false},
		} {
			body := strings.NewReader(`{"email":"` + tc.email + `","password":"` + tc.password + `"}`)
			w := c.do(request(http.MethodPost, "/v1/users", body, "Content-Type: application/json", "apiKey: "+c.ours.key))
			if short := len(tc.password) < 6; short != (w.Code == http.StatusBadRequest) || !short && w.Code != http.StatusCreated {
				t.Fatalf("%s: %d %s", tc.email, w.Code, w.Body)
			} else if short {
				continue
			}
			b := c.browse()
			w = b.post(c.ours.path("sign_in"), url.Values{
				"email": {tc.email}, "password": {tc.password}, "next": {"/account/apps?x=1"},
			})
			to := w.Header().Get("Location")
			if !tc.change {
				if to != "/account/apps?x=1" {
					t.Errorf("%s: sign-in leads to %q", tc.email, to)
				}
				continue
			}
			b.mustChange(t, c, to)
			w = b.post(c.ours.path("sign_in"), url.Values{
				"email": {tc.email}, "password": {"four other words entirely"}, "next": {"/account/apps?x=1"},
			})
			if at := w.Header().Get("Location"); at != "/account/apps?x=1" {
				t.Errorf("%s: the new password leads to %q", tc.email, at)
			}
		}
	})
}

// mustChange chooses a password on a page that a sign-in redirected to.
func (b *browser) mustChange(t *testing.T, c *campus, page string) {
	t.Helper()
	path, _, _ := strings.Cut(page, "?")
	if !strings.HasPrefix(path, c.ours.path("set_password/")) {
		t.Fatalf("sign-in leads to %q, want the page for a new password", page)
	}
	if b.cookies["__Host-lyceum"] != "" {
		t.Error("a session begins before the password is changed")
	}
	text := b.get(page).Body.String()
	if !strings.Contains(text, "Choose another one to continue") || !strings.Contains(text, `name="next" value="/account/apps?x=1"`) {
		t.Errorf("the page is %s", text)
	}
	form := url.Values{"password": {"password1234"}, "next": {"/account/apps?x=1"}}
	if w := b.post(path, form); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `name="next" value="/account/apps?x=1"`) {
		t.Errorf("another common one is a %d", w.Code)
	}
	form.Set("password", "four other words entirely")
	// the email address is filled in at the sign-in, and is not in any URL
	if at := b.post(path, form).Header().Get("Location"); at != c.ours.path("sign_in")+"?done=password&next="+url.QueryEscape("/account/apps?x=1") {
		t.Errorf("the new password leads to %q", at)
	} else if page := b.get(at).Body.String(); strings.Contains(page, `name="email" value=""`) {
		t.Errorf("the address is not filled in: %s", page)
	}
	if page := b.get(c.ours.path("sign_in")).Body.String(); !strings.Contains(page, `name="email" value=""`) {
		t.Error("the address is filled in for whoever comes next")
	}
}

// TestR35_PasswordsOnPages checks that passwords need ten characters and must not be among the
// most common ones, whoever chooses them.
func TestR35_PasswordsOnPages(t *testing.T) {
	c := newCampus(t)
	for password, want := range map[string]string{
		"nine char":                "must have 10 to 256 characters",
		"Password1234":             "is too common",
		"qwertyuiop":               "is too common",
		"1234567890":               "is too common",
		"MIRA@example.com":         "is too common",
		"aaaaaaaaaaaa":             "is too common",
		strings.Repeat("long", 65): "must have 10 to 256 characters",
	} {
		w := c.browse().post(c.ours.path("set_password/"+c.link(t, c.ours)), url.Values{"password": {password}})
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q is a %d", password, w.Code)
		}
	}
}

// TestPasswordLinkUsedTwice checks that a user who has set a password sees that they can sign in if
// they submit the form of the link twice, as by a double click, or open the link again.
func TestPasswordLinkUsedTwice(t *testing.T) {
	c := newCampus(t)
	path := c.ours.path("set_password/" + c.link(t, c.ours))
	form := url.Values{"password": {"another four words entirely"}}
	wantStatus(t, c.browse().post(path, form), http.StatusSeeOther)
	for _, again := range []*httptest.ResponseRecorder{c.browse().post(path, form), c.browse().get(path)} {
		if wantStatus(t, again, http.StatusNotFound); !strings.Contains(again.Body.String(), "If you have set your password with it, sign in") {
			t.Errorf("the page says %s", again.Body)
		}
	}
}

// TestR33_TheDeviceCookie checks that the cookie is set by a sign-in and by a new password,
// only for the server, and by nothing else.
func TestR33_TheDeviceCookie(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	wrong := url.Values{"email": {learnerEmail}, "password": {"wrong"}}
	if b.post(c.ours.path("sign_in"), wrong); b.cookies["__Host-lyceum-device"] != "" {
		t.Error("a wrong password leaves a device behind")
	}
	w := b.post(c.ours.path("sign_in"), url.Values{"email": {learnerEmail}, "password": {goodPassword}})
	lines := strings.Join(w.Header()["Set-Cookie"], "\n")
	if !strings.Contains(lines, "__Host-lyceum-device=") || !strings.Contains(lines, "Max-Age=34560000; HttpOnly; Secure; SameSite=Lax") ||
		strings.Contains(lines, learnerEmail) {
		t.Errorf("the cookies are %s", lines)
	}
	for range 10 {
		c.browse().post(c.ours.path("sign_in"), wrong)
	}
	if w := c.browse().post(c.ours.path("sign_in"), url.Values{"email": {learnerEmail}, "password": {goodPassword}}); w.Code != http.StatusTooManyRequests {
		t.Errorf("another browser is a %d", w.Code)
	}
	b.signIn(t, c.ours, learnerEmail)

	reset := c.browse()
	reset.post(c.ours.path("set_password/"+c.link(t, c.ours)), url.Values{"password": {goodPassword}})
	for range 10 {
		c.browse().post(c.ours.path("sign_in"), wrong)
	}
	reset.signIn(t, c.ours, learnerEmail)
}
