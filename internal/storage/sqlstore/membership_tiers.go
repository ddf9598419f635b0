package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.MembershipTiers, noun[lyceum.MembershipTierID, lyceum.MembershipTier,
	lyceum.MembershipTierFilter]{
	table:   table[lyceum.MembershipTier]{name: "membership_tiers", lasting: true},
	entries: "membership_tier",
	key:     idKey("membership_tier_id", func(p *lyceum.MembershipTier) *lyceum.MembershipTierID { return &p.ID }),
	rest: []column[lyceum.MembershipTier]{
		intColumn("membership_id", func(p *lyceum.MembershipTier) *lyceum.MembershipID { return &p.MembershipID }),
		textColumn("name", func(p *lyceum.MembershipTier) *string { return &p.Name }),
		optTextColumn("description", func(p *lyceum.MembershipTier) *lyceum.Opt[string] { return &p.Description }),
		intColumn("position", func(p *lyceum.MembershipTier) *int32 { return &p.Position }),
		boolColumn("is_published", func(p *lyceum.MembershipTier) *bool { return &p.IsPublished }),
		timeColumn("created_at", func(p *lyceum.MembershipTier) *time.Time { return &p.CreatedAt }),
		timeColumn("updated_at", func(p *lyceum.MembershipTier) *time.Time { return &p.UpdatedAt }),
		optTimeColumn("archived_at", func(p *lyceum.MembershipTier) *lyceum.Opt[time.Time] { return &p.ArchivedAt }),
	},
	narrow: func(w *where, f lyceum.MembershipTierFilter) {
		is(w, "membership_id", f.MembershipID)
		w.archived(f.IsArchived)
	},
	order:   func(lyceum.MembershipTierFilter) string { return "membership_id, position, membership_tier_id" },
	largest: 256 << 10,
})
