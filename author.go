package lyceum

import "time"

// AuthorProfile is who a course is by and who is paid for a product. One that
// is known from transactions alone has no name.
type AuthorProfile struct {
	ID              AuthorID
	Name            Opt[string]
	Bio             Opt[string] // HTML
	ProfileImageURL Opt[string]
	UserID          Opt[UserID]
	Share           Opt[float64] // of a price, from 0 to 1
	ArchivedAt      Opt[time.Time]
}
