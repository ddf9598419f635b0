package lyceum

import "time"

// AccessSpan says whether a user may use a product, and until when.
type AccessSpan struct {
	Open bool
	Ends Opt[time.Time] // of access that is open; absent: it does not end by itself
}

// outlasts reports whether access lasts longer than other access.
func (s AccessSpan) outlasts(other AccessSpan) bool {
	if !s.Open || !other.Open {
		return s.Open
	}
	return other.Ends.Present && (!s.Ends.Present || s.Ends.Value.After(other.Ends.Value))
}

// AccessChange is what an act does to the access of a user to a product that can
// be used: a course, a download or coaching.
type AccessChange struct {
	User    UserID
	Product Product
	Was, Is AccessSpan
	Keeps   []Entitlement // that give access after the act, those that last longest first; at most MaxKeeps
}

// MaxKeeps is how many entitlements a preview names at most for a user and a
// product.
const MaxKeeps = 10

// AccessEffect says how access changes.
type AccessEffect string

// The effects of an act on access.
const (
	AccessEnds        AccessEffect = "ends"         // with the act
	AccessEndsEarlier AccessEffect = "ends_earlier" // than without the act, but not with it
	AccessStays       AccessEffect = "stays"        // because of another entitlement
	AccessEndsLater   AccessEffect = "ends_later"
	AccessOpens       AccessEffect = "opens"
)

// Effect returns how access changes.
func (c *AccessChange) Effect() AccessEffect {
	loses, gains := c.Was.outlasts(c.Is), c.Is.outlasts(c.Was)
	switch {
	case loses && !c.Is.Open:
		return AccessEnds
	case loses:
		return AccessEndsEarlier
	case gains && !c.Was.Open:
		return AccessOpens
	case gains:
		return AccessEndsLater
	}
	return AccessStays
}

// AccessCount counts people by what an act does to their access.
type AccessCount struct {
	Losing  int64 // some of it, now or earlier than without the act
	Keeping int64 // all of it, although a reason for it ends
	Gaining int64 // some, and losing none
}

// Add counts one more person.
func (n *AccessCount) Add(loses, gains bool) {
	switch {
	case loses:
		n.Losing++
	case gains:
		n.Gaining++
	default:
		n.Keeping++
	}
}

// Plus returns the sum of two counts of different people.
func (n AccessCount) Plus(o AccessCount) AccessCount {
	return AccessCount{n.Losing + o.Losing, n.Keeping + o.Keeping, n.Gaining + o.Gaining}
}

// ProductAccess counts the people whose access to a product an act concerns.
type ProductAccess struct {
	Product Product
	AccessCount
}

// AccessPreview is what an act does to access. It is computed by the act.
type AccessPreview struct {
	At       time.Time // as of when
	People   AccessCount
	Products []ProductAccess       // by kind and id
	Changes  Listing[AccessChange] // those who keep their access last; else by user and product
	Users    map[UserID]UserSummary
	Names    map[Product]ProductInfo // of all products that the others name
	Ends     []SaleID                // sales that the act ends
}
