package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var progress = define(&tables.Progress, noun[lyceum.ProgressID, lyceum.Progress, lyceum.ProgressFilter]{
	table: table[lyceum.Progress]{
		name: "progress", byIndex: true,
		fixed: []string{"user_id", "course_id"}, // the primary key; every completed lecture updates progress by it
	},
	entries: "progress",
	key:     idKey("progress_id", func(p *lyceum.Progress) *lyceum.ProgressID { return &p.ID }),
	rest: []column[lyceum.Progress]{
		intColumn("user_id", func(p *lyceum.Progress) *lyceum.UserID { return &p.User }),
		intColumn("course_id", func(p *lyceum.Progress) *lyceum.CourseID { return &p.Course }),
		intColumn("percent_complete", func(p *lyceum.Progress) *int32 { return &p.PercentComplete }),
		optTimeColumn("completed_at", func(p *lyceum.Progress) *lyceum.Opt[time.Time] { return &p.CompletedAt }),
		firstColumn(ofCertificate,
			timeColumn("certificate_issued_at", func(c *lyceum.Certificate) *time.Time { return &c.IssuedAt })),
		nextColumn(ofCertificate, intColumn("certificate_page_id", func(c *lyceum.Certificate) *int32 { return &c.PageID })),
		nextColumn(ofCertificate,
			textColumn("certificate_serial_number", func(c *lyceum.Certificate) *string { return &c.SerialNumber })),
	},
	largest: 1 << 10,
	narrow: func(w *where, f lyceum.ProgressFilter) {
		is(w, "user_id", f.User)
		among(w, "user_id", f.Users)
		is(w, "course_id", f.Course)
	},
	order: func(f lyceum.ProgressFilter) string {
		if f.User.Present || f.Users != nil || f.Course.Present {
			return "user_id, course_id"
		}
		return "progress_id"
	},
})

func ofCertificate(p *lyceum.Progress) *lyceum.Opt[lyceum.Certificate] { return &p.Certificate }

// beginProgress inserts the progress record of a user in a course. There must be none yet.
func (t *tx) beginProgress(user lyceum.UserID, course lyceum.CourseID) error {
	id, err := t.nextID(lyceum.ProgressSequence)
	if err != nil {
		return err
	}
	delete(t.unused, ticket{lyceum.ProgressSequence, id})
	return insert(t, &progress.table, []lyceum.Progress{{ID: lyceum.ProgressID(id), User: user, Course: course}})
}
