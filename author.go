package lyceum

import "time"

// AuthorProfile describes the author of a course, or someone who is paid a share for a product.
// An author known only from transactions has no name.
type AuthorProfile struct {
	ID              AuthorID
	Name            Opt[string]
	Bio             Opt[string] // HTML
	ProfileImageURL Opt[string]
	UserID          Opt[UserID]
	Share           Opt[float64] // of the price, from 0 to 1
	ArchivedAt      Opt[time.Time]
}
