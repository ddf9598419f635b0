package lyceum

import "time"

// Enrollment is a learner's access to a course for some time: as long as at least one of the
// learner's entitlements to it is open. A learner has at most one open enrollment in a course;
// earlier ones are history.
type Enrollment struct {
	ID         EnrollmentID
	User       UserID
	Course     CourseID
	EnrolledAt time.Time
	ExpiresAt  Opt[time.Time] // when access ends by itself
	EndedAt    Opt[time.Time] // when access was closed
	Sale       Opt[SaleID]    // the sale that opened it
}

// ActiveAt reports whether the learner had access at the given time.
func (e *Enrollment) ActiveAt(now time.Time) bool {
	return !e.EndedAt.Present && (!e.ExpiresAt.Present || now.Before(e.ExpiresAt.Value))
}

// Outranks reports whether the enrollment is shown for its course and not another one of the same
// user: an active one is, else the one that began later. Access that opens again has its first
// start time, so an active enrollment may have begun before one that has ended.
func (e *Enrollment) Outranks(other *Enrollment, now time.Time) bool {
	if active := e.ActiveAt(now); active != other.ActiveAt(now) {
		return active
	}
	return e.EnrolledAt.After(other.EnrolledAt)
}

// EnrollmentFilter narrows enrollments; absent fields match everything. With Users they are
// listed by user, then id.
type EnrollmentFilter struct {
	User     Opt[UserID]
	Users    []UserID // any of these, at most MaxUsers; nil: all
	Course   Opt[CourseID]
	Open     bool           // only those that were not ended, whether or not they have expired
	ActiveAt Opt[time.Time] // only those with access at that time
}

// MaxUsers is the maximum number of users in a filter.
const MaxUsers = 512

// Enrolled is an enrollment with the learner's progress in the course.
type Enrolled struct {
	Enrollment

	CourseName      string
	PercentComplete int32 // 0 to 100
	CompletedAt     Opt[time.Time]
}

// EnrolledFilter selects the enrollments in a course that are active at a given time. They are
// listed by when they began, then by user.
type EnrolledFilter struct {
	Course   CourseID
	ActiveAt time.Time
	Enrolled Period
	Order    Order
}
