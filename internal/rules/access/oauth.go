package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The lifetimes of what OAuth issues.
const (
	CodeLifetime   = time.Minute
	AccessLifetime = 7200 * time.Second // docs/oauth.md
	// A refresh token expires if it was not used for RefreshIdle, and in any case
	// RefreshAbsolute after the first token of its line was issued (RFC 9700, section 4.14.2).
	RefreshIdle     = 90 * 24 * time.Hour
	RefreshAbsolute = 365 * 24 * time.Hour
	// RotationGrace is how long a rotated refresh token can still be exchanged for a new one,
	// for a client that lost the response.
	RotationGrace = 30 * time.Second
)

// OAuth allows apps to act for learners: OAuth 2.0 with the authorization code grant, PKCE and
// refresh tokens, according to docs/oauth.md, RFC 6749, RFC 7636 and RFC 9700. It is safe for
// concurrent use.
type OAuth struct {
	// Traces records replayed codes and tokens, and sign-ins.
	Traces *Traces

	store   lyceum.Store
	clock   func() time.Time
	entropy func() Entropy
	grace   time.Duration
	wrong   *Tries // of client secrets
	unknown *Tries // of client ids that no app has: nothing can be guessed, so each process counts separately

	mu         sync.RWMutex
	known      map[lyceum.KeyHash]knownToken
	generation int // of known; the result of a lookup that began in an earlier one is not cached

	challenges challenges

	useMu     sync.Mutex
	grantUses map[grantName]time.Time
	appUses   map[appName]time.Time
}

type grantName struct {
	school lyceum.SchoolID
	grant  lyceum.GrantID
}

type appName struct {
	school lyceum.SchoolID
	app    lyceum.OAuthAppID
}

// NewOAuth returns an OAuth for a store.
func NewOAuth(store lyceum.Store, clock func() time.Time) *OAuth {
	return &OAuth{
		Traces: NewTraces(store, clock),
		store:  store, clock: clock, entropy: NewEntropy, grace: RotationGrace,
		wrong:   sharedTries(store, clock, "client secret", Bounds{Minute: maxWrongSecrets}),
		unknown: NewTries(clock, Bounds{Minute: maxWrongSecrets}),
		known:   map[lyceum.KeyHash]knownToken{}, grantUses: map[grantName]time.Time{}, appUses: map[appName]time.Time{},
	}
}

// maxWrongSecrets is how many times a minute one address is told that a secret of one app is
// wrong.
const maxWrongSecrets = 20

// refusal returns an OAuth error. The code is one of RFC 6749's; both code and sentence are
// sent to the client, so the sentence must be plain ASCII without quotation marks.
func refusal(code, sentence string) *lyceum.Error {
	return &lyceum.Error{Kind: lyceum.Invalid, Code: code, Detail: sentence}
}

// The error codes of RFC 6749, sections 4.1.2.1 and 5.2.
const (
	codeInvalidRequest   = "invalid_request"
	codeInvalidClient    = "invalid_client"
	codeInvalidGrant     = "invalid_grant"
	codeInvalidScope     = "invalid_scope"
	codeUnauthorized     = "unauthorized_client"
	codeUnsupportedGrant = "unsupported_grant_type"
	codeUnsupportedType  = "unsupported_response_type"
)

// AuthorizationParams is an authorization request as received. An absent parameter is empty
// (RFC 6749, section 3.1).
type AuthorizationParams struct {
	ClientID, RedirectURI, ResponseType       string
	RequiredScopes, OptionalScopes, Scope     string
	CodeChallenge, CodeChallengeMethod, State string
}

// Request is a valid authorization request.
type Request struct {
	App       lyceum.OAuthApp
	Required  lyceum.Scopes
	Optional  lyceum.Scopes // without those in Required
	Challenge lyceum.Opt[string]
	State     string
}

// Identify finds the app of an authorization request. Its errors must be shown to the person
// and never be sent to the Redirect URL (RFC 6749, section 4.1.2.1).
func (o *OAuth) Identify(
	ctx context.Context, school lyceum.SchoolID, params AuthorizationParams,
) (lyceum.OAuthApp, error) {
	if params.ClientID == "" {
		return lyceum.OAuthApp{}, refusal(codeInvalidRequest, "The app did not say which app it is: client_id is missing.")
	}
	app, found, err := o.appOf(ctx, school, params.ClientID)
	if err != nil {
		return lyceum.OAuthApp{}, err
	}
	if !found {
		return lyceum.OAuthApp{}, refusal(codeInvalidRequest, "This school has no app with that client_id.")
	}
	if !app.Active() {
		return lyceum.OAuthApp{}, refusal(codeInvalidRequest, "The school has disabled this app.")
	}
	if params.RedirectURI != "" && params.RedirectURI != app.RedirectURL {
		return lyceum.OAuthApp{}, refusal(codeInvalidRequest,
			"The redirect_uri is not the Redirect URL that the school has registered for this app.")
	}
	return app, nil
}

