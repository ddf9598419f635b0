package learning

import "github.com/lyceum-school/lyceum"

// Coaching returns the rules for coaching products.
func (s *Service) Coaching() Products[lyceum.CoachingID, lyceum.Coaching, lyceum.ProductFilter] {
	type row = lyceum.Coaching
	return Products[lyceum.CoachingID, row, lyceum.ProductFilter]{
		service: s, what: "coaching", author: "author_id",
		rows: func(t *lyceum.Tables) lyceum.Table[lyceum.CoachingID, row, lyceum.ProductFilter] { return t.Coaching },
		parts: func(c *row) productParts[lyceum.CoachingID] {
			return productParts[lyceum.CoachingID]{&c.ID, &c.CreatedAt, &c.UpdatedAt, &c.ArchivedAt, &c.AuthorID, &c.ImageURL}
		},
		names: []reference[row]{{
			"author_bio_id", "author", lyceum.AuthorSequence, func(c *row) int32 { return int32(c.AuthorID.Value) },
		}},
	}
}
