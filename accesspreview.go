package lyceum

import "time"

// AccessSpan describes whether a user may use a product, and until when.
type AccessSpan struct {
	Open bool
	Ends Opt[time.Time] // when open access ends; absent: it does not end by itself
}

// outlasts reports whether s lasts longer than other.
func (s AccessSpan) outlasts(other AccessSpan) bool {
	if !s.Open || !other.Open {
		return s.Open
	}
	return other.Ends.Present && (!s.Ends.Present || s.Ends.Value.After(other.Ends.Value))
}

// AccessChange is what an act does to a user's access to a product that can be used: a course,
// a download or coaching.
type AccessChange struct {
	User    UserID
	Product Product
	Was, Is AccessSpan
	Keeps   []Entitlement // entitlements that give access after the act, the longest-lasting first; at most MaxKeeps
}

// MaxKeeps is the maximum number of entitlements that a preview lists per user and product.
const MaxKeeps = 10

// AccessEffect is how access changes.
type AccessEffect string

// The effects of an act on access.
const (
	AccessEnds        AccessEffect = "ends"         // ends with the act
	AccessEndsEarlier AccessEffect = "ends_earlier" // ends later than the act, but earlier than without it
	AccessStays       AccessEffect = "stays"        // unchanged, because of another entitlement
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
	Losing  int64 // lose access to something, now or earlier than without the act
	Keeping int64 // lose nothing, although one reason for their access ends
	Gaining int64 // gain access to something and lose nothing
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

// ProductAccess counts the people whose access to a product is affected by an act.
type ProductAccess struct {
	Product Product
	AccessCount
}

// AccessPreview is what an act does to access. The act itself computes it.
type AccessPreview struct {
	At       time.Time // the moment the preview is computed for
	People   AccessCount
	Products []ProductAccess       // sorted by kind and id
	Changes  Listing[AccessChange] // sorted by user and product, those that keep their access last
	Users    map[UserID]UserSummary
	Names    map[Product]ProductInfo // of all products in the other fields
	Ends     []SaleID                // sales that the act ends
}
