package lyceum

import "time"

// AdmissionID names an admission.
type AdmissionID int32

// AdmissionSequence numbers admissions.
const AdmissionSequence Sequence = "admission_id"

// Admission is one stay of a learner in coaching: as long as the union of the
// learner's entitlements to it is open. There is at most one at a time; those
// before it are its history.
type Admission struct {
	ID         AdmissionID
	UserID     UserID
	CoachingID CoachingID
	SaleID     Opt[SaleID] // that opened it
	AdmittedAt time.Time
	ExpiresAt  Opt[time.Time] // access ends at that moment
	EndedAt    Opt[time.Time] // access closed
}

// ActiveAt reports whether the learner had access at a moment.
func (a *Admission) ActiveAt(now time.Time) bool {
	return !a.EndedAt.Present && (!a.ExpiresAt.Present || now.Before(a.ExpiresAt.Value))
}

// AdmissionFilter narrows admissions; an absent part holds always.
type AdmissionFilter struct {
	User     Opt[UserID]
	Coaching Opt[CoachingID]
	Open     bool // access has not closed, expired or not
}
