package lyceum

import "time"

// LectureProgress is that a learner completed a lecture.
type LectureProgress struct {
	ID          LectureProgressID
	User        UserID
	Course      CourseID
	Lecture     LectureID
	CompletedAt time.Time
}

// LectureProgressFilter narrows lecture progress; an absent part holds always.
// With a part it comes by user, then course, then lecture.
type LectureProgressFilter struct {
	User   Opt[UserID]
	Users  []UserID // that of any of them, at most MaxUsers; nil: of all
	Course Opt[CourseID]
}

// LectureCount is how many published lectures somebody completed.
type LectureCount struct {
	Completed int
	Last      time.Time
}
