package access_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// office is a school with one learner and apps of both versions.
type office struct {
	store    lyceum.Store
	clock    *storetest.Clock
	oauth    *access.OAuth
	accounts *access.Accounts
	apps     *access.Apps
	school   lyceum.SchoolID
	app      map[lyceum.InterfaceVersion]lyceum.OAuthApp
	client   map[lyceum.InterfaceVersion]access.Client
}

const (
	learner  lyceum.UserID = 7
	password               = "four words that differ"
	callback               = "https://app.example.com/callback"
)

// onBothEngines runs a test on SQLite and, if available, on PostgreSQL.
func onBothEngines(t *testing.T, test func(*testing.T, *office)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, newOffice(t, openStore(t, t.TempDir()))) })
	t.Run("postgres", func(t *testing.T) {
		store, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, newOffice(t, store))
	})
}

// passwordHash is computed once, because hashes are expensive on purpose.
var passwordHash = sync.OnceValue(func() string { return access.HashPassword(password, [16]byte{1}) })

func newOffice(t *testing.T, store lyceum.Store) *office {
	t.Helper()
	o := &office{store: store, clock: storetest.NewClock(storetest.Begin), app: map[lyceum.InterfaceVersion]lyceum.OAuthApp{}, client: map[lyceum.InterfaceVersion]access.Client{}}
	o.oauth = access.NewOAuth(store, o.clock.Now)
	o.accounts = access.NewAccounts(store, o.clock.Now, o.oauth, nil)
	o.apps = access.NewApps(store, o.clock.Now, o.oauth, false)
	o.school = storetest.MakeSchool(t, store)
	o.save(t, lyceum.User{
		ID: learner, Email: "Mira@example.com", Name: lyceum.Some("Mira Okafor"), Role: lyceum.Student, CreatedAt: storetest.Begin,
		PasswordHash: lyceum.Some(passwordHash()),
	})
	for _, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
		o.register(t, version, access.AppForm{Name: "Ledger", RedirectURL: callback, Version: version})
	}
	return o
}

