package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Sessions, noun[lyceum.KeyHash, lyceum.Session, lyceum.SessionFilter]{
	table: table[lyceum.Session]{name: "sessions"},
	what:  "session",
	key:   hashKey(func(s *lyceum.Session) *lyceum.KeyHash { return &s.Hash }),
	rest: []column[lyceum.Session]{
		intColumn("user_id", func(s *lyceum.Session) *lyceum.UserID { return &s.User }),
		timeColumn("created_at", func(s *lyceum.Session) *time.Time { return &s.CreatedAt }),
		timeColumn("seen_at", func(s *lyceum.Session) *time.Time { return &s.SeenAt }),
		textColumn("address", func(s *lyceum.Session) *string { return &s.Address }),
		textColumn("browser", func(s *lyceum.Session) *string { return &s.Browser }),
	},
	narrow: func(w *where, f lyceum.SessionFilter) {
		if f.User.Present {
			w.and("user_id = ?", int64(f.User.Value))
		}
	},
	order: func(lyceum.SessionFilter) string { return "created_at, hash" },
})