// appOf finds the app with a client id, unless it is deleted.
func (o *OAuth) appOf(ctx context.Context, school lyceum.SchoolID, clientID string) (lyceum.OAuthApp, bool, error) {
	v := o.store.In(ctx, school)
	return v.OAuthApps.First(v, lyceum.OAuthAppFilter{ClientID: lyceum.Some(clientID), Undeleted: true})
}

// Examine validates an authorization request of an identified app. Its errors have one of RFC
// 6749's codes and are sent to the app after the person has signed in.
func (o *OAuth) Examine(app lyceum.OAuthApp, params AuthorizationParams) (Request, error) {
	r := Request{App: app, State: params.State}
	switch params.ResponseType {
	case "code":
	case "":
		return r, refusal(codeInvalidRequest, "response_type is missing; it must be code")
	default:
		return r, refusal(codeUnsupportedType, "response_type must be code")
	}
	required := params.RequiredScopes
	if required == "" {
		required = params.Scope
	}
	var ok1, ok2 bool
	r.Required, ok1 = listed(app.Version, required)
	r.Optional, ok2 = listed(app.Version, params.OptionalScopes)
	if !ok1 || !ok2 {
		return r, refusal(codeInvalidScope, "a requested scope does not exist in this version of the interface")
	}
	if len(r.Required) == 0 {
		return r, refusal(codeInvalidScope, "required_scopes is required; it takes scopes separated by spaces")
	}
	var optional []lyceum.Scope
	for _, scope := range r.Optional {
		if !r.Required.Has(scope) {
			optional = append(optional, scope)
		}
	}
	r.Optional = optional
	switch {
	case params.CodeChallenge == "" && params.CodeChallengeMethod != "":
		return r, refusal(codeInvalidRequest, "code_challenge_method was sent without code_challenge")
	case params.CodeChallenge == "" && app.RequirePKCE:
		return r, refusal(codeInvalidRequest, "code_challenge is missing; the school requires PKCE of this app")
	case params.CodeChallenge == "":
		return r, nil
	case params.CodeChallengeMethod != "" && params.CodeChallengeMethod != "S256":
		return r, refusal(codeInvalidRequest, "code_challenge_method must be S256")
	}
	if digest, err := base64.RawURLEncoding.Strict().DecodeString(params.CodeChallenge); err != nil ||
		len(digest) != sha256.Size {
		return r, refusal(codeInvalidRequest, "code_challenge must be the base64url of a SHA-256, 43 characters without "+
			"padding")
	}
	r.Challenge = lyceum.Some(params.CodeChallenge)
	return r, nil
}

// maxGrants is the most grants of one learner to one app. Another consent revokes those that were not
// used for longest.
const maxGrants = 100

