package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Admissions, noun[lyceum.AdmissionID, lyceum.Admission, lyceum.AdmissionFilter]{
	table:   table[lyceum.Admission]{name: "admissions"},
	entries: "admission",
	key:     idKey("admission_id", func(a *lyceum.Admission) *lyceum.AdmissionID { return &a.ID }),
	rest: []column[lyceum.Admission]{
		intColumn("user_id", func(a *lyceum.Admission) *lyceum.UserID { return &a.UserID }),
		intColumn("coaching_id", func(a *lyceum.Admission) *lyceum.CoachingID { return &a.CoachingID }),
		optIntColumn("sale_id", func(a *lyceum.Admission) *lyceum.Opt[lyceum.SaleID] { return &a.SaleID }),
		timeColumn("admitted_at", func(a *lyceum.Admission) *time.Time { return &a.AdmittedAt }),
		optTimeColumn("expires_at", func(a *lyceum.Admission) *lyceum.Opt[time.Time] { return &a.ExpiresAt }),
		optTimeColumn("ended_at", func(a *lyceum.Admission) *lyceum.Opt[time.Time] { return &a.EndedAt }),
	},
	largest: 1 << 10,
	narrow: func(w *where, f lyceum.AdmissionFilter) {
		is(w, "user_id", f.User)
		is(w, "coaching_id", f.Coaching)
		if f.Open {
			w.absent("ended_at")
		}
	},
})
