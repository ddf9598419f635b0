package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var enrollments = define(noun[lyceum.EnrollmentID, lyceum.Enrollment, lyceum.EnrollmentFilter]{
	table:   table[lyceum.Enrollment]{name: "enrollments"},
	entries: "enrollment",
	key:     idKey("enrollment_id", func(e *lyceum.Enrollment) *lyceum.EnrollmentID { return &e.ID }),
	rest: []column[lyceum.Enrollment]{
		intColumn("user_id", func(e *lyceum.Enrollment) *lyceum.UserID { return &e.User }),
		intColumn("course_id", func(e *lyceum.Enrollment) *lyceum.CourseID { return &e.Course }),
		timeColumn("enrolled_at", func(e *lyceum.Enrollment) *time.Time { return &e.EnrolledAt }),
		optTimeColumn("expires_at", func(e *lyceum.Enrollment) *lyceum.Opt[time.Time] { return &e.ExpiresAt }),
		optTimeColumn("ended_at", func(e *lyceum.Enrollment) *lyceum.Opt[time.Time] { return &e.EndedAt }),
		optIntColumn("sale_id", func(e *lyceum.Enrollment) *lyceum.Opt[lyceum.SaleID] { return &e.Sale }),
	},
	largest: 1 << 10,
})
