package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var grants = define(&tables.Grants, noun[lyceum.GrantID, lyceum.Grant, lyceum.GrantFilter]{
	table:   table[lyceum.Grant]{name: "grants", updated: lyceum.GrantRevoked},
	entries: "grant",
	key:     idKey("grant_id", func(g *lyceum.Grant) *lyceum.GrantID { return &g.ID }),
	rest: []column[lyceum.Grant]{
		// First, because it is the value that revokeGrant takes.
		optTimeColumn("revoked_at", func(g *lyceum.Grant) *lyceum.Opt[time.Time] { return &g.RevokedAt }),
		intColumn("oauth_app_id", func(g *lyceum.Grant) *lyceum.OAuthAppID { return &g.App }),
		intColumn("user_id", func(g *lyceum.Grant) *lyceum.UserID { return &g.User }),
		scopesColumn("scopes", func(g *lyceum.Grant) *lyceum.Scopes { return &g.Scopes }),
		timeColumn("created_at", func(g *lyceum.Grant) *time.Time { return &g.CreatedAt }),
		optTimeColumn("last_used_at", func(g *lyceum.Grant) *lyceum.Opt[time.Time] { return &g.LastUsedAt }),
	},
	secret: true,
	narrow: func(w *where, f lyceum.GrantFilter) {
		is(w, "grant_id", f.ID)
		is(w, "oauth_app_id", f.App)
		is(w, "user_id", f.User)
		if f.Unrevoked {
			w.absent("revoked_at")
		}
	},
})
