package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Passkeys, noun[lyceum.KeyHash, lyceum.Passkey, lyceum.PasskeyFilter]{
	table: table[lyceum.Passkey]{name: "passkeys"},
	what:  "passkey",
	key:   hashKey(func(p *lyceum.Passkey) *lyceum.KeyHash { return &p.Hash }),
	rest: []column[lyceum.Passkey]{
		intColumn("user_id", func(p *lyceum.Passkey) *lyceum.UserID { return &p.User }),
		textColumn("name", func(p *lyceum.Passkey) *string { return &p.Name }),
		textColumn("credential", func(p *lyceum.Passkey) *string { return &p.Credential }),
		textColumn("public_key", func(p *lyceum.Passkey) *string { return &p.PublicKey }),
		intColumn("uses", func(p *lyceum.Passkey) *int64 { return &p.Uses }),
		intColumn("flags", func(p *lyceum.Passkey) *uint8 { return &p.Flags }),
		timeColumn("created_at", func(p *lyceum.Passkey) *time.Time { return &p.CreatedAt }),
		optTimeColumn("last_used_at", func(p *lyceum.Passkey) *lyceum.Opt[time.Time] { return &p.LastUsedAt }),
	},
	narrow: func(w *where, f lyceum.PasskeyFilter) {
		is(w, "user_id", f.User)
	},
	order: func(lyceum.PasskeyFilter) string { return "created_at, hash" },
})
