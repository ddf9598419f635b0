package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

func decode(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func basicHeader(id, secret string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// inBothEncodings runs a test on both engines with forms and with JSON.
func inBothEncodings(t *testing.T, test func(t *testing.T, c *campus, encoding string)) {
	t.Helper()
	onBothEngines(t, func(t *testing.T, c *campus) {
		for encoding := range encodings {
			t.Run(encoding, func(t *testing.T) { test(t, c, encoding) })
		}
	})
}

func TestC1_ParametersStandInTheBody(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		client := c.ours.clients[lyceum.V1]
		code := c.learnerCode(t, c.ours, lyceum.V1)
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			w := c.do(request(method, "/v1/current_user/oauth2/token", nil))
			if wantError(t, w, http.StatusMethodNotAllowed, "method_not_allowed"); w.Header().Get("Allow") != "POST" {
				t.Errorf("%s may be %q", method, w.Header().Get("Allow"))
			}
		}
		all := exchangeOf(client, code)
		for _, query := range []string{all.Encode(), "client_secret=" + client.secret, "code=" + code, "x=1"} {
			w := c.do(request(http.MethodPost, "/v1/current_user/oauth2/token?"+query, strings.NewReader(all.Encode()), "Content-Type: application/x-www-form-urlencoded"))
			wantError(t, w, http.StatusBadRequest, "invalid_request")
		}
		wantStatus(t, c.token(t, lyceum.V1, "token", "form", all), http.StatusOK) // the code was not used up
	})
}

func TestC2_C18_Success(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		for version, want := range map[lyceum.InterfaceVersion]string{lyceum.V1: "courses:read name:read", lyceum.V2: "courses:read profile:read"} {
			w := c.token(t, version, "token", encoding, exchangeOf(c.ours.clients[version], c.learnerCode(t, c.ours, version)))
			wantStatus(t, w, http.StatusOK)
			for name, value := range map[string]string{"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store", "Pragma": "no-cache", "Etag": ""} {
				if got := w.Header().Get(name); got != value {
					t.Errorf("%s is %q, want %q", name, got, value)
				}
			}
			var response tokenResponse
			decode(t, w.Body.Bytes(), &response)
			if response.TokenType != "bearer" || response.ExpiresIn != 7200 || response.RefreshToken == "" || response.Scope != want || !strings.Contains(w.Body.String(), `"expires_in":7200,`) {
				t.Errorf("the answer is %s", w.Body)
			}
		}
	})
}

func TestC3_C4_C5_Bodies(t *testing.T) {
	c := newCampus(t)
	client := c.ours.clients[lyceum.V1]
	const form, object = "application/x-www-form-urlencoded", "application/json"
	good := `"client_id":"` + client.id + `","client_secret":"` + client.secret + `"`
	for _, tc := range []struct {
		name, kind, body string
		status           int
	}{
		{"no type", "", "a=1", 400},
		{"text", "text/plain", "a=1", 400},
		{"multipart", "multipart/form-data; boundary=x", "--x--", 400},
		{"broken type", "application/", "a=1", 400},
		{"large form", form, "a=" + strings.Repeat("x", 66_000), 413},
		{"large JSON", object, `{"a":"` + strings.Repeat("x", 66_000) + `"}`, 413},
		{"deep", object, strings.Repeat("[", 60_000), 400},
		{"deeper", object, `{"a":` + strings.Repeat(`{"a":`, 10_000), 400},
		{"deep and large", object, strings.Repeat("[", 100_000), 413},
		{"a name twice", form, "grant_type=a&grant_type=b", 400},
		{"a secret twice", form, "client_secret=a&client_secret=a", 400},
		{"a member twice", object, `{"grant_type":"a","grant_type":"a"}`, 400},
		{"in another case", object, `{"client_id":"a","CLIENT_ID":"b"}`, 400},
		{"a number", object, `{"code":7,` + good + `}`, 400},
		{"null", object, `{"code":null,` + good + `}`, 400},
		{"an array", object, `{"code":["x"],` + good + `}`, 400},
		{"an array outside", object, `[]`, 400},
		{"a text outside", object, `"x"`, 400},
		{"nothing", object, ``, 400},
		{"trailing text", object, `{` + good + `}x`, 400},
		{"two objects", object, `{}{}`, 400},
		{"unfinished", object, `{"a":`, 400},
		{"not UTF-8", object, "{\"a\":\"\xff\"}", 400},
		{"NUL", form, "code=%00", 400},
		{"percent", form, "code=%zz", 400},
		{"semicolon", form, "a;b=1", 400},
		{"not UTF-8 in a form", form, "code=%ff", 400},
		{"empty form", form, "", 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			headers := []string{}
			if tc.kind != "" {
				headers = append(headers, "Content-Type: "+tc.kind)
			}
			w := c.do(request(http.MethodPost, "/v1/current_user/oauth2/token", strings.NewReader(tc.body), headers...))
			wantError(t, w, tc.status, "invalid_request")
		})
	}
	two := request(http.MethodPost, "/v1/current_user/oauth2/token", strings.NewReader("a=1"), "Content-Type: "+form, "Content-Type: "+object)
	wantError(t, c.do(two), http.StatusBadRequest, "invalid_request")
}