func (o *office) save(t *testing.T, users ...lyceum.User) {
	t.Helper()
	err := o.store.Write(t.Context(), lyceum.Stamp{School: o.school, At: o.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, users...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (o *office) register(t *testing.T, version lyceum.InterfaceVersion, form access.AppForm) {
	t.Helper()
	app, secret, err := o.apps.Register(t.Context(), lyceum.By{School: o.school, Actor: "test"}, form)
	if err != nil {
		t.Fatal(err)
	}
	o.app[version], o.client[version] = app, access.Client{Version: version, ID: app.ClientID, Secret: secret, From: "192.0.2.1/32"}
}

// asked returns a valid request of the version 1 app.
func asked(change ...func(*access.AuthorizationParams)) access.AuthorizationParams {
	a := access.AuthorizationParams{ResponseType: "code", RequiredScopes: "name:read", OptionalScopes: "email:read courses:read"}
	for _, c := range change {
		c(&a)
	}
	return a
}

// code returns a code of the version 1 app with all its scopes.
func (o *office) code(t *testing.T, change ...func(*access.AuthorizationParams)) string {
	t.Helper()
	request, err := o.oauth.Examine(o.app[lyceum.V1], asked(change...))
	if err != nil {
		t.Fatal(err)
	}
	code, err := o.oauth.Authorize(t.Context(), o.by(), learner, request, request.Optional)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func (o *office) exchange(code, verifier string) (access.Tokens, error) {
	return o.oauth.Exchange(context.Background(), o.client[lyceum.V1], code, callback, verifier)
}

func (o *office) tokens(t *testing.T) access.Tokens {
	t.Helper()
	tokens, err := o.exchange(o.code(t), "")
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func (o *office) refresh(token, scope string) (access.Tokens, error) {
	return o.oauth.Refresh(context.Background(), o.client[lyceum.V1], token, scope)
}

func (o *office) alive(tokens access.Tokens) bool {
	_, err := o.oauth.Bearer(context.Background(), tokens.AccessToken)
	return err == nil
}

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || lyceum.Public(err).Code != want {
		t.Fatalf("error %v with code %q, want %q", err, lyceum.Public(err).Code, want)
	}
}

func TestA4_RedirectURLs(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	sandbox := access.NewApps(o.store, o.clock.Now, o.oauth, true)
	for address, taken := range map[string]string{
		"https://app.example.com/callback": "everywhere", "https://app.example.com": "everywhere", "https://app.example.com/cb?a=1": "everywhere",
		"https://app.example.com:8443/cb": "everywhere", "https://[2001:db8::1]/cb": "everywhere",
		"http://localhost:3000/cb": "sandbox", "http://127.0.0.1/cb": "sandbox", "http://[::1]:80/cb": "sandbox",
		"http://app.example.com/cb": "", "https://": "", "https:///cb": "", "https://app.example.com/#x": "", "https://app.example.com/#": "",
		"/callback": "", "app.example.com": "", "": "", "javascript:alert(1)": "", "https://user@app.example.com/": "", "https://app.example.com/a b": "",
		"https://app.example.com\\@evil.example/": "", "HTTPS://app.example.com/cb\r\nX: y": "", "http://localhost.evil.example/": "", "ftp://127.0.0.1/": "",
		"https://app.example.com/" + strings.Repeat("a", 2000): "", "https://app.example.com/\x00": "", "https://app.example.com/\xff": "",
	} {
		form := access.AppForm{Name: "App", RedirectURL: address, Version: lyceum.V1}
		_, _, err := o.apps.Register(t.Context(), lyceum.By{School: o.school, Actor: "test"}, form)
		_, _, inSandbox := sandbox.Register(t.Context(), lyceum.By{School: o.school, Actor: "test"}, form)
		if (err == nil) != (taken == "everywhere") || (inSandbox == nil) != (taken != "") {
			t.Errorf("%q: %v, in a sandbox %v; want it taken %q", address, err, inSandbox, taken)
		}
	}
	got, err := access.RedirectWith("https://app.example.com/cb?a=1", map[string][]string{"code": {"x y"}})
	if err != nil || got != "https://app.example.com/cb?a=1&code=x+y" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestA9_A10_A11_Scopes(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	for _, tc := range []struct {
		version                         lyceum.InterfaceVersion
		required, optional, scope, want string
	}{
		{lyceum.V1, "name:read email:read", "courses:read", "", "email:read name:read"},
		{lyceum.V1, "courses:update", "", "", "courses:update"},
		{lyceum.V1, "", "courses:read", "name:read", "name:read"},
		{lyceum.V1, "profile:read", "", "", ""},
		{lyceum.V1, "name:read", "everything", "", ""},
		{lyceum.V1, "name:read everything", "", "", ""},
		{lyceum.V1, "", "", "", ""},
		{lyceum.V1, "", "name:read", "", ""},
		{lyceum.V1, "Name:Read", "", "", ""},
		{lyceum.V2, "name:read email:read", "", "", "profile:read"},
		{lyceum.V2, "courses:update", "", "", "courses:write"},
		{lyceum.V2, "profile:read digital-downloads:read", "", "", "digital-downloads:read profile:read"},
		{lyceum.V2, "courses:all", "", "", ""},
	} {
		request, err := o.oauth.Examine(o.app[tc.version], access.AuthorizationParams{ResponseType: "code", RequiredScopes: tc.required, OptionalScopes: tc.optional, Scope: tc.scope})
		if tc.want == "" {
			if err == nil || lyceum.Public(err).Code != "invalid_scope" {
				t.Errorf("%+v: %v", tc, err)
			}
			continue
		}
		if err != nil || request.Required.String() != tc.want {
			t.Errorf("%+v: %q, %v", tc, request.Required, err)
		}
	}
}

func TestA16_CodesLiveAMinuteAndAreNeverTheSame(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		early, late := o.code(t), o.code(t)
		o.clock.Pass(access.CodeLifetime - time.Second)
		if _, err := o.exchange(early, ""); err != nil {
			t.Error("after 59 seconds:", err)
		}
		o.clock.Pass(time.Second)
		_, err := o.exchange(late, "")
		wantCode(t, err, "invalid_grant")
	})
	seen := map[string]bool{}
	for range 100_000 {
		e := access.NewEntropy()
		seen[string(e[:])] = true
	}
	if len(seen) != 100_000 {
		t.Errorf("%d secrets of 100,000 are different", len(seen))
	}
}

func TestC11_C12_CodeIsTheAppsOwn(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		code := o.code(t)
		own := o.client[lyceum.V1]
		o.register(t, lyceum.V1, access.AppForm{Name: "Other", RedirectURL: callback, Version: lyceum.V1})
		_, err := o.exchange(code, "")
		wantCode(t, err, "invalid_grant")
		for _, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
			other := o.client[version]
			other.Version = lyceum.V1 + lyceum.V2 - version
			_, err := o.oauth.Exchange(t.Context(), other, code, callback, "")
			wantCode(t, err, "invalid_client")
		}
		o.client[lyceum.V1] = own
		if _, err := o.exchange(code, ""); err != nil {
			t.Error("its own app:", err)
		}
	})
}

