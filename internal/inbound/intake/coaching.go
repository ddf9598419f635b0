package intake

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Coaching returns the kind of products whose learners are coached in person. A file must have
// id, name, is_published and is_listed; description, image_url and author_bio_id may be
// null.
func Coaching() Kind[lyceum.Coaching] {
	type row = lyceum.Coaching
	return Kind[row]{
		name: "coaching",
		id:   func(c *row) int32 { return int32(c.ID) },
		columns: []column[row]{
			idColumn("id", func(c *row) *lyceum.CoachingID { return &c.ID }),
			textColumn("name", func(c *row) *string { return &c.Name }),
			optTextColumn("description", func(c *row) *lyceum.Opt[string] { return &c.Description }).always().long(),
			optTextColumn("image_url", func(c *row) *lyceum.Opt[string] { return &c.ImageURL }).always(),
			booleanColumn("is_published", func(c *row) *bool { return &c.IsPublished }),
			booleanColumn("is_listed", func(c *row) *bool { return &c.IsListed }),
			optIDColumn("author_bio_id", func(c *row) *lyceum.Opt[lyceum.AuthorID] { return &c.AuthorID }).always(),
			timeColumn("created_at", func(c *row) *time.Time { return &c.CreatedAt }).optional(),
			timeColumn("updated_at", func(c *row) *time.Time { return &c.UpdatedAt }).optional(),
			optTimeColumn("archived_at", func(c *row) *lyceum.Opt[time.Time] { return &c.ArchivedAt }),
		},
	}
}