func TestC6_C7_C8_ClientAuthentication(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		client := c.ours.clients[lyceum.V2]
		bare := func(pairs url.Values) { pairs.Del("client_id"); pairs.Del("client_secret") }
		escaped := strings.ReplaceAll(client.id, "_", "%5F")
		for name, tc := range map[string]struct {
			header string
			change func(url.Values)
			status int
		}{
			"in the body":             {"", func(url.Values) {}, 200},
			"in the header":           {basicHeader(client.id, client.secret), bare, 200},
			"in the header, escaped":  {basicHeader(escaped, strings.ReplaceAll(client.secret, "_", "%5f")), bare, 200},
			"in lower case":           {strings.Replace(basicHeader(client.id, client.secret), "Basic", "basic", 1), bare, 200},
			"the id in both":          {basicHeader(client.id, client.secret), without("client_secret"), 200},
			"the secret in both":      {basicHeader(client.id, client.secret), func(url.Values) {}, 400},
			"another id in the body":  {basicHeader(client.id, client.secret), func(p url.Values) { p.Del("client_secret"); p.Set("client_id", "x") }, 400},
			"a bearer header":         {"Authorization: bearer x", func(url.Values) {}, 400},
			"a header without colon":  {"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x")), bare, 400},
			"a header not of base64":  {"Authorization: Basic %%%", bare, 400},
			"a header with a percent": {basicHeader("%zz", "x"), bare, 400},
			"no id":                   {"", without("client_id"), 400},
			"no secret":               {"", without("client_secret"), 400},
		} {
			t.Run(name, func(t *testing.T) {
				pairs := exchangeOf(client, c.learnerCode(t, c.ours, lyceum.V2), tc.change)
				headers := []string{}
				if tc.header != "" {
					headers = append(headers, tc.header)
				}
				w := c.token(t, lyceum.V2, "token", encoding, pairs, headers...)
				if w.Code != tc.status {
					t.Errorf("%d: %s", w.Code, w.Body)
				}
			})
		}
	})
}

func TestC9_C12_WrongClients(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		client := c.ours.clients[lyceum.V1]
		code := c.learnerCode(t, c.ours, lyceum.V1)
		var bodies []string
		for _, wrong := range []credentials{
			{id: client.id, secret: client.secret + "x"},
			{id: client.id, secret: c.theirs.clients[lyceum.V1].secret},
			{id: "nobody", secret: "x"},
			{id: client.id + "x", secret: client.secret},
			c.ours.clients[lyceum.V2], c.theirs.clients[lyceum.V2],
		} {
			w := c.token(t, lyceum.V1, "token", encoding, exchangeOf(wrong, code))
			wantError(t, w, http.StatusBadRequest, "invalid_client")
			if challenge := w.Header().Get("WWW-Authenticate"); challenge != "" {
				t.Errorf("the body is challenged by %q", challenge)
			}
			bodies = append(bodies, w.Body.String())
			w = c.token(t, lyceum.V1, "token", encoding, exchangeOf(wrong, code, without("client_id"), without("client_secret")), basicHeader(wrong.id, wrong.secret))
			wantError(t, w, http.StatusUnauthorized, "invalid_client")
			if challenge := w.Header().Get("WWW-Authenticate"); !strings.HasPrefix(challenge, "Basic realm=") {
				t.Errorf("the header is challenged by %q", challenge)
			}
		}
		if slices.Sort(bodies); len(slices.Compact(bodies)) != 1 {
			t.Errorf("wrong clients are told apart: %q", bodies)
		}
		wantError(t, c.token(t, lyceum.V2, "token", encoding, exchangeOf(client, code)), http.StatusBadRequest, "invalid_client")
		wantStatus(t, c.token(t, lyceum.V1, "token", encoding, exchangeOf(client, code)), http.StatusOK)
	})
}