func TestC13_C17_FailureDoesNotSpendTheCode(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		verifier := strings.Repeat("v", 43)
		code := o.code(t, challenged(verifier))
		for what, try := range map[string]func() error{
			"another redirect_uri": func() error {
				_, err := o.oauth.Exchange(t.Context(), o.client[lyceum.V1], code, callback+"/", verifier)
				return err
			},
			"no verifier":    func() error { _, err := o.exchange(code, ""); return err },
			"wrong verifier": func() error { _, err := o.exchange(code, strings.Repeat("w", 43)); return err },
			"wrong secret": func() error {
				client := o.client[lyceum.V1]
				client.Secret += "x"
				_, err := o.oauth.Exchange(t.Context(), client, code, callback, verifier)
				return err
			},
		} {
			if try() == nil {
				t.Errorf("%s is taken", what)
			}
		}
		if _, err := o.exchange(code, verifier); err != nil {
			t.Error("then the right one:", err)
		}
	})
}

func TestC14_C15_Replay(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		verifier := strings.Repeat("v", 43)
		code := o.code(t, challenged(verifier))
		tokens, err := o.exchange(code, verifier)
		if err != nil {
			t.Fatal(err)
		}
		_, err = o.exchange(code, strings.Repeat("w", 43))
		wantCode(t, err, "invalid_grant")
		if !o.alive(tokens) {
			t.Fatal("a replay with a wrong verifier has ended the tokens")
		}
		_, err = o.exchange(code, verifier)
		wantCode(t, err, "invalid_grant")
		if o.alive(tokens) {
			t.Error("the access token outlives the replay")
		}
		_, err = o.refresh(tokens.RefreshToken, "")
		wantCode(t, err, "invalid_grant")
	})
}

// TestC16_OneOfManyRedemptions checks that if fifty clients exchange one code concurrently,
// only one gets tokens.
func TestC16_OneOfManyRedemptions(t *testing.T) {
	const codes, tries = 100, 50
	onBothEngines(t, func(t *testing.T, o *office) {
		var won, failed atomic.Int64
		for range codes {
			code := o.code(t)
			var group sync.WaitGroup
			begin := make(chan struct{})
			for range tries {
				group.Go(func() {
					<-begin
					switch _, err := o.exchange(code, ""); {
					case err == nil:
						won.Add(1)
					case lyceum.Public(err).Code != "invalid_grant":
						failed.Add(1)
					}
				})
			}
			close(begin)
			group.Wait()
		}
		if won.Load() != codes || failed.Load() != 0 {
			t.Errorf("%d of %d codes were exchanged, %d tries failed otherwise", won.Load(), codes, failed.Load())
		}
	})
}

func TestC23_WhatIsSwitchedOffIsRefusedAtOnce(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		for what, off := range map[string]func() (on func()){
			"app": func() func() {
				id := o.app[lyceum.V1].ID
				if _, err := o.apps.Disable(t.Context(), lyceum.By{School: o.school, Actor: "test"}, id, true); err != nil {
					t.Fatal(err)
				}
				return func() { _, _ = o.apps.Disable(t.Context(), lyceum.By{School: o.school, Actor: "test"}, id, false) }
			},
			"user": func() func() {
				user := storetest.User(t, o.store, o.school, learner)
				on := user
				user.DisabledAt = lyceum.Some(o.clock.Now())
				o.save(t, user)
				o.clock.Pass(6 * time.Second) // another service may have made the change
				return func() { o.save(t, on); o.clock.Pass(6 * time.Second) }
			},
			"erased person": func() func() {
				user := storetest.User(t, o.store, o.school, learner)
				on := user
				user.ErasedAt = lyceum.Some(o.clock.Now())
				o.save(t, user)
				o.clock.Pass(6 * time.Second)
				return func() { o.save(t, on); o.clock.Pass(6 * time.Second) }
			},
		} {
			tokens, code := o.tokens(t), o.code(t)
			on := off()
			if o.alive(tokens) {
				t.Errorf("%s off: the access token is good", what)
			}
			if _, err := o.refresh(tokens.RefreshToken, ""); err == nil {
				t.Errorf("%s off: the refresh token is good", what)
			}
			if _, err := o.exchange(code, ""); err == nil {
				t.Errorf("%s off: the code is good", what)
			}
			on()
			if !o.alive(tokens) {
				t.Errorf("%s on again: the access token is not good", what)
			}
		}
		tokens := o.tokens(t)
		if err := o.apps.Delete(t.Context(), lyceum.By{School: o.school, Actor: "test"}, o.app[lyceum.V1].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := o.refresh(tokens.RefreshToken, ""); err == nil || o.alive(tokens) {
			t.Error("tokens outlive their app")
		}
		if apps, err := o.apps.List(t.Context(), o.by()); err != nil || len(apps) != 1 {
			t.Errorf("%d apps are left, %v", len(apps), err)
		}
	})
}

