package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.StaffMembers, noun[lyceum.UserID, lyceum.StaffMember, struct{}]{
	table: table[lyceum.StaffMember]{name: "staff_members"},
	what:  "member of staff",
	key:   unnumbered(idKey("user_id", func(m *lyceum.StaffMember) *lyceum.UserID { return &m.User })),
	rest: []column[lyceum.StaffMember]{
		textColumn("role", func(m *lyceum.StaffMember) *lyceum.StaffRole { return &m.Role }),
		timeColumn("updated_at", func(m *lyceum.StaffMember) *time.Time { return &m.UpdatedAt }),
	},
})
