package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.SecondFactors, noun[lyceum.UserID, lyceum.SecondFactor, struct{}]{
	table: table[lyceum.SecondFactor]{name: "second_factors"},
	what:  "second factor",
	key:   unnumbered(idKey("user_id", func(f *lyceum.SecondFactor) *lyceum.UserID { return &f.User })),
	rest: []column[lyceum.SecondFactor]{
		textColumn("sealed", func(f *lyceum.SecondFactor) *string { return &f.Sealed }),
		intColumn("step", func(f *lyceum.SecondFactor) *int64 { return &f.Step }),
		timeColumn("created_at", func(f *lyceum.SecondFactor) *time.Time { return &f.CreatedAt }),
	},
})

var _ = define(&tables.RecoveryCodes, noun[lyceum.KeyHash, lyceum.RecoveryCode, lyceum.RecoveryCodeFilter]{
	table: table[lyceum.RecoveryCode]{name: "recovery_codes"},
	what:  "recovery code",
	key:   hashKey(func(c *lyceum.RecoveryCode) *lyceum.KeyHash { return &c.Hash }),
	rest: []column[lyceum.RecoveryCode]{
		intColumn("user_id", func(c *lyceum.RecoveryCode) *lyceum.UserID { return &c.User }),
		timeColumn("created_at", func(c *lyceum.RecoveryCode) *time.Time { return &c.CreatedAt }),
	},
	narrow: func(w *where, f lyceum.RecoveryCodeFilter) {
		is(w, "user_id", f.User)
	},
})