func TestC24_CodeOfAnOldRedirectURLFails(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	code := o.code(t)
	form := access.AppForm{Name: "Ledger", RedirectURL: "https://new.example.com/", Version: lyceum.V1}
	if _, err := o.apps.Change(t.Context(), lyceum.By{School: o.school, Actor: "test"}, o.app[lyceum.V1].ID, form); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{callback, "https://new.example.com/"} {
		_, err := o.oauth.Exchange(t.Context(), o.client[lyceum.V1], code, uri, "")
		wantCode(t, err, "invalid_grant")
	}
}

func challenged(verifier string) func(*access.AuthorizationParams) {
	digest := sha256.Sum256([]byte(verifier))
	return func(a *access.AuthorizationParams) { a.CodeChallenge = base64.RawURLEncoding.EncodeToString(digest[:]) }
}

func TestD1_D2_D4_Verifiers(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	// The test vector of RFC 7636, appendix B.
	vector := func(a *access.AuthorizationParams) { a.CodeChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" }
	if _, err := o.exchange(o.code(t, vector), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"); err != nil {
		t.Error("the RFC's verifier:", err)
	}
	for _, tc := range []struct{ made, given, want string }{
		{strings.Repeat("a", 43), "", "invalid_grant"},
		{strings.Repeat("a", 43), strings.Repeat("b", 43), "invalid_grant"},
		{strings.Repeat("a", 42), strings.Repeat("a", 42), "invalid_request"},
		{strings.Repeat("a", 129), strings.Repeat("a", 129), "invalid_request"},
		{strings.Repeat("a", 42) + "=", strings.Repeat("a", 42) + "=", "invalid_request"},
		{strings.Repeat("a", 42) + "+", strings.Repeat("a", 42) + "+", "invalid_request"},
		{strings.Repeat("a", 42) + "/", strings.Repeat("a", 42) + "/", "invalid_request"},
		{strings.Repeat("-._~", 11), strings.Repeat("-._~", 11), ""},
		{strings.Repeat("z", 128), strings.Repeat("z", 128), ""},
	} {
		_, err := o.exchange(o.code(t, challenged(tc.made)), tc.given)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || lyceum.Public(err).Code != tc.want) {
			t.Errorf("%q: %v, want %q", tc.given, err, tc.want)
		}
	}
	// Nobody may strip the challenge (RFC 9700, section 4.8.2).
	code := o.code(t)
	if _, err := o.exchange(code, strings.Repeat("a", 43)); err == nil {
		t.Error("a verifier without a challenge is taken")
	}
	if _, err := o.exchange(code, ""); err != nil {
		t.Error("and it has spent the code:", err)
	}
}

func TestD3_D4_D7_Challenges(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	strict := o.app[lyceum.V1]
	strict.RequirePKCE = true
	good := "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	for _, tc := range []struct {
		app               lyceum.OAuthApp
		challenge, method string
		taken             bool
	}{
		{o.app[lyceum.V1], "", "", true},
		{o.app[lyceum.V1], good, "", true},
		{o.app[lyceum.V1], good, "S256", true},
		{o.app[lyceum.V1], good, "plain", false},
		{o.app[lyceum.V1], good, "s256", false},
		{o.app[lyceum.V1], good, "S512", false},
		{o.app[lyceum.V1], "", "S256", false},
		{o.app[lyceum.V1], good[:42], "", false},
		{o.app[lyceum.V1], good + "A", "", false},
		{o.app[lyceum.V1], good + "=", "", false},
		{o.app[lyceum.V1], strings.Replace(good, "-", "+", 1), "", false},
		{strict, "", "", false},
		{strict, good, "", true},
	} {
		_, err := o.oauth.Examine(tc.app, asked(func(a *access.AuthorizationParams) { a.CodeChallenge, a.CodeChallengeMethod = tc.challenge, tc.method }))
		if tc.taken != (err == nil) || err != nil && lyceum.Public(err).Code != "invalid_request" {
			t.Errorf("%q %q with PKCE required %t: %v", tc.challenge, tc.method, tc.app.RequirePKCE, err)
		}
	}
}

func TestD8_ReusedChallengesAreCounted(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	o.code(t)
	o.code(t)
	o.code(t, challenged(strings.Repeat("a", 43)))
	if n := o.oauth.ReusedChallenges(); n != 0 {
		t.Errorf("%d challenges are reused, want none", n)
	}
	o.code(t, challenged(strings.Repeat("a", 43)))
	if n := o.oauth.ReusedChallenges(); n != 1 {
		t.Errorf("%d challenges are reused, want 1", n)
	}
}