// trimGrants revokes the grants of a learner to an app that another one leaves no room for, and returns
// whether there were any.
func trimGrants(tx lyceum.Tx, app lyceum.OAuthAppID, user lyceum.UserID, now time.Time) (bool, error) {
	kept, err := lyceum.All(tx.Grants, tx, lyceum.GrantFilter{
		App: lyceum.Some(app), User: lyceum.Some(user), Unrevoked: true,
	})
	if err != nil || len(kept) < maxGrants {
		return false, err
	}
	slices.SortStableFunc(kept, func(a, b lyceum.Grant) int {
		return a.LastUsedAt.Else(a.CreatedAt).Compare(b.LastUsedAt.Else(b.CreatedAt))
	})
	for _, old := range kept[:len(kept)-maxGrants+1] {
		if err := revokeGrant(tx, old, now); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Authorize stores what a learner granted an app on the consent page: the required scopes and
// the optional ones that were chosen. It returns the code, a secret that may only go into the
// redirect.
func (o *OAuth) Authorize(
	ctx context.Context, by lyceum.By, user lyceum.UserID, r Request, chosen lyceum.Scopes,
) (string, error) {
	if !r.Optional.Covers(chosen) {
		return "", refusal(codeInvalidRequest, "The form names a scope that the app did not ask for.")
	}
	now := o.clock()
	text := secretText(codePrefix, by.School, o.entropy())
	granted := lyceum.NewScopes(append(append([]lyceum.Scope{}, r.Required...), chosen...)...)
	if r.Challenge.Present {
		o.challenges.see(r.App.ClientID, r.Challenge.Value, now)
	}
	trimmed := false
	err := o.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) (err error) {
		if trimmed, err = trimGrants(tx, r.App.ID, user, now); err != nil {
			return err
		}
		id, err := tx.Grants.NextID(tx)
		if err != nil {
			return err
		}
		grant := lyceum.Grant{ID: id, App: r.App.ID, User: user, Scopes: granted, CreatedAt: now}
		if err := tx.Grants.Insert(tx, grant); err != nil {
			return err
		}
		code := lyceum.AuthorizationCode{
			Hash: HashSecret(text), Grant: id, RedirectURL: r.App.RedirectURL, Challenge: r.Challenge,
			CreatedAt: now, ExpiresAt: now.Add(CodeLifetime),
		}
		if err := tx.AuthorizationCodes.Insert(tx, code); err != nil {
			return err
		}
		// The owner may have changed the app since the consent page was shown.
		_, standing, err := tx.CodeStandings.Get(tx, code.Hash)
		if err == nil && (!standing.Good() || standing.App.RedirectURL != r.App.RedirectURL) {
			err = refusal(codeInvalidRequest, "The app was changed or disabled in the meantime. Go back to it and start again.")
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if trimmed {
		o.forgetAll()
	}
	return text, nil
}

// RedirectWith adds parameters to a registered Redirect URL and preserves its own query (RFC
// 6749, section 3.1.2).
func RedirectWith(registered string, parameters url.Values) (string, error) {
	to, err := url.Parse(registered)
	if err != nil {
		return "", err
	}
	query := parameters.Encode()
	if to.RawQuery != "" {
		query = to.RawQuery + "&" + query
	}
	to.RawQuery = query
	return to.String(), nil
}

// Client holds the credentials that an app presents at the token endpoint.
type Client struct {
	Version lyceum.InterfaceVersion // of the endpoint
	ID      string
	Secret  string
	From    string // the address of the request, for the count of wrong secrets
	// Admit counts the request after the secret was found right, and may reject it.
	Admit func(lyceum.SchoolID, lyceum.OAuthAppID) error
}

// authenticate finds the app of a client. Unknown ids, wrong secrets and apps of the other
// version fail alike. The right secret is always accepted, no matter how many wrong ones came
// from the same address before.
func (o *OAuth) authenticate(ctx context.Context, c Client) (lyceum.SchoolID, lyceum.OAuthApp, error) {
	school, app, err := o.clientApp(ctx, c)
	if err != nil {
		return 0, lyceum.OAuthApp{}, err
	}
	if c.Admit != nil {
		if err := c.Admit(school, app.ID); err != nil {
			return 0, lyceum.OAuthApp{}, err
		}
	}
	o.usedApp(school, app.ID)
	return school, app, nil
}

func (o *OAuth) clientApp(ctx context.Context, c Client) (lyceum.SchoolID, lyceum.OAuthApp, error) {
	school, ok := schoolOf(appPrefix, c.ID)
	if !ok {
		return 0, lyceum.OAuthApp{}, o.wrongClient(ctx, o.unknown, 0, c)
	}
	app, found, err := o.appOf(ctx, school, c.ID)
	if err != nil {
		return 0, lyceum.OAuthApp{}, err
	}
	if !found {
		return 0, lyceum.OAuthApp{}, o.wrongClient(ctx, o.unknown, 0, c)
	}
	hash := HashSecret(c.Secret)
	good := subtle.ConstantTimeCompare(hash[:], app.SecretHash[:]) == 1
	if app.OldSecretHash.Present && o.clock().Before(app.OldSecretUntil.Value) {
		good = good || subtle.ConstantTimeCompare(hash[:], app.OldSecretHash.Value[:]) == 1
	}
	if !good || !app.Active() || app.Version != c.Version {
		return 0, lyceum.OAuthApp{}, o.wrongClient(ctx, o.wrong, school, c)
	}
	return school, app, nil
}

var errSecretTries = &lyceum.Error{
	Kind: lyceum.RateLimited, Code: codeInvalidClient,
	Detail: "too many wrong client secrets from this address; try again in a minute",
}

// wrongClient counts wrong credentials; school is 0 if no app has the id.
func (o *OAuth) wrongClient(ctx context.Context, tries *Tries, school lyceum.SchoolID, c Client) error {
	if _, err := tries.try(ctx, school, c.ID+" "+c.From, errSecretTries); err != nil {
		return err
	}
	refused := refusal(codeInvalidClient,
		"the client credentials are not those of an app of this version of the interface")
	refused.Kind = lyceum.Unauthenticated
	return refused
}

// Tokens is the response of the token endpoint. The tokens are secrets.
type Tokens struct {
	AccessToken  string
	RefreshToken string
	ExpiresIn    int // seconds
	Scopes       lyceum.Scopes
}

var errGrant = refusal(codeInvalidGrant, "the code or refresh token is invalid: it is unknown, expired, used or "+
	"revoked, or was issued for another app, redirect_uri or code_verifier")

// Exchange exchanges a code for tokens. Everything is checked before the code is spent, so that
// a failed attempt spends nothing; a second exchange that is otherwise valid revokes the tokens
// of the first (RFC 6749, section 4.1.2; RFC 9700, section 4.2.4).
func (o *OAuth) Exchange(ctx context.Context, client Client, code, redirectURI, verifier string) (Tokens, error) {
	school, app, err := o.authenticate(ctx, client)
	if err != nil {
		return Tokens{}, err
	}
	if from, ok := schoolOf(codePrefix, code); !ok || from != school {
		return Tokens{}, errGrant
	}
	hash := HashSecret(code)
	v := o.store.In(ctx, school)
	kept, standing, err := v.CodeStandings.Get(v, hash)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return Tokens{}, errGrant
	}
	if err != nil {
		return Tokens{}, err
	}
	now := o.clock()
	if standing.App.ID != app.ID || !standing.Good() || kept.Expired(now) ||
		redirectURI != kept.RedirectURL || kept.RedirectURL != app.RedirectURL {
		return Tokens{}, errGrant
	}
	if err := checkVerifier(kept.Challenge, verifier); err != nil {
		return Tokens{}, err
	}
	tokens, issue := o.mint(school, standing.Grant, standing.Grant.Scopes, now)
	replayed := false
	err = o.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: appActor(app.ID)}, func(tx lyceum.Tx) error {
		spent, err := tx.SpendCode(hash, now, now.Add(RefreshAbsolute))
		if err != nil {
			return err
		}
		if replayed = !spent; replayed {
			return revokeGrant(tx, standing.Grant, now)
		}
		return issue(tx, nil)
	})
	if err != nil {
		return Tokens{}, err
	}
	if replayed {
		o.forgetAll()
		o.Traces.Add(ctx, Trace{
			Kind: CodeReplayed, School: school, User: standing.User.ID, Object: int32(kept.Grant), From: client.From,
		})
		return Tokens{}, errGrant
	}
	return tokens, nil
}