func TestC10_WrongSecretsAreBounded(t *testing.T) {
	c := newCampus(t)
	client := c.ours.clients[lyceum.V1]
	wrong := exchangeOf(credentials{id: client.id, secret: "x"}, "x")
	limited := 0
	for range 100 {
		w := c.token(t, lyceum.V1, "token", "form", wrong)
		if w.Code == http.StatusTooManyRequests {
			limited++
			if wantError(t, w, http.StatusTooManyRequests, "invalid_client"); w.Header().Get("Retry-After") != "60" {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
		}
	}
	if limited != 80 {
		t.Errorf("%d of 100 are refused for their number, want 80", limited)
	}
	body := exchangeOf(client, c.learnerCode(t, c.ours, lyceum.V1)).Encode()
	r := request(http.MethodPost, "/v1/current_user/oauth2/token", strings.NewReader(body), "Content-Type: application/x-www-form-urlencoded")
	wantStatus(t, c.do(r), http.StatusOK) // from the same address as the wrong ones
}

func TestC11_C13_C14_C15_C17_D1_D5_Exchange(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		client := c.ours.clients[lyceum.V1]
		other := c.register(t, c.ours.id, access.AppForm{Name: "Other", RedirectURL: callbackURL, Version: lyceum.V1})
		const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
		verifier := set("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
		code := c.learnerCode(t, c.ours, lyceum.V1, set("code_challenge", challenge))
		exchange := func(client credentials, change ...func(url.Values)) *httptest.ResponseRecorder {
			t.Helper()
			return c.token(t, lyceum.V1, "token", encoding, exchangeOf(client, code, append([]func(url.Values){verifier}, change...)...))
		}
		for name, tc := range map[string]struct {
			w    *httptest.ResponseRecorder
			word string
		}{
			"another app":           {exchange(other), "invalid_grant"},
			"no redirect_uri":       {exchange(client, without("redirect_uri")), "invalid_request"},
			"another redirect_uri":  {exchange(client, set("redirect_uri", callbackURL+"x")), "invalid_grant"},
			"no code":               {exchange(client, without("code")), "invalid_request"},
			"no verifier":           {exchange(client, without("code_verifier")), "invalid_grant"},
			"another verifier":      {exchange(client, set("code_verifier", strings.Repeat("a", 43))), "invalid_grant"},
			"a short verifier":      {exchange(client, set("code_verifier", "a")), "invalid_request"},
			"a code of the schools": {exchange(client, set("code", c.learnerCode(t, c.theirs, lyceum.V1))), "invalid_grant"},
			"an unknown code":       {exchange(client, set("code", "x")), "invalid_grant"}, // C22
			"a mistyped code":       {exchange(client, set("code", code+"x")), "invalid_grant"},
		} {
			t.Run(name, func(t *testing.T) { wantError(t, tc.w, http.StatusBadRequest, tc.word) })
		}
		w := exchange(client)
		wantStatus(t, w, http.StatusOK)
		var tokens tokenResponse
		decode(t, w.Body.Bytes(), &tokens)
		if strings.Contains(w.Body.String(), challenge) || strings.Contains(c.log.String(), challenge) { // D5
			t.Error("the challenge is told")
		}
		for _, change := range []func(url.Values){set("redirect_uri", "x"), without("code_verifier"), set("client_secret", "x")} {
			if exchange(client, change).Code == http.StatusOK {
				t.Error("an invalid replay is taken")
			}
		}
		wantStatus(t, c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken), http.StatusOK)
		wantError(t, exchange(client), http.StatusBadRequest, "invalid_grant")
		wantError(t, c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken), http.StatusUnauthorized, "invalid_token")
	})
}

func TestC16_OneOfManyRequests(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		client := c.ours.clients[lyceum.V1]
		for range 5 {
			pairs := exchangeOf(client, c.learnerCode(t, c.ours, lyceum.V1))
			var won, strange atomic.Int64
			var group sync.WaitGroup
			for range 50 {
				group.Go(func() {
					body := pairs.Encode()
					switch w := c.do(request(http.MethodPost, "/v1/current_user/oauth2/token", strings.NewReader(body), "Content-Type: application/x-www-form-urlencoded")); w.Code {
					case http.StatusOK:
						won.Add(1)
					case http.StatusBadRequest:
					default:
						strange.Add(1)
					}
				})
			}
			group.Wait()
			if won.Load() != 1 || strange.Load() != 0 {
				t.Errorf("%d of 50 won, %d were answered otherwise", won.Load(), strange.Load())
			}
			c.clock.Pass(time.Minute) // so that sign-ins do not reach their limit
		}
	})
}

