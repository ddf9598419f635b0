package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var progress = define(noun[lyceum.ProgressID, lyceum.Progress, struct{}]{
	table:   table[lyceum.Progress]{name: "progress", byIndex: true},
	entries: "progress",
	key:     idKey("progress_id", func(p *lyceum.Progress) *lyceum.ProgressID { return &p.ID }),
	rest: []column[lyceum.Progress]{
		intColumn("user_id", func(p *lyceum.Progress) *lyceum.UserID { return &p.User }),
		intColumn("course_id", func(p *lyceum.Progress) *lyceum.CourseID { return &p.Course }),
		intColumn("percent_complete", func(p *lyceum.Progress) *int32 { return &p.PercentComplete }),
		optTimeColumn("completed_at", func(p *lyceum.Progress) *lyceum.Opt[time.Time] { return &p.CompletedAt }),
		firstColumn(ofCertificate, timeColumn("certificate_issued_at", func(c *lyceum.Certificate) *time.Time { return &c.IssuedAt })),
		nextColumn(ofCertificate, intColumn("certificate_page_id", func(c *lyceum.Certificate) *int32 { return &c.PageID })),
		nextColumn(ofCertificate, textColumn("certificate_serial_number", func(c *lyceum.Certificate) *string { return &c.SerialNumber })),
	},
	largest: 1 << 10,
})

func ofCertificate(p *lyceum.Progress) *lyceum.Opt[lyceum.Certificate] { return &p.Certificate }
