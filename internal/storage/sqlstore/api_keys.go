package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.APIKeys, noun[lyceum.APIKeyID, lyceum.APIKey, lyceum.APIKeyFilter]{
	table:   table[lyceum.APIKey]{name: "api_keys", updated: lyceum.APIKeyRevoked},
	entries: "api_key",
	what:    "API key",
	key:     idKey("api_key_id", func(k *lyceum.APIKey) *lyceum.APIKeyID { return &k.ID }),
	rest: []column[lyceum.APIKey]{
		textColumn("name", func(k *lyceum.APIKey) *string { return &k.Name }),
		intColumn("permissions", func(k *lyceum.APIKey) *lyceum.Permissions { return &k.Permissions }),
		hashColumn("hash", func(k *lyceum.APIKey) *lyceum.KeyHash { return &k.Hash }),
		textColumn("last_four", func(k *lyceum.APIKey) *string { return &k.LastFour }),
		timeColumn("created_at", func(k *lyceum.APIKey) *time.Time { return &k.CreatedAt }),
		optTimeColumn("last_used_at", func(k *lyceum.APIKey) *lyceum.Opt[time.Time] { return &k.LastUsedAt }),
		optTimeColumn("revoked_at", func(k *lyceum.APIKey) *lyceum.Opt[time.Time] { return &k.RevokedAt }),
		optIntColumn("user_id", func(k *lyceum.APIKey) *lyceum.Opt[lyceum.UserID] { return &k.UserID }),
	},
	secret: true,
	narrow: func(w *where, f lyceum.APIKeyFilter) {
		if f.Hash.Present {
			w.equal("hash", optHash(f.Hash))
		}
		is(w, "user_id", f.User)
		if f.Unrevoked {
			w.absent("revoked_at")
		}
	},
})
