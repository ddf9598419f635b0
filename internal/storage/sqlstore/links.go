package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Links, noun[lyceum.KeyHash, lyceum.Link, lyceum.LinkFilter]{
	table: table[lyceum.Link]{name: "links"},
	what:  "link",
	key:   hashKey(func(l *lyceum.Link) *lyceum.KeyHash { return &l.Hash }),
	rest: []column[lyceum.Link]{
		intColumn("user_id", func(l *lyceum.Link) *lyceum.UserID { return &l.User }),
		textColumn("purpose", func(l *lyceum.Link) *lyceum.LinkPurpose { return &l.Purpose }),
		timeColumn("created_at", func(l *lyceum.Link) *time.Time { return &l.CreatedAt }),
		timeColumn("expires_at", func(l *lyceum.Link) *time.Time { return &l.ExpiresAt }),
		optTimeColumn("used_at", func(l *lyceum.Link) *lyceum.Opt[time.Time] { return &l.UsedAt }),
		optTextColumn("email", func(l *lyceum.Link) *lyceum.Opt[string] { return &l.Email }),
		optIntColumn("made_by", func(l *lyceum.Link) *lyceum.Opt[lyceum.UserID] { return &l.MadeBy }),
	},
	narrow: func(w *where, f lyceum.LinkFilter) {
		is(w, "user_id", f.User)
		is(w, "made_by", f.MadeBy)
		if f.Purpose.Present {
			w.equal("purpose", string(f.Purpose.Value))
		}
		if f.Unspent {
			w.absent("used_at")
		}
	},
	order: func(lyceum.LinkFilter) string { return "created_at DESC, hash" },
})
