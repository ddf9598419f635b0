package oauth

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// authorization is an authorization request in progress.
type authorization struct {
	raw      string // the query string as received
	app      lyceum.OAuthApp
	request  access.Request
	problem  *lyceum.Error // reported to the app after the user has signed in
	appState string        // the state parameter, unless it was repeated
}

// consent is the data of the page on which the learner consents.
type consent struct {
	App                string
	Action             string
	Request            string // sealed
	Required, Optional []scope
	Host               string // where Authorize redirects to
	Again              string // this page, for a different user
}

type scope struct{ Name, Text string }

// readAuthorization parses an authorization request. Its error is shown to the user, because
// nothing may be redirected to an unknown app or to an address that is not the app's (RFC 6749,
// section 4.1.2.1).
func (p *pages) readAuthorization(r *http.Request, v *visit, raw string) (*authorization, error) {
	query, err := parseForm(raw)
	if err != nil {
		return nil, lyceum.Invalidf("The link that led here is broken, so nothing was changed. Go back to the app and " +
			"start again.")
	}
	for _, name := range []string{"client_id", "redirect_uri"} {
		if query.repeated[name] {
			return nil, lyceum.Invalidf("The app sent %s twice, so nothing was changed. Please report this to the app's "+
				"developer.", name)
		}
	}
	request := access.AuthorizationParams{
		ClientID: query.get("client_id"), RedirectURI: query.get("redirect_uri"), ResponseType: query.get("response_type"),
		RequiredScopes: query.get("required_scopes"), OptionalScopes: query.get("optional_scopes"), Scope: query.get("scope"),
		CodeChallenge: query.get("code_challenge"), CodeChallengeMethod: query.get("code_challenge_method"),
		State: query.get("state"),
	}
	a := &authorization{raw: raw}
	if a.app, err = p.OAuth.Identify(r.Context(), v.School.ID, request); err != nil {
		return nil, err
	}
	if !query.repeated["state"] {
		a.appState = request.State
	}
	for name := range query.repeated {
		if nameForMessage(name) == name {
			a.problem = &lyceum.Error{Kind: lyceum.Invalid, Code: "invalid_request", Detail: name + " must be sent once"}
			return a, nil
		}
	}
	if a.request, err = p.OAuth.Examine(a.app, request); err != nil {
		a.problem = lyceum.Public(err)
	}
	return a, nil
}

// issuer returns the issuer identifier for the version of an app (RFC 9207).
func (p *pages) issuer(version lyceum.InterfaceVersion) string {
	return fmt.Sprintf("%s/v%d", p.Site.BaseURL, version)
}

// sendBack redirects the browser to the app with a response.
func (p *pages) sendBack(w http.ResponseWriter, r *http.Request, a *authorization, response url.Values) error {
	if a.appState != "" {
		response.Set("state", a.appState)
	}
	response.Set("iss", p.issuer(a.app.Version))
	to, err := access.RedirectWith(a.app.RedirectURL, response)
	if err != nil {
		return fmt.Errorf("make the address of an app: %w", err)
	}
	see(w, r, to)
	return nil
}

func (p *pages) sendProblem(w http.ResponseWriter, r *http.Request, a *authorization) error {
	return p.sendBack(w, r, a, url.Values{"error": {a.problem.Code}, "error_description": {a.problem.Detail}})
}

// showConsent serves GET /secure/{school}/identity/oauth_provider/authorize. It changes nothing;
// only submitting the page does.
func (p *pages) showConsent(w http.ResponseWriter, r *http.Request, v *visit) error {
	a, err := p.readAuthorization(r, v, r.URL.RawQuery)
	if err != nil {
		return err
	}
	from := p.rememberFrom(w, r, a.raw)
	if v.User.ID == 0 {
		return p.toSignIn(w, r, v, r.URL.RawQuery)
	}
	if a.problem != nil {
		return p.sendProblem(w, r, a)
	}
	to, err := url.Parse(a.app.RedirectURL)
	if err != nil {
		return fmt.Errorf("read the address of an app: %w", err)
	}
	web.LetFormsLeave(w.Header())
	page := consent{
		App: web.Plain(a.app.Name), Action: v.path("oauth_provider/authorize"), Request: seal(v, a.raw, from),
		Required: scopes(a.app.Version, a.request.Required), Optional: scopes(a.app.Version, a.request.Optional),
		Host: to.Host, Again: v.path("oauth_provider/authorize") + "?" + a.raw,
	}
	return p.show(w, http.StatusOK, "consent.gohtml", v, view{Title: "Authorize “" + page.App + "”?", Data: page})
}

func scopes(version lyceum.InterfaceVersion, list lyceum.Scopes) []scope {
	var shown []scope
	for _, name := range access.ListScopes(version) {
		if list.Has(name) {
			shown = append(shown, scope{string(name), access.DescribeScope(version, name)})
		}
	}
	return shown
}

