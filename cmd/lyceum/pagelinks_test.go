package main

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each link of the pages points to a page, and each form to something that accepts it, in the
// whole server. Of pages that only differ in a number, a few are opened.
func TestLinksAndFormsOfThePages(t *testing.T) {
	t.Parallel()
	_, login := openSandbox(t, "--transactions", "200")
	authorize := "/secure/1/identity/oauth_provider/authorize?" + url.Values{
		"client_id": {login.OAuthApps.V2.ClientID}, "response_type": {"code"}, "state": {"s"},
		"redirect_uri": {login.OAuthApps.V2.RedirectURL}, "required_scopes": {"name:read"},
	}.Encode()
	signIn := "/secure/1/identity/sign_in"

	nobody := walkPages(t, login.BaseURL)
	nobody.walk("/", "/secure/sign_in", signIn)
	nobody.wants(3, "POST "+signIn)

	learner := walkPages(t, login.BaseURL)
	learner.send(signIn, "email", login.Learner.Email, "password", login.Learner.Password, "next", "/account")
	learner.walk("/account", authorize)
	learner.wants(8, "POST /account/profile", "POST /account/sessions/end", "POST /account/second-factor",
		"POST /secure/1/identity/oauth_provider/authorize", "POST /secure/1/identity/sign_out")

	owner := walkPages(t, login.BaseURL)
	owner.send(signIn, "email", login.Owner.Email, "password", login.Owner.Password, "next", "/admin")
	walkPages(t, login.BaseURL).send(signIn, "email", login.Owner.Email, "password", login.Owner.Password)
	owner.walk("/admin", "/account") // before anything was done
	owner.send("/admin/settings/webhooks", "form", "x", "url", "https://hooks.example.com/", "which", "all")
	owner.send("/admin/settings/webhooks", "form", "y", "url", "https://hooks.example.com/old", "which", "all")
	owner.send("/admin/settings/webhooks/5/delete")
	owner.send("/admin/settings/oauth-apps/2/disable")
	owner.send("/admin/settings/oauth-apps/2/delete")
	owner.send("/admin/settings/emails/secrets", "name", "shop", "secret", "walnut-secret")
	owner.send("/admin/settings/oauth-apps/1/disable")
	owner.send("/admin/people/7/disable")
	owner.send("/admin/people/6/erase")
	owner.send("/admin/bulk", "action", "add_tags", "tags", "pilot", "who", "list", "list", login.Learner.Email)
	owner.walk("/admin/settings/audit-log", "/admin", "/admin/people/7", "/admin/people/6", "/admin/bulk") // it has the newest links
	owner.wants(60, "POST /admin/people/7/enable", "POST /admin/people/6/undo-erase", "POST /admin/bulk/1/start",
		"POST /admin/settings/webhooks/4/test", "POST /admin/settings/oauth-apps/1/enable",
		"POST /admin/settings/emails/secrets/1/delete", "GET /admin/transactions.csv")
}

// pageWalk follows the links of pages like one browser.
type pageWalk struct {
	*testing.T
	client *http.Client
	base   string
	opened map[string]bool
	kinds  map[string]int  // pages by path without numbers
	forms  map[string]bool // "POST /account/profile"
}

func walkPages(t *testing.T, base string) *pageWalk {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &pageWalk{
		T: t, base: base, client: &http.Client{Jar: jar},
		opened: map[string]bool{}, kinds: map[string]int{}, forms: map[string]bool{},
	}
}

var (
	pageLink   = regexp.MustCompile(`<a [^>]*href="(/[^"#]*)`)
	pageForm   = regexp.MustCompile(`(?s)<form[^>]*>.*?</form>`)
	formVerb   = regexp.MustCompile(`^<form[^>]* method="([^"]*)"`)
	formTarget = regexp.MustCompile(`(?:^<form[^>]* |<button[^>]* form)action="([^"]*)"`)
	pageNumber = regexp.MustCompile(`[0-9]+`)
	pagesOnly  = regexp.MustCompile(`^/(admin|account|secure)?(/|$)`)
)

// walk opens pages and follows their links. A second call opens pages again, because something
// was done in between.
func (w *pageWalk) walk(next ...string) {
	w.Helper()
	clear(w.opened)
	clear(w.kinds)
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		page, _, _ := strings.Cut(path, "?")
		kind := pageNumber.ReplaceAllString(page, "0")
		if w.opened[page] || w.kinds[kind] == 3 || strings.HasSuffix(page, ".csv") || !pagesOnly.MatchString(page) {
			continue
		}
		w.opened[page] = true
		w.kinds[kind]++
		request, err := http.NewRequest(http.MethodGet, w.base+path, nil)
		if err != nil {
			w.Fatal(err)
		}
		text := w.read(request, http.StatusOK)
		w.check(page, text)
		for _, found := range pageLink.FindAllStringSubmatch(text, -1) {
			next = append(next, html.UnescapeString(found[1]))
		}
	}
}

// send submits a form, whose response is a page with forms, too.
func (w *pageWalk) send(path string, pairs ...string) {
	w.Helper()
	values := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		values.Add(pair[0], pair[1])
	}
	request, err := http.NewRequest(http.MethodPost, w.base+path, strings.NewReader(values.Encode()))
	if err != nil {
		w.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w.check(path, w.read(request, http.StatusOK))
}

func (w *pageWalk) read(request *http.Request, want int) string {
	w.Helper()
	response, err := w.client.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		w.Fatalf("%s %s: %s at %s, %v\n%s", request.Method, request.URL, response.Status, response.Request.URL, err, text)
	}
	return string(text)
}

// check checks for each form of a page that its target accepts the form's method, without
// submitting it.
func (w *pageWalk) check(page, text string) {
	w.Helper()
	for _, form := range pageForm.FindAllString(text, -1) {
		method := http.MethodGet
		if found := formVerb.FindStringSubmatch(form); found != nil {
			method = strings.ToUpper(found[1])
		}
		actions := formTarget.FindAllStringSubmatch(form, -1)
		if actions == nil {
			actions = [][]string{{"", page}}
		}
		for _, found := range actions {
			to, _, _ := strings.Cut(html.UnescapeString(found[1]), "?")
			if key := method + " " + to; !w.forms[key] {
				w.forms[key] = true
				w.takes(page, method, to)
			}
		}
	}
}

// takes checks that an address accepts a method, by requesting its allowed methods with a
// method that nothing accepts.
func (w *pageWalk) takes(page, method, to string) {
	w.Helper()
	request, err := http.NewRequest("BREW", w.base+to, nil)
	if err != nil {
		w.Fatalf("%s has a form to %q: %v", page, to, err)
	}
	response, err := w.client.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	response.Body.Close()
	allowed := strings.Split(response.Header.Get("Allow"), ", ")
	if response.StatusCode != http.StatusMethodNotAllowed || response.Request != request || !slices.Contains(allowed, method) {
		w.Errorf("%s has a form %s %s, which is not taken there: %s, allowed %q", page, method, to, response.Status, allowed)
	}
}

// wants fails unless at least the given number of pages was opened, and they had the given
// forms.
func (w *pageWalk) wants(pages int, forms ...string) {
	w.Helper()
	for _, form := range forms {
		if !w.forms[form] {
			w.Errorf("the form %s is on no page", form)
		}
	}
	if len(w.opened) < pages {
		w.Errorf("only %d pages were opened: %v", len(w.opened), w.opened)
	}
}
