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
		timeColumn("confirmed_at", func(s *lyceum.Session) *time.Time { return &s.ConfirmedAt }),
	},
	narrow: func(w *where, f lyceum.SessionFilter) {
		is(w, "user_id", f.User)
		for _, bound := range []struct {
			cond string
			at   lyceum.Opt[time.Time]
		}{
			{"seen_at > ?", f.SeenAfter},
			{"created_at > ?", f.BegunAfter},
			{"seen_at >= ?", f.SeenFrom},
			{"seen_at < ?", f.SeenUntil},
		} {
			if bound.at.Present {
				w.and(bound.cond, micros(bound.at.Value))
			}
		}
	},
	order: func(f lyceum.SessionFilter) string {
		if f.LastSeen {
			return "seen_at DESC, hash"
		}
		return "created_at, hash"
	},
})