// checkVerifier checks a verifier against a code's challenge (RFC 7636, section 4.6). A
// verifier without a challenge is rejected too, so that an attacker who strips the challenge is
// detected (RFC 9700, section 4.8.2).
func checkVerifier(challenge lyceum.Opt[string], verifier string) error {
	if !challenge.Present {
		if verifier != "" {
			return errGrant
		}
		return nil
	}
	if verifier == "" {
		return errGrant
	}
	if len(verifier) < 43 || len(verifier) > 128 || strings.Trim(verifier, unreserved) != "" {
		return refusal(codeInvalidRequest, "code_verifier must be 43 to 128 characters of letters, digits, - . _ and ~")
	}
	digest := sha256.Sum256([]byte(verifier))
	if subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(digest[:])), []byte(challenge.Value)) != 1 {
		return errGrant
	}
	return nil
}

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// mint creates an access token and a refresh token for a grant, and returns a function that
// stores them. If that is passed an old refresh token, the new one continues its line.
func (o *OAuth) mint(
	school lyceum.SchoolID, grant lyceum.Grant, scopes lyceum.Scopes, now time.Time,
) (Tokens, func(lyceum.Tx, *lyceum.RefreshToken) error) {
	tokens := Tokens{
		AccessToken:  secretText(accessPrefix, school, o.entropy()),
		RefreshToken: secretText(refreshPrefix, school, o.entropy()),
		ExpiresIn:    int(AccessLifetime / time.Second),
		Scopes:       scopes,
	}
	return tokens, func(tx lyceum.Tx, old *lyceum.RefreshToken) error {
		refresh := lyceum.RefreshToken{
			Hash: HashSecret(tokens.RefreshToken), Grant: grant.ID, Scopes: grant.Scopes, CreatedAt: now, UsedAt: now,
			Family: now,
		}
		if old != nil {
			refresh.Family, refresh.Parent = old.Family, lyceum.Some(old.Hash)
		}
		if err := tx.RefreshTokens.Insert(tx, refresh); err != nil {
			return err
		}
		return tx.AccessTokens.Insert(tx, o.accessToken(tokens, grant.ID, now))
	}
}

func (o *OAuth) accessToken(tokens Tokens, grant lyceum.GrantID, now time.Time) lyceum.AccessToken {
	return lyceum.AccessToken{
		Hash: HashSecret(tokens.AccessToken), Grant: grant, Scopes: tokens.Scopes, CreatedAt: now,
		ExpiresAt: now.Add(AccessLifetime),
	}
}
