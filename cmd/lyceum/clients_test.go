package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// openSandbox starts the program as an integrator would, and returns the file to which it
// printed its credentials.
func openSandbox(t *testing.T, flags ...string) (file string, said credentials) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "sandbox.json")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(watched, append([]string{"sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0"}, flags...)...)
	var problems bytes.Buffer // read once the program has ended
	cmd.Stdout, cmd.Stderr = out, &problems
	p, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if status, err := p.signal(syscall.SIGTERM); err != nil || status != 0 {
			t.Errorf("the sandbox ended with %d, %v", status, err)
		}
	})
	ready := await(func() bool {
		text, err := os.ReadFile(file)
		return !p.running() || err == nil && json.Unmarshal(text, &said) == nil
	})
	switch {
	case !p.running():
		t.Fatalf("the sandbox has ended: %s", &problems)
	case !ready || said.BaseURL == "":
		t.Fatal("the sandbox has told nothing")
	}
	return file, said
}

// TestClientsOfOthers runs third-party OAuth libraries through the whole flow: authorize,
// exchange, profile, refresh, a wrong exchange, revocation. Their versions are in
// testdata/clients/package-lock.json.
func TestClientsOfOthers(t *testing.T) {
	t.Parallel()
	if !installed(t, "npm") {
		t.Skip("npm is not installed")
	}
	file, _ := openSandbox(t, "--transactions", "50")
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "flow.mjs", "libraries.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata/clients", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(t *testing.T, name string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	run(t, "npm", "ci", "--no-audit", "--no-fund")
	for _, version := range []string{"v1", "v2"} {
		for _, library := range []string{
			"oauth4webapi", "openidClient", "simpleForm", "simpleFormBody", "simpleJSON", "simpleJSONBody", "passport", "badgateway", "badgatewayBody",
		} {
			t.Run(library+" "+version, func(t *testing.T) { run(t, "node", "flow.mjs", file, library, version) })
		}
	}
}

// TestGoClient does the same with golang.org/x/oauth2, which sends each failing exchange twice,
// once in each style of client authentication.
func TestGoClient(t *testing.T) {
	t.Parallel()
	_, said := openSandbox(t, "--transactions", "50")
	learner := &learner{said: said}
	for version, scopes := range map[string][]string{"v1": {"name:read", "email:read"}, "v2": {"profile:read"}} {
		for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleAutoDetect, oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
			t.Run(fmt.Sprint(version, " style ", style), func(t *testing.T) {
				app := map[string]oauthApp{"v1": said.OAuthApps.V1, "v2": said.OAuthApps.V2}[version]
				config := oauth2.Config{
					ClientID: app.ClientID, ClientSecret: app.ClientSecret, RedirectURL: app.RedirectURL, Scopes: scopes,
					Endpoint: oauth2.Endpoint{
						AuthURL:  said.AuthURL + "/secure/1/identity/oauth_provider/authorize",
						TokenURL: said.BaseURL + "/" + version + "/current_user/oauth2/token", AuthStyle: style,
					},
				}
				verifier := oauth2.GenerateVerifier()
				code := learner.authorize(t, config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("optional_scopes", "courses:read")))
				_, err := config.Exchange(t.Context(), code, oauth2.VerifierOption(oauth2.GenerateVerifier()))
				var refused *oauth2.RetrieveError
				if !errors.As(err, &refused) || refused.ErrorCode != "invalid_grant" {
					t.Errorf("a wrong verifier: %v", err)
				}
				token, err := config.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
				if err != nil || !token.Valid() || token.RefreshToken == "" {
					t.Fatalf("%+v, %v", token, err)
				}
				token.Expiry = time.Now().Add(-time.Hour) // so that the client refreshes
				client := config.Client(t.Context(), token)
				response, err := client.Get(said.BaseURL + "/" + version + "/current_user/me")
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text), said.Learner.Email) {
					t.Errorf("%d %s, %v", response.StatusCode, text, err)
				}
			})
		}
	}
}

// learner is a person with a browser that stores cookies.
type learner struct {
	said    credentials
	browser *http.Client
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
	formAction  = regexp.MustCompile(`<form class="stack" method="post" action="([^"]*)"`)
)

// authorize signs in if needed, authorizes the app, and returns the code.
func (l *learner) authorize(t *testing.T, address string) string {
	t.Helper()
	if l.browser == nil {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		l.browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	response, err := l.browser.Get(address)
	for range 10 {
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if to, err := response.Location(); err == nil {
			if strings.HasPrefix(to.String(), redirectURL) {
				return to.Query().Get("code")
			}
			response, err = l.browser.Get(to.String())
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		response = l.fill(t, response, string(page))
	}
	t.Fatal("the pages lead in a circle")
	return ""
}

// fill submits the form of a page.
func (l *learner) fill(t *testing.T, response *http.Response, page string) *http.Response {
	t.Helper()
	form := url.Values{"answer": {"authorize"}}
	for _, field := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	if strings.Contains(page, `name="password"`) {
		form.Set("email", l.said.Learner.Email)
		form.Set("password", l.said.Learner.Password)
	}
	action := formAction.FindStringSubmatch(page)
	if action == nil {
		t.Fatalf("%d has no form: %s", response.StatusCode, page)
	}
	next, err := l.browser.PostForm(l.said.AuthURL+html.UnescapeString(action[1]), form)
	if err != nil {
		t.Fatal(err)
	}
	return next
}
