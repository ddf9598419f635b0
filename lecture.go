package lyceum

import "time"

// LectureSection is a group of lectures in a course.
type LectureSection struct {
	ID          LectureSectionID
	Course      CourseID
	Name        string
	IsPublished bool
	Position    int32 // from 1
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// LectureSectionFilter narrows lecture sections; absent fields match everything.
type LectureSectionFilter struct {
	Course  Opt[CourseID]
	Lecture Opt[LectureID] // only the section of this lecture
	Order   ContentsOrder
}

// ContentsOrder is the order of a list of lecture sections or lectures. Ties are broken by id,
// in the same direction.
type ContentsOrder struct {
	By         ContentsKey
	Descending bool
}

// ContentsKey is what the contents of a course are ordered by.
type ContentsKey uint8

// The sort keys of contents.
const (
	// ContentsAsStored orders the contents of one course by position, then id, ignoring the
	// sections of lectures; otherwise by id.
	ContentsAsStored   ContentsKey = iota
	ContentsByPosition             // lectures by the position of their section first
	ContentsByName
	ContentsByCreated
	ContentsByUpdated
)

// Lecture is the unit that a learner works through and completes.
type Lecture struct {
	ID          LectureID
	Course      CourseID
	Section     LectureSectionID
	Name        Opt[string]
	IsPublished bool
	Position    int32     // in its section, from 1
	FreePreview Opt[bool] // visible without enrollment; absent: false
	Comments    Opt[bool] // learners may comment on it; absent: true
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ArchivedAt  Opt[time.Time] // when it was deleted; learners' progress in it is kept
}

// LectureFilter narrows lectures; absent fields match everything.
type LectureFilter struct {
	Course      Opt[CourseID]
	Section     Opt[LectureSectionID]
	Name        Opt[string] // part of the name, case-insensitive
	IsPublished Opt[bool]
	IsArchived  Opt[bool]
	Created     Period
	Order       ContentsOrder
}
