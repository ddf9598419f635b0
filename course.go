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
	AuthorID    Opt[AuthorID] // the author whose bio the course shows
	IsListed    bool
	// LectureOrder means that a lecture can be completed only after all published lectures
	// before it.
	LectureOrder bool
	// Certificate is the page of the certificate that learners get for completing the course.
	Certificate Opt[int32]
	Compliance  Compliance
	ArchivedAt  Opt[time.Time] // when it stopped being sold
	FriendlyURL Opt[string]    // last part of the URL of its page, unique in the school
}

// DefaultCertificate is the certificate page that every school has.
const DefaultCertificate = 1

// Compliance is what a course requires of its learners, apart from the order of lectures.
type Compliance struct {
	Videos  Opt[bool]    // videos must be watched to the end; absent: false
	Quizzes Opt[bool]    // the quizzes of a lecture must be passed to complete it; absent: false
	Score   Opt[float64] // minimum score to pass a quiz, 0 to 100; absent: any score
	Retakes Opt[int32]   // how often a quiz may be taken again; absent: any number of times
	Issues  Opt[bool]    // learners who complete the course get its certificate; absent: true
}

// Passes reports whether a response to a graded quiz has the score required to pass.
func (c *Compliance) Passes(r *QuizResponse) bool {
	return !c.Score.Present || r.PercentCorrect.Value >= c.Score.Value/100 // not times 100: 0.58*100 is below 58
}

// CourseFilter narrows courses; absent fields match everything.
type CourseFilter struct {
	Name        Opt[string] // part of the name, case-insensitive
	Search      Opt[string] // part of the name, the heading or the description, case-insensitive
	IsPublished Opt[bool]
	IsListed    Opt[bool]
	IsArchived  Opt[bool]
	AuthorID    Opt[AuthorID]
	Created     Period
	FriendlyURL Opt[string] // case-insensitive
	Certificate Opt[int32]  // only courses with certificates made from this page
	// EnrolledUser selects only courses in which this user has an active enrollment at
	// EnrolledAt.
	EnrolledUser Opt[UserID]
	EnrolledAt   time.Time
	Order        CourseOrder
}

// CourseOrder is the order of a list of courses. Ties are broken by id, in the same direction.
type CourseOrder struct {
	By         CourseKey
	Descending bool
}

// CourseKey is what courses are ordered by.
type CourseKey uint8

// The sort keys of courses.
const (
	CourseByID CourseKey = iota
	CourseByName
	CourseByCreated
	CourseByUpdated
)
