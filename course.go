package lyceum

import "time"

// Course is a product that learners work through.
type Course struct {
	ID          CourseID
	Name        string
	Heading     Opt[string]
	Description Opt[string]
	IsPublished bool
	ImageURL    Opt[string]
	CreatedAt   time.Time
	UpdatedAt   time.Time
	AuthorID    Opt[AuthorID] // whose bio the course shows
	IsListed    bool
	// LectureOrder: a lecture can be completed only after all published ones
	// before it.
	LectureOrder bool
	// Certificate: who completes the course gets one, made from this page.
	Certificate Opt[int32]
	ArchivedAt  Opt[time.Time] // since when it cannot be sold
	FriendlyURL Opt[string]    // last part of the address of its page, unique in the school
}

// CourseFilter narrows courses; an absent part holds always.
type CourseFilter struct {
	Name        Opt[string] // a part of the name, whatever its case
	Search      Opt[string] // a part of the name or of the description, whatever its case
	IsPublished Opt[bool]
	IsListed    Opt[bool]
	IsArchived  Opt[bool]
	AuthorID    Opt[AuthorID]
	Created     Period
	FriendlyURL Opt[string] // whatever its case
	// EnrolledUser: only courses that this user is actively enrolled in at
	// EnrolledAt.
	EnrolledUser Opt[UserID]
	EnrolledAt   time.Time
	Order        CourseOrder
}

// CourseOrder is the order of a list of courses. Ties are broken by id, in the
// same direction.
type CourseOrder struct {
	By         CourseKey
	Descending bool
}

// CourseKey is what courses are ordered by.
type CourseKey uint8

// The keys of courses.
const (
	CourseByID CourseKey = iota
	CourseByName
	CourseByCreated
	CourseByUpdated
)
