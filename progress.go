package lyceum

import "time"

// Progress is how much of a course a learner has completed. It outlives enrollments.
type Progress struct {
	ID              ProgressID
	User            UserID
	Course          CourseID
	PercentComplete int32 // 0 to 100; 100 when all published lectures are completed
	CompletedAt     Opt[time.Time]
	Certificate     Opt[Certificate]
}

// ProgressFilter narrows progress; absent fields match everything. If any field is set, the
// list is ordered by user, then course.
type ProgressFilter struct {
	User   Opt[UserID]
	Users  []UserID // any of these, at most MaxUsers; nil: all
	Course Opt[CourseID]
}

// Certificate is proof that a learner completed a course.
type Certificate struct {
	IssuedAt     time.Time
	PageID       int32
	SerialNumber string
}