func TestE1_E2_RefreshTokenIsTheAppsOwnAndNarrows(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		tokens := o.tokens(t)
		if tokens.Scopes.String() != "courses:read email:read name:read" || tokens.ExpiresIn != 7200 {
			t.Errorf("tokens of %q for %d seconds", tokens.Scopes, tokens.ExpiresIn)
		}
		own := o.client[lyceum.V1]
		o.register(t, lyceum.V1, access.AppForm{Name: "Other", RedirectURL: callback, Version: lyceum.V1})
		_, err := o.refresh(tokens.RefreshToken, "")
		wantCode(t, err, "invalid_grant")
		o.client[lyceum.V1] = own

		narrow, err := o.refresh(tokens.RefreshToken, "name:read")
		if err != nil || narrow.Scopes.String() != "name:read" || narrow.RefreshToken != tokens.RefreshToken {
			t.Fatalf("narrowed: %q, %v", narrow.Scopes, err)
		}
		if l, err := o.oauth.Bearer(t.Context(), narrow.AccessToken); err != nil || l.Scopes.String() != "name:read" || l.User != learner {
			t.Errorf("the narrowed token is for %+v, %v", l, err)
		}
		for _, scope := range []string{"courses:update", "name:read courses:update", "everything", " "} {
			_, err := o.refresh(tokens.RefreshToken, scope)
			wantCode(t, err, "invalid_scope")
		}
		whole, err := o.refresh(tokens.RefreshToken, "")
		if err != nil || !slices.Equal(whole.Scopes, tokens.Scopes) {
			t.Errorf("the refresh token has kept %q, %v", whole.Scopes, err)
		}
	})
}

func (o *office) rotate(t *testing.T) { o.rotating(t, true) }

func (o *office) rotating(t *testing.T, on bool) {
	t.Helper()
	form := access.AppForm{Name: "Ledger", RedirectURL: callback, Version: lyceum.V1, RotateRefreshTokens: on}
	app, err := o.apps.Change(t.Context(), lyceum.By{School: o.school, Actor: "test"}, o.app[lyceum.V1].ID, form)
	if err != nil {
		t.Fatal(err)
	}
	o.app[lyceum.V1] = app
}

// TestE3_E4_RotationIsASwitch checks that refresh tokens stay the same, like the original's,
// unless the owner turns on rotation for an app.
func TestE3_E4_RotationIsASwitch(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		o.rotate(t)
		first := o.tokens(t)
		second, err := o.refresh(first.RefreshToken, "")
		if err != nil || second.RefreshToken == first.RefreshToken {
			t.Fatal("rotation gives no new token:", err)
		}
		o.clock.Pass(access.RotationGrace - time.Second)
		again, err := o.refresh(first.RefreshToken, "")
		if err != nil || again.RefreshToken == second.RefreshToken {
			t.Fatal("within the grace:", err)
		}
		o.clock.Pass(time.Second)
		_, err = o.refresh(first.RefreshToken, "")
		wantCode(t, err, "invalid_grant")
		for _, tokens := range []access.Tokens{first, second, again} {
			if o.alive(tokens) {
				t.Error("an access token outlives the reuse")
			}
		}
		_, err = o.refresh(second.RefreshToken, "")
		wantCode(t, err, "invalid_grant")

		grandparent := o.tokens(t)
		parent, err := o.refresh(grandparent.RefreshToken, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.refresh(parent.RefreshToken, ""); err != nil {
			t.Fatal(err)
		}
		_, err = o.refresh(grandparent.RefreshToken, "") // within the grace period, but its successor was used
		wantCode(t, err, "invalid_grant")
		if o.alive(parent) {
			t.Error("a grandparent's reuse ends nothing")
		}
	})
}

func TestE5_R9_RefreshingAtOnce(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		o.rotate(t)
		tokens := o.tokens(t)
		var won atomic.Int64
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				if _, err := o.refresh(tokens.RefreshToken, ""); err == nil {
					won.Add(1)
				}
			})
		}
		group.Wait()
		if won.Load() != 50 || !o.alive(tokens) {
			t.Errorf("%d of 50 within the grace were given tokens; the first is alive: %t", won.Load(), o.alive(tokens))
		}
	})
}

func TestE6_RefreshTokensExpire(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	for range 5 { // each use restarts the period
		o.clock.Pass(access.RefreshIdle - time.Second)
		if o.clock.Now().Sub(storetest.Begin) >= access.RefreshAbsolute {
			break
		}
		if _, err := o.refresh(tokens.RefreshToken, ""); err != nil {
			t.Fatalf("after %v: %v", o.clock.Now().Sub(storetest.Begin), err)
		}
	}
	o.clock.Set(storetest.Begin.Add(access.RefreshAbsolute))
	_, err := o.refresh(tokens.RefreshToken, "")
	wantCode(t, err, "invalid_grant")

	idle := o.tokens(t)
	o.clock.Pass(access.RefreshIdle)
	_, err = o.refresh(idle.RefreshToken, "")
	wantCode(t, err, "invalid_grant")
}

