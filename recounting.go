package lyceum

// Recounting is a course whose lectures have changed: what its learners have done of
// it is to be counted again. That of the users up to After has been.
type Recounting struct {
	Course CourseID
	After  UserID
}
