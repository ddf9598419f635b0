package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var codes = define(&tables.AuthorizationCodes, noun[lyceum.KeyHash, lyceum.AuthorizationCode,
	lyceum.AuthorizationCodeFilter]{
	table: table[lyceum.AuthorizationCode]{name: "authorization_codes"},
	what:  "code",
	key:   hashKey(func(c *lyceum.AuthorizationCode) *lyceum.KeyHash { return &c.Hash }),
	rest: []column[lyceum.AuthorizationCode]{
		intColumn("grant_id", func(c *lyceum.AuthorizationCode) *lyceum.GrantID { return &c.Grant }),
		textColumn("redirect_url", func(c *lyceum.AuthorizationCode) *string { return &c.RedirectURL }),
		optTextColumn("challenge", func(c *lyceum.AuthorizationCode) *lyceum.Opt[string] { return &c.Challenge }),
		timeColumn("created_at", func(c *lyceum.AuthorizationCode) *time.Time { return &c.CreatedAt }),
		timeColumn("expires_at", func(c *lyceum.AuthorizationCode) *time.Time { return &c.ExpiresAt }),
		optTimeColumn("used_at", func(c *lyceum.AuthorizationCode) *lyceum.Opt[time.Time] { return &c.UsedAt }),
	},
	narrow: func(w *where, f lyceum.AuthorizationCodeFilter) {
		if f.Unspent {
			w.absent("used_at")
		}
	},
})
