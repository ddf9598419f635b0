package lyceum

// LectureSection is a part of a course that holds lectures.
type LectureSection struct {
	ID          LectureSectionID
	Course      CourseID
	Name        string
	IsPublished bool
	Position    int32 // from 1
}

// LectureSectionFilter narrows lecture sections; an absent part holds always.
// Those of one course come by position, then id.
type LectureSectionFilter struct {
	Course Opt[CourseID]
}

// Lecture is what a learner works through and completes.
type Lecture struct {
	ID          LectureID
	Course      CourseID
	Section     LectureSectionID
	Name        Opt[string]
	IsPublished bool
	Position    int32 // in its section, from 1
}

// LectureFilter narrows lectures; an absent part holds always. Those of one
// course come by position, then id, whatever their section.
type LectureFilter struct {
	Course Opt[CourseID]
}
