package lyceum

import "time"

// CoachingID identifies a coaching product.
type CoachingID int32

var _ = product("coaching")

// Coaching is a product whose learners are coached in person.
type Coaching struct {
	ID          CoachingID
	Name        string
	Description Opt[string]
	ImageURL    Opt[string]
	IsPublished bool
	IsListed    bool
	AuthorID    Opt[AuthorID] // the author whose bio the product shows
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ArchivedAt  Opt[time.Time]
}
