package lyceum

import "time"

// LectureProgress is the record that a learner completed a lecture.
type LectureProgress struct {
	ID          LectureProgressID
	User        UserID
	Course      CourseID
	Lecture     LectureID
	CompletedAt time.Time
}

// LectureProgressFilter narrows lecture progress; absent fields match everything. If any field
// is set, the list is ordered by user, then course, then lecture.
type LectureProgressFilter struct {
	User   Opt[UserID]
	Users  []UserID // any of these, at most MaxUsers; nil: all
	Course Opt[CourseID]
}

// LectureCount is how many published lectures a learner completed, and when the last one.
type LectureCount struct {
	Completed int
	Last      time.Time
}
