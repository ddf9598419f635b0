package lyceum

import "time"

// LectureSection is a part of a course that holds lectures.
type LectureSection struct {
	ID          LectureSectionID
	Course      CourseID
	Name        string
	IsPublished bool
	Position    int32 // from 1
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// LectureSectionFilter narrows lecture sections; an absent part holds always.
type LectureSectionFilter struct {
	Course  Opt[CourseID]
	Lecture Opt[LectureID] // which is in the section
	Order   ContentsOrder
}

// ContentsOrder is the order of a list of lecture sections or lectures. Ties
// are broken by id, in the same direction.
type ContentsOrder struct {
	By         ContentsKey
	Descending bool
}

// ContentsKey is what the contents of a course are ordered by.
type ContentsKey uint8

// The keys of contents.
const (
	// ContentsAsStored: those of one course come by position, then id, lectures
	// whatever their section; others by id.
	ContentsAsStored   ContentsKey = iota
	ContentsByPosition             // lectures first by that of their section
	ContentsByName
	ContentsByCreated
	ContentsByUpdated
)

// Lecture is what a learner works through and completes.
type Lecture struct {
	ID          LectureID
	Course      CourseID
	Section     LectureSectionID
	Name        Opt[string]
	IsPublished bool
	Position    int32     // in its section, from 1
	FreePreview Opt[bool] // whoever is not enrolled may see it; absent: they may not
	Comments    Opt[bool] // learners may comment on it; absent: they may
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ArchivedAt  Opt[time.Time] // since when it is deleted; what learners did of it is kept
}

// LectureFilter narrows lectures; an absent part holds always.
type LectureFilter struct {
	Course      Opt[CourseID]
	Section     Opt[LectureSectionID]
	Name        Opt[string] // a part of the name, whatever its case
	IsPublished Opt[bool]
	IsArchived  Opt[bool]
	Created     Period
	Order       ContentsOrder
}
