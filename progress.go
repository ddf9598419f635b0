package lyceum

import "time"

// Progress is what a learner has done of a course. It outlives enrollments.
type Progress struct {
	ID              ProgressID
	User            UserID
	Course          CourseID
	PercentComplete int32 // 0 to 100; all published lectures are 100
	CompletedAt     Opt[time.Time]
	Certificate     Opt[Certificate]
}

// ProgressFilter narrows progress; an absent part holds always. With a part it
// comes by user, then course.
type ProgressFilter struct {
	User   Opt[UserID]
	Users  []UserID // that of any of them, at most MaxUsers; nil: of all
	Course Opt[CourseID]
}

// Certificate is given for a completed course.
type Certificate struct {
	IssuedAt     time.Time
	PageID       int32
	SerialNumber string
}
