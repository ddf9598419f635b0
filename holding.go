package lyceum

import "time"

// Holding is an entitlement that reaches a product, as version 2 shows it: one enrollment of a
// user.
type Holding struct {
	Entitlement

	// Blocked means that the user was unenrolled from the product, which comes with the product
	// of the entitlement.
	Blocked         bool
	PercentComplete int32 // for a course, 0 to 100
	CompletedAt     Opt[time.Time]
}

// HoldingStatus is the status of a holding.
type HoldingStatus string

// The statuses of a holding. Each takes precedence over those before it.
const (
	HoldingActive    HoldingStatus = "active"
	HoldingCompleted HoldingStatus = "completed" // all of a course
	HoldingExpired   HoldingStatus = "expired"   // its time is over
	HoldingDisabled  HoldingStatus = "disabled"  // an act ended it, or the user is blocked
)

// StatusAt returns the status at the given time.
func (h *Holding) StatusAt(now time.Time) HoldingStatus {
	switch {
	case h.EndedAt.Present || h.Blocked:
		return HoldingDisabled
	case !h.OpenAt(now):
		return HoldingExpired
	case h.PercentComplete == 100:
		return HoldingCompleted
	}
	return HoldingActive
}

// ChangedAt returns when the status last changed, up to now. It does not know when a user was
// blocked.
func (h *Holding) ChangedAt(now time.Time) time.Time {
	last := h.StartsAt
	for _, at := range []Opt[time.Time]{h.EndsAt, h.EndedAt, h.CompletedAt} {
		if at.Present && at.Value.After(last) && !at.Value.After(now) {
			last = at.Value
		}
	}
	return last
}

// HoldingFilter selects the holdings of a product; absent fields match everything.
type HoldingFilter struct {
	Product  Product
	At       time.Time // the time the statuses are for
	User     Opt[UserID]
	Statuses []HoldingStatus // any of these; nil: all
	Enrolled Period          // by StartsAt
	// ByCompletion lists completed holdings by when the user completed the course, then all
	// others by when they began. Otherwise all are listed by when they began.
	ByCompletion bool
	Order        Order
}
