package oauth_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/pquerna/otp/totp"
)

// client is a browser without JavaScript: it stores cookies and submits forms.
type client struct {
	*window

	cookies map[string]*http.Cookie
	site    string // Sec-Fetch-Site; empty for none
}

func (c *client) send(method, path string, form url.Values) *httptest.ResponseRecorder {
	c.t.Helper()
	r := httptest.NewRequest(method, c.at+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.site != "" {
		r.Header.Set("Sec-Fetch-Site", c.site)
	}
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	c.pages.ServeHTTP(w, r)
	for _, cookie := range w.Result().Cookies() {
		if c.cookies[cookie.Name] = cookie; cookie.MaxAge < 0 {
			delete(c.cookies, cookie.Name)
		}
	}
	return w
}

func (c *client) want(w *httptest.ResponseRecorder, status int, text string) {
	c.t.Helper()
	if w.Code != status || !strings.Contains(w.Header().Get("Location")+w.Body.String(), text) {
		c.t.Errorf("%d to %q, want %d and %q: %s", w.Code, w.Header().Get("Location"), status, text, w.Body)
	}
}

// R61: a value that is not a passkey's response changes nothing, however large it is, and
// neither does what another site sends.
func TestR61PasskeyForms(t *testing.T) {
	c := &client{window: serve(t, "https://school.example.com:443"), cookies: map[string]*http.Cookie{}}
	const in, second = "/secure/1/identity/", "/account/second-factor"
	passkey := func(text string) url.Values { return url.Values{"passkey": {text}} }
	c.want(c.send("POST", in+"passkey", url.Values{"for": {"nothing"}}), 400, "sign_in")
	c.want(c.send("POST", in+"passkey", url.Values{"for": {"second_step"}}), 404, "took too long")
	c.want(c.send("POST", in+"passkey", url.Values{"for": {"confirm"}}), 404, "signed out")
	c.want(c.send("POST", in+"passkey", url.Values{"for": {"sign_in"}}), 200, `"challenge":`)
	c.want(c.send("POST", in+"sign_in", passkey("{}")), 422, "This passkey was not accepted")
	c.want(c.send("POST", in+"sign_in", passkey(strings.Repeat("[", 1<<20))), 413, "64 kilobytes")
	c.want(c.send("POST", second+"/passkeys", passkey("{}")), 303, "sign_in")
	c.want(c.send("POST", second+"/passkeys/options", nil), 303, "sign_in")
	c.want(c.send("POST", in+"sign_in", url.Values{"email": {email}, "password": {password}}), 303, "/account")
	c.want(c.send("POST", in+"passkey", url.Values{"for": {"confirm"}}), 409, "no passkey")
	c.want(c.send("POST", second+"/passkeys", nil), 422, "Passkeys need JavaScript")
	c.want(c.send("POST", second+"/passkeys", passkey("null")), 422, "This passkey was not accepted")
	c.want(c.send("POST", second+"/passkeys", passkey(strings.Repeat("9", 1<<20))), 413, "64 kilobytes")

	device := virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: []byte{0, 0, 0, 1, 0, 0, 0, 7}})
	key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	for len(key.Key.AttestationData()) != 77 { // the library omits the leading zeros of a coordinate
		key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	}
	at := virtualwebauthn.RelyingParty{ID: "school.example.com", Origin: "https://school.example.com"}
	options, err := virtualwebauthn.ParseAttestationOptions(c.send("POST", second+"/passkeys/options", nil).Body.String())
	if err != nil || options.RelyingPartyID != at.ID {
		t.Fatalf("%+v, %v", options, err)
	}
	form := passkey(virtualwebauthn.CreateAttestationResponse(at, device, key, *options))
	form.Set("name", "A <b>")
	c.site = "cross-site"
	c.want(c.send("POST", second+"/passkeys", form), 403, "another site")
	c.site = ""
	c.want(c.send("POST", second+"/passkeys", form), 200, "Keep your recovery codes")
	c.want(c.send("POST", second+"/passkeys", form), 422, "This passkey was not accepted")
	c.want(c.send("GET", second, nil), 200, "A &lt;b&gt;")

	c.cookies = map[string]*http.Cookie{}
	show := func() url.Values {
		shown, err := virtualwebauthn.ParseAssertionOptions(c.send("POST", in+"passkey", url.Values{"for": {"sign_in"}}).Body.String())
		if err != nil {
			t.Fatal(err)
		}
		key.Counter++
		return passkey(virtualwebauthn.CreateAssertionResponse(at, device, key, *shown))
	}
	c.want(c.send("GET", in+"sign_in", nil), 200, "Sign in with a passkey")
	stolen := show()
	mine := c.cookies
	c.cookies = map[string]*http.Cookie{}
	c.want(c.send("POST", in+"sign_in", stolen), 422, "This passkey was not accepted")
	c.cookies = mine
	c.want(c.send("POST", in+"sign_in", stolen), 303, "/account")
}

// If browsers do not support passkeys at this address, the page says why.
func TestPasskeysNeedAnAddress(t *testing.T) {
	t.Parallel()
	c := &client{window: serve(t, "http://192.0.2.7:8080"), cookies: map[string]*http.Cookie{}}
	c.want(c.send("POST", "/secure/1/identity/sign_in", url.Values{"email": {email}, "password": {password}}), 303, "/account")
	c.want(c.send("GET", "/account/second-factor", nil), 200, "The school’s pages are at http://192.0.2.7:8080")
	c.want(c.send("POST", "/account/second-factor/passkeys/options", nil), 409, "do not work at this address")
}

// If the form that sets up an app is submitted twice, as by a double click, the page says how
// to get the recovery codes, which nobody has seen then.
func TestSecondFactorSentTwice(t *testing.T) {
	t.Parallel()
	c := &client{window: serve(t, "http://192.0.2.7:8080"), cookies: map[string]*http.Cookie{}}
	const second = "/account/second-factor"
	c.want(c.send("POST", "/secure/1/identity/sign_in", url.Values{"email": {email}, "password": {password}}), 303, "/account")
	page := c.send("GET", second, nil).Body.String()
	sealed := regexp.MustCompile(`name="sealed" value="([^"]*)"`).FindStringSubmatch(page)
	secret := regexp.MustCompile(`<code class="whole">(\w*)</code>`).FindStringSubmatch(page)
	if sealed == nil || secret == nil {
		t.Fatalf("there is no form: %s", page)
	}
	code, err := totp.GenerateCode(secret[1], time.Now())
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"sealed": {html.UnescapeString(sealed[1])}, "code": {code}}
	c.want(c.send("POST", second, form), 200, "Keep your recovery codes")
	again := c.send("POST", second, form)
	c.want(again, 409, "create new ones")
	c.want(again, 409, "/recovery-codes")
}