func TestC20_ErrorsAreJSON(t *testing.T) {
	c := newCampus(t)
	panicking := wire.Operation{
		ID: "panic", Method: http.MethodPost, Path: "/v1/current_user/oauth2/panic", Credential: wire.Open, Fail: operationOf(c.options.Faces[0], "createToken").Fail,
		Serve: func(context.Context, wire.Principal, *http.Request) (wire.Body, error) { panic("canary") },
	}
	o := c.options
	o.Metrics = server.NewMetrics("v1.2.3")
	o.Faces = append(slices.Clone(o.Faces), &extraFace{Face: o.Faces[0], name: "extra", operations: []wire.Operation{panicking}})
	c.Handler = server.Handler(o)
	w := c.do(request(http.MethodPost, "/v1/current_user/oauth2/panic", nil))
	wantError(t, w, http.StatusInternalServerError, "server_error")
	if strings.Contains(w.Body.String(), "canary") {
		t.Error("the panic is told")
	}
	for _, path := range []string{"/v1/current_user/oauth2/nothing", "/v1/current_user/oauth2", "/v2/current_user/oauth2/token/x"} {
		w := c.do(request(http.MethodPost, path, nil))
		if w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/json; charset=utf-8" || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s is a %d of %s", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

// extraFace adds operations under a separate name.
type extraFace struct {
	wire.Face
	name       string
	operations []wire.Operation
}

func (f *extraFace) Name() string { return f.name }

func (f *extraFace) Operations() []wire.Operation { return f.operations }

func TestC21_Grants(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		client := c.ours.clients[lyceum.V1]
		code := c.learnerCode(t, c.ours, lyceum.V1)
		for grant, word := range map[string]string{
			"password": "unsupported_grant_type", "client_credentials": "unsupported_grant_type", "implicit": "unsupported_grant_type",
			"Authorization_Code": "unsupported_grant_type", "urn:ietf:params:oauth:grant-type:device_code": "unsupported_grant_type", "": "invalid_request",
		} {
			wantError(t, c.token(t, lyceum.V1, "token", encoding, exchangeOf(client, code, set("grant_type", grant))), http.StatusBadRequest, word)
		}
		wantError(t, c.token(t, lyceum.V1, "token", encoding, exchangeOf(client, code, set("grant_type", "refresh_token"))), http.StatusBadRequest, "invalid_request")
		wantStatus(t, c.token(t, lyceum.V1, "token", encoding, exchangeOf(client, code)), http.StatusOK)
	})
}

func TestC22_CodesLookAlike(t *testing.T) {
	c := newCampus(t)
	client := c.ours.clients[lyceum.V1]
	expired, spent := c.learnerCode(t, c.ours, lyceum.V1), c.learnerCode(t, c.ours, lyceum.V1)
	wantStatus(t, c.token(t, lyceum.V1, "token", "form", exchangeOf(client, spent)), http.StatusOK)
	again := c.token(t, lyceum.V1, "token", "form", exchangeOf(client, spent)).Body.String()
	c.clock.Pass(access.CodeLifetime)
	for _, code := range []string{expired, "x", "lyceum_code_1_" + strings.Repeat("0", 49)} {
		if got := c.token(t, lyceum.V1, "token", "form", exchangeOf(client, code)).Body.String(); got != again {
			t.Errorf("got %s and %s", got, again)
		}
	}
}