func TestE7_NewPasswordEndsWhatWasGranted(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		tokens := o.tokens(t)
		session, _, err := o.signIn(t, "mira@example.com", password)
		if err != nil {
			t.Fatal(err)
		}
		link, err := o.accounts.NewPasswordLink(t.Context(), lyceum.By{School: o.school, Actor: "test"}, learner)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.accounts.SetPassword(t.Context(), o.school, link, "another four words entirely"); err != nil {
			t.Fatal(err)
		}
		if _, err := o.refresh(tokens.RefreshToken, ""); err == nil || o.alive(tokens) {
			t.Error("tokens outlive the password")
		}
		_, err = o.accounts.Session(t.Context(), o.school, session)
		wantKind(t, err, lyceum.NotFound)
		_, err = o.accounts.SetPassword(t.Context(), o.school, link, "a third one, with the same link")
		wantKind(t, err, lyceum.NotFound)
	})
}

func TestE8_TokensAreNotEachOther(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	_, err := o.oauth.Bearer(t.Context(), tokens.RefreshToken)
	wantKind(t, err, lyceum.Unauthenticated)
	_, err = o.refresh(tokens.AccessToken, "")
	wantCode(t, err, "invalid_grant")
}

func TestF7_R15_AccessTokensLiveTwoHours(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	o.clock.Pass(7199 * time.Second)
	if !o.alive(tokens) {
		t.Error("dead after 7199 seconds")
	}
	o.clock.Pass(time.Second)
	if o.alive(tokens) {
		t.Error("alive after 7200 seconds")
	}
	// R15: setting the clock back revives what expired by it, and nothing else.
	code := o.code(t)
	if _, err := o.exchange(code, ""); err != nil {
		t.Fatal(err)
	}
	o.clock.Pass(-time.Hour)
	if _, err := o.exchange(code, ""); err == nil {
		t.Error("a spent code is good again")
	}
}

func TestF5_AnotherProcessSeesARevocationWithinSeconds(t *testing.T) {
	for name, pass := range map[string]time.Duration{"as usual": 0, "after the clock was set back": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, openStore(t, t.TempDir()))
			other := access.NewOAuth(o.store, o.clock.Now)
			tokens := o.tokens(t)
			if _, err := other.Bearer(t.Context(), tokens.AccessToken); err != nil {
				t.Fatal(err)
			}
			o.clock.Pass(pass)
			if err := o.oauth.Revoke(t.Context(), o.client[lyceum.V1], tokens.RefreshToken); err != nil {
				t.Fatal(err)
			}
			if o.alive(tokens) {
				t.Error("good here after it was revoked here")
			}
			o.clock.Pass(5 * time.Second)
			if _, err := other.Bearer(t.Context(), tokens.AccessToken); err == nil {
				t.Error("good elsewhere after five seconds")
			}
		})
	}
}

func TestG1_G2_G3_Revocation(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		tokens := o.tokens(t)
		own := o.client[lyceum.V1]
		o.register(t, lyceum.V1, access.AppForm{Name: "Other", RedirectURL: callback, Version: lyceum.V1})
		for _, token := range []string{tokens.AccessToken, tokens.RefreshToken} {
			wantCode(t, o.oauth.Revoke(t.Context(), o.client[lyceum.V1], token), "unauthorized_client")
		}
		wrong := own
		wrong.Secret = "x"
		wantCode(t, o.oauth.Revoke(t.Context(), wrong, tokens.AccessToken), "invalid_client")
		if !o.alive(tokens) {
			t.Fatal("what was refused has revoked")
		}
		for _, unknown := range []string{"x", "lyceum_at_1_" + strings.Repeat("0", 49), tokens.AccessToken + "x"} {
			if err := o.oauth.Revoke(t.Context(), own, unknown); err != nil {
				t.Errorf("%q: %v", unknown, err)
			}
		}
		o.client[lyceum.V1] = own
		if err := o.oauth.Revoke(t.Context(), own, tokens.AccessToken); err != nil || o.alive(tokens) {
			t.Error("the access token is not revoked:", err)
		}
		next, err := o.refresh(tokens.RefreshToken, "")
		if err != nil {
			t.Fatal("the refresh token went with the access token:", err)
		}
		if err := o.oauth.Revoke(t.Context(), own, tokens.RefreshToken); err != nil || o.alive(next) {
			t.Error("an access token outlives its refresh token:", err)
		}
	})
}