// allowProblem allows a form to redirect to the app if its next page is an invalid
// authorization request, which is reported to the app after the sign-in.
func (p *pages) allowProblem(w http.ResponseWriter, r *http.Request, v *visit, next string) {
	raw, ok := strings.CutPrefix(next, v.path("oauth_provider/authorize")+"?")
	if !ok {
		return
	}
	if a, err := p.readAuthorization(r, v, raw); err == nil && a.problem != nil {
		web.LetFormsLeave(w.Header())
	}
}

func (p *pages) toSignIn(w http.ResponseWriter, r *http.Request, v *visit, raw string) error {
	next := v.path("oauth_provider/authorize") + "?" + raw
	see(w, r, v.path("sign_in")+"?next="+url.QueryEscape(next))
	return nil
}

// submitConsent serves POST /secure/{school}/identity/oauth_provider/authorize. The request is
// the one that the page showed: it is sealed with the session, so that it cannot be replaced.
// If the seal is not valid, because the user has signed in again since, nothing is granted and
// the page is shown again.
func (p *pages) submitConsent(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, all, err := readForm(r)
	if err != nil {
		return err
	}
	raw, from, sealed, err := unseal(v, form.get("request"))
	if err != nil {
		return err
	}
	if v.User.ID == 0 {
		return p.toSignIn(w, r, v, raw)
	}
	if !sealed {
		see(w, r, v.path("oauth_provider/authorize")+"?"+raw)
		return nil
	}
	a, err := p.readAuthorization(r, v, raw)
	if err != nil {
		return err
	}
	if a.problem != nil { // the owner has changed the app in the meantime
		return p.sendProblem(w, r, a)
	}
	switch form.get("answer") {
	case "authorize":
	case "cancel":
		see(w, r, cmp.Or(from, "/account/apps?done=cancelled"))
		return nil
	default:
		return lyceum.Invalidf("The form does not say whether to authorize the app, so nothing was changed. Go back " +
			"and choose.")
	}
	var chosen []lyceum.Scope
	for _, name := range all["scope"] {
		chosen = append(chosen, lyceum.Scope(name))
	}
	code, err := p.OAuth.Authorize(r.Context(), v.by(), v.User.ID, a.request, lyceum.NewScopes(chosen...))
	if err != nil {
		return err
	}
	return p.sendBack(w, r, a, url.Values{"code": {code}})
}

// seal binds an authorization request, and the page that the user came from, to a session and a
// school.
func seal(v *visit, raw, from string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(raw)) + "." + encode([]byte(from)) + "." + encode(sealOf(v, raw, from))
}

func sealOf(v *visit, raw, from string) []byte {
	mac := hmac.New(sha256.New, []byte("consent "+v.secret))
	fmt.Fprintf(mac, "%d %s %s", v.School.ID, raw, from) // raw has no spaces
	return mac.Sum(nil)
}

// unseal returns what seal sealed, and whether the seal is of this session.
func unseal(v *visit, text string) (raw, from string, sealed bool, err error) {
	var parts [3][]byte
	for i, part := range strings.SplitN(text, ".", len(parts)) {
		if parts[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			break
		}
	}
	if err != nil || len(parts[0]) == 0 || bytes.ContainsAny(parts[0], "\r\n #") {
		return "", "", false, lyceum.Invalidf("The form does not say what the app asks for, so nothing was changed. Go " +
			"back to the app and start again.")
	}
	raw, from = string(parts[0]), string(parts[1])
	return raw, from, v.User.ID != 0 && hmac.Equal(parts[2], sealOf(v, raw, from)), nil
}

// authorizeAnywhere serves the authorization endpoint that the metadata names, which is the
// same for all schools. It redirects to the page of the app's school.
func (p *pages) authorizeAnywhere(w http.ResponseWriter, r *http.Request) error {
	query, err := parseForm(r.URL.RawQuery)
	if err != nil {
		return lyceum.Invalidf("The link that led here is broken, so nothing was changed. Go back to the app and start " +
			"again.")
	}
	school, ok := access.SchoolOfApp(query.get("client_id"))
	if !ok || query.repeated["client_id"] {
		return lyceum.Invalidf("Unknown app: its client_id is missing or mistyped.")
	}
	see(w, r, fmt.Sprintf("/secure/%d/identity/oauth_provider/authorize?%s", school, r.URL.RawQuery))
	return nil
}

// rememberFrom stores the page that a user comes from, for Cancel, and returns it. It is taken
// from the Referer header and not from a parameter, which could redirect anywhere. A user who
// returns with the same request, such as from the sign-in, keeps the page they came from at
// first, even if the browser sends no Referer then.
func (p *pages) rememberFrom(w http.ResponseWriter, r *http.Request, request string) string {
	referer := r.Header.Get("Referer")
	from, err := url.Parse(referer)
	if err != nil || len(referer) > 2000 || from.Scheme != "https" && from.Scheme != "http" || p.Site.Own(referer) ||
		from.Host == r.Host {
		kept := p.Site.Remembered(r, request)
		if kept == "" {
			p.Site.Forget(w)
		}
		return kept
	}
	p.Site.Remember(w, referer, request)
	return referer
}
