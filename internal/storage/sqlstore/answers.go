package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Answers, noun[lyceum.KeyHash, lyceum.KeptAnswer, struct{}]{
	table: table[lyceum.KeptAnswer]{name: "answers"},
	what:  "answer",
	key:   hashKey(func(a *lyceum.KeptAnswer) *lyceum.KeyHash { return &a.Hash }),
	rest: []column[lyceum.KeptAnswer]{
		hashColumn("request", func(a *lyceum.KeptAnswer) *lyceum.KeyHash { return &a.Request }),
		timeColumn("created_at", func(a *lyceum.KeptAnswer) *time.Time { return &a.CreatedAt }),
		textColumn("body", func(a *lyceum.KeptAnswer) *string { return &a.Body }),
	},
})
