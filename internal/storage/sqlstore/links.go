package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var links = define(noun[lyceum.KeyHash, lyceum.Link, struct{}]{
	table: table[lyceum.Link]{name: "links"},
	key:   hashKey(func(l *lyceum.Link) *lyceum.KeyHash { return &l.Hash }),
	rest: []column[lyceum.Link]{
		intColumn("user_id", func(l *lyceum.Link) *lyceum.UserID { return &l.User }),
		textColumn("purpose", func(l *lyceum.Link) *lyceum.LinkPurpose { return &l.Purpose }),
		timeColumn("created_at", func(l *lyceum.Link) *time.Time { return &l.CreatedAt }),
		timeColumn("expires_at", func(l *lyceum.Link) *time.Time { return &l.ExpiresAt }),
		optTimeColumn("used_at", func(l *lyceum.Link) *lyceum.Opt[time.Time] { return &l.UsedAt }),
	},
})
