package lyceum

// RowProblem is why the row at Index of a batch cannot be stored.
type RowProblem struct {
	Index int // from 0
	FieldError
}

// Missing is what an import does with a row that refers to a user or a pricing plan that the
// school does not have.
type Missing uint8

// The ways to handle a missing reference.
const (
	RefuseMissing Missing = iota // the row is a bad row
	CreateMissing                // the user or plan is created with what the row says about it
)

// WithoutProblems returns the rows of a batch that have none of the given problems.
func WithoutProblems[T any](batch []T, problems []RowProblem) []T {
	if len(problems) == 0 {
		return batch
	}
	bad := make(map[int]bool, len(problems))
	for _, p := range problems {
		bad[p.Index] = true
	}
	good := make([]T, 0, len(batch))
	for i := range batch {
		if !bad[i] {
			good = append(good, batch[i])
		}
	}
	return good
}

// CourseRow is a course as it is in a file, which may omit values that a course always has.
type CourseRow struct {
	Course

	Listed  Opt[bool]
	Ordered Opt[bool] // LectureOrder
}

// UploadRow is an upload as it is in a file of rows.
type UploadRow struct {
	Upload

	File string // name of the file with its content, next to the file of rows
}
