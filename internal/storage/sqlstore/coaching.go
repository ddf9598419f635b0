package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Coaching, noun[lyceum.CoachingID, lyceum.Coaching, lyceum.ProductFilter]{
	table:   table[lyceum.Coaching]{name: "coaching", lasting: true},
	entries: "coaching",
	key:     idKey("coaching_id", func(p *lyceum.Coaching) *lyceum.CoachingID { return &p.ID }),
	rest: []column[lyceum.Coaching]{
		textColumn("name", func(p *lyceum.Coaching) *string { return &p.Name }),
		optTextColumn("description", func(p *lyceum.Coaching) *lyceum.Opt[string] { return &p.Description }),
		optTextColumn("image_url", func(p *lyceum.Coaching) *lyceum.Opt[string] { return &p.ImageURL }),
		boolColumn("is_published", func(p *lyceum.Coaching) *bool { return &p.IsPublished }),
		boolColumn("is_listed", func(p *lyceum.Coaching) *bool { return &p.IsListed }),
		optIntColumn("author_id", func(p *lyceum.Coaching) *lyceum.Opt[lyceum.AuthorID] { return &p.AuthorID }),
		timeColumn("created_at", func(p *lyceum.Coaching) *time.Time { return &p.CreatedAt }),
		timeColumn("updated_at", func(p *lyceum.Coaching) *time.Time { return &p.UpdatedAt }),
		optTimeColumn("archived_at", func(p *lyceum.Coaching) *lyceum.Opt[time.Time] { return &p.ArchivedAt }),
	},
	narrow:  narrowProducts,
	largest: 256 << 10,
})
