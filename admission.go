package lyceum

import "time"

// AdmissionID identifies an admission.
type AdmissionID int32

// AdmissionSequence numbers admissions.
const AdmissionSequence Sequence = "admission_id"

// Admission is a learner's access to coaching for some time: as long as at least one of the
// learner's entitlements to it is open. A learner has at most one open admission to a coaching
// product; earlier ones are history.
type Admission struct {
	ID         AdmissionID
	UserID     UserID
	CoachingID CoachingID
	SaleID     Opt[SaleID] // the sale that opened it
	AdmittedAt time.Time
	ExpiresAt  Opt[time.Time] // when access ends by itself
	EndedAt    Opt[time.Time] // when access was closed
}

// ActiveAt reports whether the learner had access at the given time.
func (a *Admission) ActiveAt(now time.Time) bool {
	return !a.EndedAt.Present && (!a.ExpiresAt.Present || now.Before(a.ExpiresAt.Value))
}

// AdmissionFilter narrows admissions; absent fields match everything.
type AdmissionFilter struct {
	User     Opt[UserID]
	Coaching Opt[CoachingID]
	Open     bool // only those that were not closed, whether or not they have expired
}