func TestH2_Introspection(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	own := o.client[lyceum.V1]
	about, err := o.oauth.Introspect(t.Context(), own, tokens.AccessToken)
	if err != nil || !about.Active || about.User != learner || about.ExpiresAt.Sub(about.IssuedAt) != access.AccessLifetime || !about.Access {
		t.Errorf("%+v, %v", about, err)
	}
	if about, err = o.oauth.Introspect(t.Context(), own, tokens.RefreshToken); err != nil || !about.Active || about.Access {
		t.Errorf("%+v, %v", about, err)
	}
	silent := func(what string, client access.Client, token string) {
		t.Helper()
		about, err := o.oauth.Introspect(t.Context(), client, token)
		if err != nil || about.Active || about.ClientID != "" || about.User != 0 || about.Scopes != nil {
			t.Errorf("%s: %+v, %v", what, about, err)
		}
	}
	silent("garbage", own, "x")
	used := o.tokens(t)
	for at := storetest.Begin; at.Before(storetest.Begin.Add(access.RefreshAbsolute)); at = at.Add(60 * 24 * time.Hour) {
		o.clock.Set(at)
		if _, err := o.refresh(used.RefreshToken, ""); err != nil {
			t.Fatal(err)
		}
		want := at.Add(access.RefreshIdle)
		if last := storetest.Begin.Add(access.RefreshAbsolute); want.After(last) {
			want = last
		}
		if about, err = o.oauth.Introspect(t.Context(), own, used.RefreshToken); err != nil || !about.ExpiresAt.Equal(want) {
			t.Errorf("at %v: a refresh token expires at %v, want %v, %v", at, about.ExpiresAt, want, err)
		}
	}
	o.clock.Set(storetest.Begin)
	o.register(t, lyceum.V1, access.AppForm{Name: "Other", RedirectURL: callback, Version: lyceum.V1})
	silent("another app's", o.client[lyceum.V1], tokens.AccessToken)
	o.clock.Pass(access.AccessLifetime)
	silent("expired", own, tokens.AccessToken)
	if err := o.oauth.Revoke(t.Context(), own, tokens.RefreshToken); err != nil {
		t.Fatal(err)
	}
	silent("revoked", own, tokens.RefreshToken)
}

func TestC10_WrongSecretsAreBounded(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	wrong := o.client[lyceum.V1]
	wrong.Secret = "x"
	limited := 0
	for range 100 {
		if _, err := o.oauth.Refresh(t.Context(), wrong, tokens.RefreshToken, ""); lyceum.KindOf(err) == lyceum.RateLimited {
			limited++
		}
	}
	if limited != 80 {
		t.Errorf("%d of 100 wrong secrets are refused for their number, want 80", limited)
	}
	if _, err := o.refresh(tokens.RefreshToken, ""); err != nil {
		t.Error("the right secret from the same address:", err)
	}
	o.clock.Pass(time.Minute)
	if _, err := o.oauth.Refresh(t.Context(), wrong, tokens.RefreshToken, ""); lyceum.KindOf(err) != lyceum.Unauthenticated {
		t.Error("a wrong one a minute later:", err)
	}
}

func TestOldSecretStaysGoodForAWhile(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	old := o.client[lyceum.V1]
	_, secret, err := o.apps.Rotate(t.Context(), lyceum.By{School: o.school, Actor: "test"}, o.app[lyceum.V1].ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	fresh := old
	fresh.Secret = secret
	for _, client := range []access.Client{old, fresh} {
		if _, err := o.oauth.Refresh(t.Context(), client, tokens.RefreshToken, ""); err != nil {
			t.Error("within the hour:", err)
		}
	}
	o.clock.Pass(time.Hour)
	_, err = o.oauth.Refresh(t.Context(), old, tokens.RefreshToken, "")
	wantCode(t, err, "invalid_client")
	if _, err := o.oauth.Refresh(t.Context(), fresh, tokens.RefreshToken, ""); err != nil {
		t.Error("the new secret after the hour:", err)
	}
	for _, keep := range []time.Duration{-1, 721 * time.Hour} {
		if _, _, err := o.apps.Rotate(t.Context(), lyceum.By{School: o.school, Actor: "test"}, o.app[lyceum.V1].ID, keep); lyceum.KindOf(err) != lyceum.Invalid {
			t.Errorf("an old secret for %v: %v", keep, err)
		}
	}
}

func TestB12_TakeBack(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	if !o.alive(tokens) {
		t.Fatal("the token is not good")
	}
	grants, apps := o.oauth.Uses()
	if err := o.store.Bookkeep(t.Context(), lyceum.Bookkeeping{GrantUses: grants, AppUses: apps}); err != nil {
		t.Fatal(err)
	}
	granted, err := o.apps.GrantedBy(t.Context(), o.by(), learner)
	if err != nil || len(granted) != 1 || granted[0].App.Name != "Ledger" || !granted[0].LastUsed.Present || !granted[0].App.LastUsedAt.Present {
		t.Fatalf("%+v, %v", granted, err)
	}
	if err := o.apps.TakeBack(t.Context(), o.by(), learner, granted[0].App.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := o.refresh(tokens.RefreshToken, ""); err == nil || o.alive(tokens) {
		t.Error("tokens outlive the grant")
	}
	if granted, err := o.apps.GrantedBy(t.Context(), o.by(), learner); err != nil || len(granted) != 0 {
		t.Errorf("%+v is granted, %v", granted, err)
	}
}

func TestMeShowsWhatWasGranted(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	tokens := o.tokens(t)
	for scope, want := range map[string]string{
		"name:read": "Mira Okafor/", "email:read": "/Mira@example.com", "name:read email:read": "Mira Okafor/Mira@example.com", "courses:read": "403",
	} {
		narrow, err := o.refresh(tokens.RefreshToken, scope)
		if err != nil {
			t.Fatal(err)
		}
		l, err := o.oauth.Bearer(t.Context(), narrow.AccessToken)
		if err != nil {
			t.Fatal(err)
		}
		me := l.Me()
		got := me.Name.Value + "/" + me.Email.Value
		if err := l.May(lyceum.V1, "getCurrentUser"); err != nil {
			wantCode(t, err, "access_forbidden")
			got = "403"
		}
		if got != want {
			t.Errorf("%s shows %s, want %s", scope, got, want)
		}
		wantCode(t, l.May(lyceum.V2, "getCurrentUser"), "access_forbidden") // F10
	}
}

// TestRevocationDuringALookUp checks that a token that is revoked while it is being looked up
// is not cached as valid.
func TestRevocationDuringALookUp(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	for range 20 {
		tokens := o.tokens(t)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { _, _ = o.oauth.Bearer(context.Background(), tokens.AccessToken) })
		}
		if err := o.oauth.Revoke(t.Context(), o.client[lyceum.V1], tokens.AccessToken); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		if o.alive(tokens) {
			t.Fatal("a revoked token is good")
		}
	}
}