func TestE1_E2_E8_Refresh(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		client, tokens := c.ours.clients[lyceum.V1], c.tokens(t, c.ours, lyceum.V1)
		refresh := func(client credentials, change ...func(url.Values)) *httptest.ResponseRecorder {
			t.Helper()
			pairs := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}, "client_id": {client.id}, "client_secret": {client.secret}}
			for _, change := range change {
				change(pairs)
			}
			return c.token(t, lyceum.V1, "token", encoding, pairs)
		}
		w := refresh(client)
		wantStatus(t, w, http.StatusOK)
		var next tokenResponse
		decode(t, w.Body.Bytes(), &next)
		if next.RefreshToken != tokens.RefreshToken || next.AccessToken == tokens.AccessToken || next.Scope != tokens.Scope {
			t.Errorf("the answer is %s", w.Body)
		}
		w = refresh(client, set("scope", "name:read"))
		if decode(t, w.Body.Bytes(), &next); next.Scope != "name:read" {
			t.Errorf("narrowed to %s", w.Body)
		}
		wantError(t, refresh(client, set("scope", "email:read")), http.StatusBadRequest, "invalid_scope")
		wantError(t, refresh(client, set("refresh_token", tokens.AccessToken)), http.StatusBadRequest, "invalid_grant")
		wantError(t, refresh(c.theirs.clients[lyceum.V1]), http.StatusBadRequest, "invalid_grant")
		wantError(t, c.me(t, lyceum.V1, "Authorization: bearer "+tokens.RefreshToken), http.StatusUnauthorized, "invalid_token")
		wantStatus(t, refresh(client), http.StatusOK)
	})
}

func TestF1_F2_F3_F4_F5_F8_F11_Bearer(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		tokens := c.tokens(t, c.ours, lyceum.V1)
		for _, scheme := range []string{"bearer", "Bearer", "BEARER"} {
			w := c.me(t, lyceum.V1, "Authorization: "+scheme+" "+tokens.AccessToken)
			wantStatus(t, w, http.StatusOK)
			if kept := w.Header().Get("Cache-Control"); !strings.Contains(kept, "private") { // F11
				t.Errorf("Cache-Control is %q", kept)
			}
			if w.Body.String() != fmt.Sprintf(`{"id":%d,"name":"Mira Okafor","email":null,"role":"student"}`, learnerID) {
				t.Errorf("got %s", w.Body)
			}
		}
		for _, headers := range [][]string{nil, {"Authorization: "}, {"Authorization: bearer"}, {"Authorization: bearer "}, {"Authorization: Basic eDp5"}, {"apiKey: " + c.ours.key}} { // F8
			w := c.me(t, lyceum.V1, headers...)
			wantError(t, w, http.StatusUnauthorized, "invalid_token")
			if challenge := w.Header().Get("WWW-Authenticate"); challenge != `Bearer realm="lyceum"` {
				t.Errorf("%v is challenged by %q", headers, challenge)
			}
		}
		query := c.do(request(http.MethodGet, "/v1/current_user/me?access_token="+tokens.AccessToken, nil))
		wantError(t, query, http.StatusUnauthorized, "invalid_token")
		two := c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken, "Authorization: bearer "+tokens.AccessToken)
		wantError(t, two, http.StatusBadRequest, "invalid_request")
		var alike []string
		bad := func(token string) {
			t.Helper()
			w := c.me(t, lyceum.V1, "Authorization: bearer "+token)
			wantError(t, w, http.StatusUnauthorized, "invalid_token")
			alike = append(alike, w.Body.String()+w.Header().Get("WWW-Authenticate"))
		}
		bad("x")
		bad(tokens.AccessToken + "x")
		revoked := c.tokens(t, c.ours, lyceum.V1)
		client := c.ours.clients[lyceum.V1]
		pairs := url.Values{"token": {revoked.AccessToken}, "client_id": {client.id}, "client_secret": {client.secret}}
		wantStatus(t, c.token(t, lyceum.V1, "revoke", "form", pairs), http.StatusOK)
		bad(revoked.AccessToken)
		c.clock.Pass(access.AccessLifetime)
		bad(tokens.AccessToken)
		if slices.Sort(alike); len(slices.Compact(alike)) != 1 || !strings.Contains(alike[0], `error="invalid_token"`) {
			t.Errorf("bad tokens are told apart: %q", alike)
		}
		list := c.do(request(http.MethodGet, "/v1/transactions", nil, "Authorization: bearer "+tokens.AccessToken)) // F8
		wantMessage(t, list, http.StatusUnauthorized, noKey)
	})
}

func TestF6_F10_ScopesAndVersions(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	var tokens tokenResponse
	form := b.consent(t, c.ours.authorize(lyceum.V1, set("required_scopes", "courses:read")))
	narrow := arrivedAt(t, b.post(c.ours.path("oauth_provider/authorize"), form)).Get("code")
	decode(t, c.token(t, lyceum.V1, "token", "form", exchangeOf(c.ours.clients[lyceum.V1], narrow)).Body.Bytes(), &tokens)
	w := c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken)
	wantError(t, w, http.StatusForbidden, "access_forbidden")
	if challenge := w.Header().Get("WWW-Authenticate"); !strings.Contains(challenge, `error="insufficient_scope", scope="name:read email:read"`) {
		t.Errorf("the challenge is %q", challenge)
	}
	for version, other := range map[lyceum.InterfaceVersion]lyceum.InterfaceVersion{lyceum.V1: lyceum.V2, lyceum.V2: lyceum.V1} {
		tokens := c.tokens(t, c.ours, version)
		wantStatus(t, c.me(t, version, "Authorization: bearer "+tokens.AccessToken), http.StatusOK)
		wantError(t, c.me(t, other, "Authorization: bearer "+tokens.AccessToken), http.StatusForbidden, "access_forbidden")
	}
}

