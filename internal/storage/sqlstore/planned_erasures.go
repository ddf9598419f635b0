package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.PlannedErasures, noun[lyceum.UserID, lyceum.PlannedErasure, struct{}]{
	table: table[lyceum.PlannedErasure]{name: "planned_erasures"},
	what:  "planned erasure",
	key:   unnumbered(idKey("user_id", func(e *lyceum.PlannedErasure) *lyceum.UserID { return &e.User })),
	rest: []column[lyceum.PlannedErasure]{
		timeColumn("due_at", func(e *lyceum.PlannedErasure) *time.Time { return &e.DueAt }),
		textColumn("actor", func(e *lyceum.PlannedErasure) *string { return &e.Actor }),
	},
})
