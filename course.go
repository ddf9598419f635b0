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
	Compliance  Compliance
	ArchivedAt  Opt[time.Time] // since when it cannot be sold
	FriendlyURL Opt[string]    // last part of the address of its page, unique in the school
}

// DefaultCertificate is the page of certificates that every school has.
const DefaultCertificate = 1

// Compliance is what a course asks of its learners besides the order of lectures.
type Compliance struct {
	Videos  Opt[bool]    // a video must be watched to its end; absent: it need not be
	Quizzes Opt[bool]    // the quizzes of a lecture must be passed to complete it; absent: they need not be
	Score   Opt[float64] // that passes a quiz, 0 to 100; absent: any
	Retakes Opt[int32]   // how often a quiz may be answered again; absent: always
	Issues  Opt[bool]    // whoever completes the course gets the certificate; absent: they do
}

// Passes reports whether a response to a graded quiz has the score that passes it.
func (c *Compliance) Passes(r *QuizResponse) bool {
	return !c.Score.Present || r.PercentCorrect.Value*100 >= c.Score.Value
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
	Certificate Opt[int32]  // whose certificates are made from this page
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