func TestSweepLeavesWhatIsStillWanted(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		tokens := o.tokens(t)
		session, _, err := o.signIn(t, "mira@example.com", password)
		if err != nil {
			t.Fatal(err)
		}
		sweep := func() {
			t.Helper()
			if err := access.Sweep(t.Context(), o.store, o.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		sweep()
		if _, err := o.accounts.Session(t.Context(), o.school, session); err != nil || !o.alive(tokens) {
			t.Fatal("what is in use is swept out:", err)
		}
		o.clock.Pass(25 * time.Hour)
		for i := range 3 { // more than one statement's worth would take long here
			o.clock.Pass(time.Duration(i))
			sweep()
		}
		if _, err := o.refresh(tokens.RefreshToken, ""); err != nil {
			t.Error("the refresh token is swept out:", err)
		}
		o.clock.Pass(20 * 24 * time.Hour)
		sweep()
		hash := access.HashSecret(session)
		v := o.store.In(t.Context(), o.school)
		_, err = v.Sessions.Get(v, hash)
		wantKind(t, err, lyceum.NotFound)
		_, err = v.AccessTokens.Get(v, access.HashSecret(tokens.AccessToken))
		wantKind(t, err, lyceum.NotFound)
		if _, err := v.RefreshTokens.Get(v, access.HashSecret(tokens.RefreshToken)); err != nil {
			t.Error(err)
		}
		o.clock.Pass(access.RefreshIdle + 25*time.Hour)
		sweep()
		_, err = v.RefreshTokens.Get(v, access.HashSecret(tokens.RefreshToken))
		wantKind(t, err, lyceum.NotFound)
	})
}

func FuzzScopes(f *testing.F) {
	for _, seed := range []string{"", "name:read", " name:read  email:read ", "profile:read\x00", "\xff", strings.Repeat("a ", 1000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set := lyceum.ParseScopes(text)
		if again := lyceum.ParseScopes(set.String()); !slices.Equal(again, set) {
			t.Errorf("%q is %q and then %q", text, set, again)
		}
		if !set.Covers(set) || len(set) > 0 && !set.Has(set[0]) {
			t.Errorf("%q has not what it has", set)
		}
	})
}

func FuzzCheckPassword(f *testing.F) {
	good := access.HashPassword("x", [16]byte{1})
	for _, seed := range []string{good, "", "$", "$argon2id$v=19$m=1,t=1,p=1$AA$AA", "$argon2id$v=19$m=19456,t=2,p=1$$", strings.Replace(good, "v=19", "v=18", 1), "$2a$10$abc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, kept string) {
		if len(kept) > 200 {
			return // stored text is never that long
		}
		if good, err := access.CheckPassword("not x", kept); good && err == nil && !strings.HasPrefix(kept, "$argon2id$") {
			t.Errorf("%q is taken", kept)
		}
	})
}
