package lyceum

import "time"

// Enrollment is one stay of a learner in a course: as long as the union of the
// learner's entitlements to it is open. There is at most one at a time; those
// before it are its history.
type Enrollment struct {
	ID         EnrollmentID
	User       UserID
	Course     CourseID
	EnrolledAt time.Time
	ExpiresAt  Opt[time.Time] // access ends at that moment
	EndedAt    Opt[time.Time] // access closed
	Sale       Opt[SaleID]    // that opened it
}

// ActiveAt tells whether the learner had access at a moment.
func (e *Enrollment) ActiveAt(now time.Time) bool {
	return !e.EndedAt.Present && (!e.ExpiresAt.Present || now.Before(e.ExpiresAt.Value))
}

// EnrollmentFilter narrows enrollments; an absent part holds always. Those of
// Users come by user, then id.
type EnrollmentFilter struct {
	User     Opt[UserID]
	Users    []UserID // those of any of them, at most MaxUsers; nil: of all
	Course   Opt[CourseID]
	Open     bool           // nobody ended it, expired or not
	ActiveAt Opt[time.Time] // the learner had access at that moment
}

// MaxUsers is how many users a filter names at most.
const MaxUsers = 512

// Enrolled is an enrollment with what the learner has done of the course.
type Enrolled struct {
	Enrollment

	CourseName      string
	PercentComplete int32 // 0 to 100
	CompletedAt     Opt[time.Time]
}

// EnrolledFilter selects the enrollments of a course that are active at a
// moment, by the time they began, then by user.
type EnrolledFilter struct {
	Course   CourseID
	ActiveAt time.Time
	Enrolled Period
	Order    Order
}
