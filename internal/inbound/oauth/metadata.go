package oauth

import (
	"fmt"
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// serverMetadata is the metadata of RFC 8414, section 2.
type serverMetadata struct {
	Issuer                string         `json:"issuer"`
	AuthorizationEndpoint string         `json:"authorization_endpoint"`
	TokenEndpoint         string         `json:"token_endpoint"`
	RevocationEndpoint    string         `json:"revocation_endpoint"`
	IntrospectionEndpoint string         `json:"introspection_endpoint"`
	Scopes                []lyceum.Scope `json:"scopes_supported"`
	ResponseTypes         []string       `json:"response_types_supported"`
	ResponseModes         []string       `json:"response_modes_supported"`
	GrantTypes            []string       `json:"grant_types_supported"`
	TokenAuth             []string       `json:"token_endpoint_auth_methods_supported"`
	RevocationAuth        []string       `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionAuth     []string       `json:"introspection_endpoint_auth_methods_supported"`
	Challenges            []string       `json:"code_challenge_methods_supported"`
	ResponseHasIssuer     bool           `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	Documentation         string         `json:"service_documentation"`
}

// metadata serves GET /.well-known/oauth-authorization-server/v1 and v2.
func (p *pages) metadata(version lyceum.InterfaceVersion) action {
	tokens := fmt.Sprintf("%s/v%d/current_user/oauth2/", p.Site.BaseURL, version)
	methods := []string{"client_secret_basic", "client_secret_post"}
	body := serverMetadata{
		Issuer:                p.issuer(version),
		AuthorizationEndpoint: p.Site.AuthURL + "/secure/identity/oauth_provider/authorize",
		TokenEndpoint:         tokens + "token",
		RevocationEndpoint:    tokens + "revoke",
		IntrospectionEndpoint: tokens + "introspect",
		Scopes:                access.ListScopes(version),
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            []string{"authorization_code", "refresh_token"},
		TokenAuth:             methods,
		RevocationAuth:        methods,
		IntrospectionAuth:     methods,
		Challenges:            []string{"S256"},
		ResponseHasIssuer:     true,
		Documentation:         p.Site.BaseURL + "/docs",
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Del("Cache-Control") // the response is the same for everyone
		w.Header().Set("Access-Control-Allow-Origin", "*")
		return wire.Send(w, r, http.StatusOK, wire.JSON{Value: body})
	}
}
