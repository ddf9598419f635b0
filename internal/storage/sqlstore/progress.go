package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

var progress = define(&tables.Progress, noun[lyceum.ProgressID, lyceum.Progress, lyceum.ProgressFilter]{
	table:   table[lyceum.Progress]{name: "progress", byIndex: true},
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
	fixed:   []string{"user_id", "course_id"}, // the primary key, by which every completed lecture updates
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

// beginProgress inserts a record of progress, unless the user has one of the
// course.
func (t *tx) beginProgress(user lyceum.UserID, course lyceum.CourseID) error {
	id, err := t.nextID(lyceum.ProgressSequence)
	if err != nil {
		return err
	}
	p := lyceum.Progress{ID: lyceum.ProgressID(id), User: user, Course: course}
	begun, err := t.q.one(insertText(progress.name, progress.list(), 1+len(progress.columns), 1)+
		" ON CONFLICT (school_id, user_id, course_id) DO NOTHING RETURNING progress_id",
		append([]any{int64(t.stamp.School)}, progress.bind(&p)...), scanInt(&id))
	if err != nil {
		return fmt.Errorf("begin progress: %w", err)
	}
	if begun {
		delete(t.unused, ticket{lyceum.ProgressSequence, id})
		t.Note(lyceum.ProgressCreated, id)
	}
	return nil
}
