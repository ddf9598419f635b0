package lyceum

import "time"

// Holding is an entitlement as version 2 shows it for a product that it reaches:
// one enrollment of a user.
type Holding struct {
	Entitlement

	// Blocked: the user was unenrolled from the product, which comes with what the
	// entitlement is for.
	Blocked         bool
	PercentComplete int32 // of a course, 0 to 100
	CompletedAt     Opt[time.Time]
}

// HoldingStatus is what became of a holding.
type HoldingStatus string

// The statuses of a holding. Each outranks those before it.
const (
	HoldingActive    HoldingStatus = "active"
	HoldingCompleted HoldingStatus = "completed" // all of a course
	HoldingExpired   HoldingStatus = "expired"   // its time is over
	HoldingDisabled  HoldingStatus = "disabled"  // an act ended it, or the user is blocked
)

// StatusAt returns the status at a moment.
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

// ChangedAt returns when, up to a moment, the status changed last. When a user was
// blocked is not known of a holding.
func (h *Holding) ChangedAt(now time.Time) time.Time {
	last := h.StartsAt
	for _, at := range []Opt[time.Time]{h.EndsAt, h.EndedAt, h.CompletedAt} {
		if at.Present && at.Value.After(last) && !at.Value.After(now) {
			last = at.Value
		}
	}
	return last
}

// HoldingFilter selects the holdings of a product; an absent part holds always.
type HoldingFilter struct {
	Product  Product
	At       time.Time // of the statuses
	User     Opt[UserID]
	Statuses []HoldingStatus // any of them; nil: any
	Enrolled Period          // of StartsAt
	// ByCompletion: by when the user completed the course, then all others, by when
	// they began. Otherwise all by when they began.
	ByCompletion bool
	Order        Order
}
