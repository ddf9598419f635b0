package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Authors, noun[lyceum.AuthorID, lyceum.AuthorProfile, lyceum.PartnerFilter]{
	table:   table[lyceum.AuthorProfile]{name: "authors", lasting: true},
	entries: "author",
	kept:    true,
	key:     idKey("author_id", func(a *lyceum.AuthorProfile) *lyceum.AuthorID { return &a.ID }),
	rest: []column[lyceum.AuthorProfile]{
		optTextColumn("name", func(a *lyceum.AuthorProfile) *lyceum.Opt[string] { return &a.Name }),
		optTextColumn("bio", func(a *lyceum.AuthorProfile) *lyceum.Opt[string] { return &a.Bio }),
		optTextColumn("profile_image_url", func(a *lyceum.AuthorProfile) *lyceum.Opt[string] { return &a.ProfileImageURL }),
		optIntColumn("user_id", func(a *lyceum.AuthorProfile) *lyceum.Opt[lyceum.UserID] { return &a.UserID }),
		optFloatColumn("share", func(a *lyceum.AuthorProfile) *lyceum.Opt[float64] { return &a.Share }),
		optTimeColumn("archived_at", func(a *lyceum.AuthorProfile) *lyceum.Opt[time.Time] { return &a.ArchivedAt }),
	},
	narrow:  narrowPartners,
	largest: 256 << 10,
})
