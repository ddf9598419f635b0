package lyceum

// Recounting is a course whose lectures have changed, so that its learners' progress must be
// counted again. This has been done for the users up to After.
type Recounting struct {
	Course    CourseID
	After     UserID
	Announces bool // who completes the course is announced; an import announces nobody
}