func TestG1_G2_G4_H1_H2_RevocationAndIntrospection(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		client, tokens := c.ours.clients[lyceum.V1], c.tokens(t, c.ours, lyceum.V1)
		other := c.register(t, c.ours.id, access.AppForm{Name: "Other", RedirectURL: callbackURL, Version: lyceum.V1})
		post := func(endpoint string, client credentials, token string, change ...func(url.Values)) *httptest.ResponseRecorder {
			t.Helper()
			pairs := url.Values{"token": {token}, "client_id": {client.id}, "client_secret": {client.secret}}
			for _, change := range change {
				change(pairs)
			}
			return c.token(t, lyceum.V1, endpoint, encoding, pairs)
		}
		var about struct {
			Active     bool
			Scope, Sub string
			TokenType  string `json:"token_type"`
			ClientID   string `json:"client_id"`
			Iat, Exp   int64
		}
		decode(t, post("introspect", client, tokens.AccessToken).Body.Bytes(), &about)
		if !about.Active || about.Scope != "courses:read name:read" || about.Sub != fmt.Sprint(learnerID) || about.ClientID != client.id || about.Exp-about.Iat != 7200 || about.TokenType != "bearer" {
			t.Errorf("introspection is %+v", about)
		}
		for _, silent := range []*httptest.ResponseRecorder{
			post("introspect", other, tokens.AccessToken), post("introspect", client, "x"), post("introspect", c.theirs.clients[lyceum.V1], tokens.AccessToken),
		} {
			if silent.Code != http.StatusOK || silent.Body.String() != `{"active":false}` {
				t.Errorf("got %d %s", silent.Code, silent.Body)
			}
		}
		w := c.token(t, lyceum.V1, "introspect", encoding, url.Values{"token": {tokens.AccessToken}})
		wantError(t, w, http.StatusUnauthorized, "invalid_client")
		wantError(t, post("introspect", credentials{id: client.id, secret: "x"}, tokens.AccessToken), http.StatusUnauthorized, "invalid_client")

		wantError(t, c.token(t, lyceum.V1, "revoke", encoding, url.Values{"token": {tokens.AccessToken}}), http.StatusBadRequest, "invalid_request")
		wantError(t, post("revoke", credentials{id: client.id, secret: "x"}, tokens.AccessToken), http.StatusBadRequest, "invalid_client")
		wantError(t, post("revoke", other, tokens.AccessToken), http.StatusBadRequest, "unauthorized_client")
		wantError(t, post("revoke", client, ""), http.StatusBadRequest, "invalid_request")
		if w := post("revoke", client, "x"); w.Code != http.StatusOK || w.Body.String() != "{}" {
			t.Errorf("an unknown token is a %d %s", w.Code, w.Body)
		}
		wantStatus(t, c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken), http.StatusOK)
		wantStatus(t, post("revoke", client, tokens.RefreshToken, set("token_type_hint", "access_token")), http.StatusOK)
		wantError(t, c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken), http.StatusUnauthorized, "invalid_token")
	})
}

// TestG5_DatabaseGone checks that what could not be done is not reported as done.
func TestG5_DatabaseGone(t *testing.T) {
	c := newCampus(t)
	client, tokens := c.ours.clients[lyceum.V1], c.tokens(t, c.ours, lyceum.V1)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	if err := c.store.Close(); err != nil {
		t.Fatal(err)
	}
	w := c.token(t, lyceum.V1, "revoke", "form", url.Values{"token": {tokens.AccessToken}, "client_id": {client.id}, "client_secret": {client.secret}})
	if wantError(t, w, http.StatusServiceUnavailable, "temporarily_unavailable"); w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	for _, path := range []string{"/account/apps", c.ours.path("sign_in"), "/admin"} {
		if w := b.get(path); w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s is a %d", path, w.Code)
		}
	}
}
