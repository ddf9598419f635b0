package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Memberships, noun[lyceum.MembershipID, lyceum.Membership, lyceum.ProductFilter]{
	table:   table[lyceum.Membership]{name: "memberships"},
	entries: "membership",
	key:     idKey("membership_id", func(p *lyceum.Membership) *lyceum.MembershipID { return &p.ID }),
	rest: []column[lyceum.Membership]{
		textColumn("name", func(p *lyceum.Membership) *string { return &p.Name }),
		optTextColumn("description", func(p *lyceum.Membership) *lyceum.Opt[string] { return &p.Description }),
		optTextColumn("image_url", func(p *lyceum.Membership) *lyceum.Opt[string] { return &p.ImageURL }),
		boolColumn("is_published", func(p *lyceum.Membership) *bool { return &p.IsPublished }),
		timeColumn("created_at", func(p *lyceum.Membership) *time.Time { return &p.CreatedAt }),
		timeColumn("updated_at", func(p *lyceum.Membership) *time.Time { return &p.UpdatedAt }),
		optTimeColumn("archived_at", func(p *lyceum.Membership) *lyceum.Opt[time.Time] { return &p.ArchivedAt }),
	},
	narrow:  narrowProducts,
	largest: 256 << 10,
})
