package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// The longest text that can be saved can be saved in the console, however long its encoding is;
// a longer one is rejected at its field, and a larger form as a whole.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	_, login := openSandbox(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	post := func(path string, form url.Values) (status int, at string) {
		t.Helper()
		response, err := client.PostForm(login.BaseURL+path, form)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode, response.Request.URL.RequestURI()
	}
	post("/secure/1/identity/sign_in", url.Values{
		"email": {login.Owner.Email}, "password": {login.Owner.Password}, "next": {"/admin"},
	})
	const most = templates.MaxSource
	for _, path := range []string{"/admin/settings/emails/account_changed", "/admin/settings/page-snippet"} {
		for _, tc := range []struct {
			name, body string
			status     int
		}{
			{"Cyrillic", strings.Repeat("ж", most/2), http.StatusOK},
			{"lines", strings.Repeat("ж\r\n", most/3), http.StatusOK},
			{"too long", strings.Repeat("ж", most/2+1), http.StatusUnprocessableEntity},
			{"far too long", strings.Repeat("ж", 8*most), http.StatusRequestEntityTooLarge},
		} {
			want := path
			if tc.status == http.StatusOK {
				want += "?done=changed"
			}
			status, at := post(path, url.Values{"do": {"save"}, "subject": {"x"}, "body": {tc.body}})
			if status != tc.status || at != want {
				t.Errorf("%s, %s: %d at %s, want %d at %s", path, tc.name, status, at, tc.status, want)
			}
		}
	}
}
