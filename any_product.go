package lyceum

import "time"

// AnyProduct is a product of any kind, as the list of all products shows it.
type AnyProduct struct {
	Product     Product
	Name        string
	Description Opt[string] // the heading, for a course
	ImageURL    Opt[string]
	IsPublished bool // for a tier: both the tier and its membership are
	IsListed    bool
	AuthorID    Opt[AuthorID]
	AuthorName  Opt[string]
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// AnyProductFilter narrows products of all kinds; absent fields match everything. Archived
// products are left out, except courses. Order is by creation or last update.
type AnyProductFilter struct {
	Name        Opt[string] // part of the name, case-insensitive
	Search      Opt[string] // part of the name or the description
	IsPublished Opt[bool]
	AuthorID    Opt[AuthorID]
	Created     Period
	Order       CourseOrder
}
