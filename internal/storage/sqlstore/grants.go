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
		intColumn("oauth_app_id", func(g *lyceum.Grant) *lyceum.OAuthAppID { return &g.App }),
		intColumn("user_id", func(g *lyceum.Grant) *lyceum.UserID { return &g.User }),
		scopesColumn("scopes", func(g *lyceum.Grant) *lyceum.Scopes { return &g.Scopes }),
		timeColumn("created_at", func(g *lyceum.Grant) *time.Time { return &g.CreatedAt }),
		optTimeColumn("last_used_at", func(g *lyceum.Grant) *lyceum.Opt[time.Time] { return &g.LastUsedAt }),
		optTimeColumn("revoked_at", func(g *lyceum.Grant) *lyceum.Opt[time.Time] { return &g.RevokedAt }),
	},
	secret: true,
	narrow: func(w *where, f lyceum.GrantFilter) {
		if f.ID.Present {
			w.and("grant_id = ?", int64(f.ID.Value))
		}
		if f.App.Present {
			w.and("oauth_app_id = ?", int64(f.App.Value))
		}
		if f.User.Present {
			w.and("user_id = ?", int64(f.User.Value))
		}
		if f.Unrevoked {
			w.and("revoked_at IS NULL")
		}
	},
})
