package lyceum

import "time"

// AnyProduct is a product of any kind, as a list of all shows it.
type AnyProduct struct {
	Product     Product
	Name        string
	Description Opt[string] // the heading of a course
	ImageURL    Opt[string]
	IsPublished bool // of a tier, also its membership
	IsListed    bool
	AuthorID    Opt[AuthorID]
	AuthorName  Opt[string]
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// AnyProductFilter narrows products of all kinds; an absent part holds always. What
// is archived is left out, except courses. Order is by creation or last change.
type AnyProductFilter struct {
	Name        Opt[string] // a part of it, whatever its case
	Search      Opt[string] // a part of the name or the description
	IsPublished Opt[bool]
	AuthorID    Opt[AuthorID]
	Created     Period
	Order       CourseOrder
}
