package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var refreshTokens = define(&tables.RefreshTokens, noun[lyceum.KeyHash, lyceum.RefreshToken, lyceum.RefreshTokenFilter]{
	table: table[lyceum.RefreshToken]{name: "refresh_tokens"},
	what:  "refresh token",
	key:   hashKey(func(r *lyceum.RefreshToken) *lyceum.KeyHash { return &r.Hash }),
	rest: []column[lyceum.RefreshToken]{
		intColumn("grant_id", func(r *lyceum.RefreshToken) *lyceum.GrantID { return &r.Grant }),
		scopesColumn("scopes", func(r *lyceum.RefreshToken) *lyceum.Scopes { return &r.Scopes }),
		timeColumn("created_at", func(r *lyceum.RefreshToken) *time.Time { return &r.CreatedAt }),
		timeColumn("used_at", func(r *lyceum.RefreshToken) *time.Time { return &r.UsedAt }),
		optTimeColumn("replaced_at", func(r *lyceum.RefreshToken) *lyceum.Opt[time.Time] { return &r.ReplacedAt }),
		optHashColumn("replaced_by", func(r *lyceum.RefreshToken) *lyceum.Opt[lyceum.KeyHash] { return &r.ReplacedBy }),
		optHashColumn("parent", func(r *lyceum.RefreshToken) *lyceum.Opt[lyceum.KeyHash] { return &r.Parent }),
		timeColumn("family", func(r *lyceum.RefreshToken) *time.Time { return &r.Family }),
	},
	narrow: func(w *where, f lyceum.RefreshTokenFilter) {
		if f.Parent.Present {
			w.equal("parent", optHash(f.Parent))
		}
		if f.Except.Present {
			w.and("hash <> ?", optHash(f.Except))
		}
		if f.Unused {
			w.absent("replaced_at")
		}
	},
})
