package oauth

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// Endpoints returns the operations with which apps of a version exchange, revoke and introspect
// tokens.
func Endpoints(o *access.OAuth, version lyceum.InterfaceVersion) []wire.Operation {
	e := &endpoints{oauth: o, version: version}
	operation := func(id, last string, serve endpoint) wire.Operation {
		return wire.Operation{
			ID: id, Method: http.MethodPost, Path: fmt.Sprintf("/v%d/current_user/oauth2/%s", version, last),
			Credential: wire.Open, Serve: e.counted(serve), Fail: fail, Secret: true,
		}
	}
	return []wire.Operation{
		operation("createToken", "token", e.token),
		operation("revokeToken", "revoke", e.revoke),
		operation("introspectToken", "introspect", e.introspect),
	}
}

// endpoint handles a request of an app to a token endpoint.
type endpoint func(context.Context, request) (wire.Body, error)

// counted counts a request against its app if the secret is valid, and otherwise against its
// address. So an app that shares an address with strangers is not rejected because of their
// requests.
func (e *endpoints) counted(serve endpoint) wire.Endpoint {
	return func(ctx context.Context, who wire.Principal, r *http.Request) (wire.Body, error) {
		admitted := false
		var body wire.Body
		q, err := e.read(r)
		if err == nil {
			q.client.Admit = func(school lyceum.SchoolID, app lyceum.OAuthAppID) error {
				admitted = true
				return who.Count(access.Bucket{School: school, App: app})
			}
			body, err = serve(ctx, q)
		}
		if !admitted {
			if exceeded := who.Count(access.BucketOf(wire.AddressOf(r))); exceeded != nil {
				return nil, exceeded
			}
		}
		return body, err
	}
}

type endpoints struct {
	oauth   *access.OAuth
	version lyceum.InterfaceVersion
}

// fail renders the error of a token endpoint (RFC 6749, section 5.2).
func fail(e *lyceum.Error) (int, string, wire.Body) {
	status, body := wire.AsOAuth(e)
	challenge := ""
	if e.Kind == lyceum.Unauthenticated {
		challenge = `Basic realm="lyceum"`
	}
	return status, challenge, wire.JSON{Value: body}
}

// request is a request to a token endpoint, with the credentials of the app.
type request struct {
	parameters
	client access.Client
	basic  bool
}

func (e *endpoints) read(r *http.Request) (request, error) {
	p, err := readBody(r)
	if err != nil {
		return request{}, err
	}
	id, secret, there, err := basic(r)
	if err != nil {
		return request{}, err
	}
	client := access.Client{Version: e.version, From: addressOf(r)}
	switch {
	case !there:
		client.ID, client.Secret = p.get("client_id"), p.get("client_secret")
	case p.get("client_secret") != "":
		return request{}, lyceum.Invalidf("send client_secret in the body or in the Authorization header, not in both")
	case p.get("client_id") != "" && p.get("client_id") != id:
		return request{}, lyceum.Invalidf("client_id in the body differs from the one in the Authorization header")
	default:
		client.ID, client.Secret = id, secret
	}
	return request{p, client, there}, nil
}

// need returns an error for the first of the parameters that is missing.
func (q request) need(names ...string) error {
	if !q.basic {
		names = append(names, "client_id", "client_secret")
	}
	for _, name := range names {
		if q.get(name) == "" {
			return &lyceum.Error{Kind: lyceum.Invalid, Code: "invalid_request", Detail: name + " is missing"}
		}
	}
	return nil
}

// bodyError turns the error for wrong client credentials into a 400 if they were in the body: the
// challenge of a 401 would be about a header that was not used.
func (q request) bodyError(err error) error {
	if e := lyceum.Public(err); err != nil && !q.basic && e.Kind == lyceum.Unauthenticated {
		return &lyceum.Error{Kind: lyceum.Invalid, Code: e.Code, Detail: e.Detail}
	}
	return err
}

// tokenResponse is the contract's token response; scope is defined by RFC 6749.
type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	RefreshToken string `json:"refresh_token"`
	ExpiresIn    int    `json:"expires_in"`
	Scope        string `json:"scope"`
}

// token serves POST /v1/current_user/oauth2/token and its v2 counterpart.
func (e *endpoints) token(ctx context.Context, q request) (wire.Body, error) {
	var tokens access.Tokens
	var err error
	switch q.get("grant_type") {
	case "authorization_code":
		if err := q.need("code", "redirect_uri"); err != nil {
			return nil, err
		}
		tokens, err = e.oauth.Exchange(ctx, q.client, q.get("code"), q.get("redirect_uri"), q.get("code_verifier"))
	case "refresh_token":
		if err := q.need("refresh_token"); err != nil {
			return nil, err
		}
		tokens, err = e.oauth.Refresh(ctx, q.client, q.get("refresh_token"), q.get("scope"))
	case "":
		return nil, q.need("grant_type")
	default:
		return nil, &lyceum.Error{
			Kind: lyceum.Invalid, Code: "unsupported_grant_type",
			Detail: "grant_type must be authorization_code or refresh_token",
		}
	}
	if err != nil {
		return nil, q.bodyError(err)
	}
	return wire.JSON{Value: tokenResponse{
		AccessToken: tokens.AccessToken, TokenType: "bearer", RefreshToken: tokens.RefreshToken,
		ExpiresIn: tokens.ExpiresIn, Scope: tokens.Scopes.String(),
	}}, nil
}

// revoke serves POST /v1/current_user/oauth2/revoke (RFC 7009). The response is an empty
// object, because some clients expect JSON in every response, and the RFC requires them to
// ignore its content.
func (e *endpoints) revoke(ctx context.Context, q request) (wire.Body, error) {
	if err := q.need("token"); err != nil {
		return nil, err
	}
	return wire.JSON{Value: struct{}{}}, q.bodyError(e.oauth.Revoke(ctx, q.client, q.get("token")))
}

// introspection is the response of RFC 7662.
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	Subject   string `json:"sub,omitempty"`
	IssuedAt  int64  `json:"iat,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty"`
}

// introspect serves POST /v1/current_user/oauth2/introspect. Wrong credentials are a 401
// wherever they were sent (RFC 7662, section 2.3).
func (e *endpoints) introspect(ctx context.Context, q request) (wire.Body, error) {
	if q.client.ID != "" || q.basic {
		if err := q.need("token"); err != nil {
			return nil, err
		}
	}
	about, err := e.oauth.Introspect(ctx, q.client, q.get("token"))
	if err != nil || !about.Active {
		return wire.JSON{Value: introspection{}}, err
	}
	response := introspection{
		Active: true, Scope: about.Scopes.String(), ClientID: about.ClientID, Subject: strconv.Itoa(int(about.User)),
		IssuedAt: about.IssuedAt.Unix(), ExpiresAt: about.ExpiresAt.Unix(),
	}
	if about.Access {
		response.TokenType = "bearer"
	}
	return wire.JSON{Value: response}, nil
}

// addressOf returns the address that a request came from, without its port.
func addressOf(r *http.Request) string { return access.BucketOf(wire.AddressOf(r)).From.String() }
