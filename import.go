package lyceum

// RowProblem is why the row at Index of a batch cannot be kept.
type RowProblem struct {
	Index int // counts from 0
	FieldError
}

// Missing says what an import does with a row that names a user or a pricing
// plan the school does not have.
type Missing uint8

// The answers to a missing reference.
const (
	RefuseMissing Missing = iota // the row is a bad row
	CreateMissing                // the user or plan is created with what is known of it
)

// WithoutProblems gives the rows of a batch that have none of the problems.
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

// CourseRow is a course as a file has it, which may leave out what the course
// itself always has.
type CourseRow struct {
	Course

	Listed  Opt[bool]
	Ordered Opt[bool] // lectures
}

// UploadRow is an upload as a file of rows has it.
type UploadRow struct {
	Upload

	File string // the name of its content, beside the rows
}
