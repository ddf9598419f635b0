package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var accessTokens = define(&tables.AccessTokens, noun[lyceum.KeyHash, lyceum.AccessToken, struct{}]{
	table: table[lyceum.AccessToken]{name: "access_tokens"},
	what:  "access token",
	key:   hashKey(func(a *lyceum.AccessToken) *lyceum.KeyHash { return &a.Hash }),
	rest: []column[lyceum.AccessToken]{
		intColumn("grant_id", func(a *lyceum.AccessToken) *lyceum.GrantID { return &a.Grant }),
		scopesColumn("scopes", func(a *lyceum.AccessToken) *lyceum.Scopes { return &a.Scopes }),
		timeColumn("created_at", func(a *lyceum.AccessToken) *time.Time { return &a.CreatedAt }),
		timeColumn("expires_at", func(a *lyceum.AccessToken) *time.Time { return &a.ExpiresAt }),
		optTimeColumn("revoked_at", func(a *lyceum.AccessToken) *lyceum.Opt[time.Time] { return &a.RevokedAt }),
	},
})
