package learning

import (
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// ImportLectureSections begins an import of lecture sections. It recounts the progress of
// learners in their courses.
func (s *Service) ImportLectureSections(by lyceum.By) *Rows[lyceum.LectureSection] {
	type row = lyceum.LectureSection
	return &Rows[row]{s, by, shape[row]{
		what: "lecture sections",
		names: []reference[row]{
			{"course_id", "course", lyceum.CourseSequence, func(l *row) int32 { return int32(l.Course) }},
		},
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			moved := map[lyceum.LectureSectionID]lyceum.CourseID{}
			err := keepUnsaid(tx, tx.LectureSections, rows, func(l *row) lyceum.LectureSectionID { return l.ID },
				func(l, old *row) {
					if old.ID != 0 && old.Course != l.Course {
						moved[l.ID] = old.Course
					}
					keepTimes(&l.CreatedAt, &l.UpdatedAt, old.CreatedAt, old.UpdatedAt, now)
				})
			if err != nil {
				return lyceum.Saved{}, err
			}
			courses := coursesAround(rows, moved, func(l *row) lyceum.CourseID { return l.Course })
			return recounting(tx, courses, false, func() (lyceum.Saved, error) {
				saved, err := tx.LectureSections.Save(tx, rows...)
				if err != nil {
					return saved, err
				}
				return saved, moveSections(tx, rows, moved)
			})
		},
	}}
}

// ImportLectures begins an import of lectures. It recounts the progress of learners in their
// courses.
func (s *Service) ImportLectures(by lyceum.By) *Rows[lyceum.Lecture] {
	type row = lyceum.Lecture
	return &Rows[row]{s, by, shape[row]{
		what: "lectures",
		names: []reference[row]{
			{"course_id", "course", lyceum.CourseSequence, func(l *row) int32 { return int32(l.Course) }},
			{"lecture_section_id", "lecture section", lyceum.LectureSectionSequence, func(l *row) int32 {
				return int32(l.Section)
			}},
		},
		look: func(tx lyceum.Tx, rows []row) (problems []lyceum.RowProblem, err error) {
			ids := make([]lyceum.LectureSectionID, len(rows))
			for i := range rows {
				ids[i] = rows[i].Section
			}
			sections, err := tx.LectureSections.Find(tx, ids...)
			for i := range rows {
				if of := sections[rows[i].Section].Course; err == nil && of != rows[i].Course {
					problems = append(problems, problem(
						i, "lecture_section_id", "%d is a section of course %d, not of course %d", rows[i].Section, of, rows[i].Course,
					))
				}
			}
			return problems, err
		},
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			moved := map[lyceum.LectureID]lyceum.CourseID{}
			err := keepUnsaid(tx, tx.Lectures, rows, func(l *row) lyceum.LectureID { return l.ID },
				func(l, old *row) {
					if old.ID != 0 && old.Course != l.Course {
						moved[l.ID] = old.Course
					}
					keepTimes(&l.CreatedAt, &l.UpdatedAt, old.CreatedAt, old.UpdatedAt, now)
					keep(&l.FreePreview, old.FreePreview)
					keep(&l.Comments, old.Comments)
					keep(&l.ArchivedAt, old.ArchivedAt)
				})
			if err != nil {
				return lyceum.Saved{}, err
			}
			courses := coursesAround(rows, moved, func(l *row) lyceum.CourseID { return l.Course })
			return recounting(tx, courses, false, func() (lyceum.Saved, error) {
				saved, err := tx.Lectures.Save(tx, rows...)
				if err != nil {
					return saved, err
				}
				return saved, moveWork(tx, rows, moved)
			})
		},
	}}
}

// ImportAttachments begins an import of attachments.
func (s *Service) ImportAttachments(by lyceum.By) *Rows[lyceum.Attachment] {
	type row = lyceum.Attachment
	return &Rows[row]{s, by, shape[row]{
		what: "attachments",
		names: []reference[row]{
			{"lecture_id", "lecture", lyceum.LectureSequence, func(a *row) int32 { return int32(a.Lecture) }},
		},
		look: lookAtAttachments,
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			err := keepUnsaid(tx, tx.Attachments, rows, func(a *row) lyceum.AttachmentID { return a.ID },
				func(a, old *row) { keepAttachment(a, old, now) })
			if err != nil {
				return lyceum.Saved{}, err
			}
			return tx.Attachments.Save(tx, rows...)
		},
	}}
}

// lookAtAttachments returns a problem for each row whose fields contradict each other or whose
// quiz belongs to another attachment.
func lookAtAttachments(tx lyceum.Tx, rows []lyceum.Attachment) (problems []lyceum.RowProblem, err error) {
	var quizzes []lyceum.QuizID
	for i := range rows {
		a := &rows[i]
		if a.Kind == "pdf" { // the spelling in the contract's text
			a.Kind = lyceum.PDFAttachment
		}
		if field, wrong := oddAttachment(a); wrong != "" {
			problems = append(problems, problem(i, field, "%s", wrong))
		} else if a.Quiz != nil {
			quizzes = append(quizzes, a.Quiz.ID)
		}
	}
	in := map[lyceum.QuizID]lyceum.AttachmentID{}
	for part := range slices.Chunk(quizzes, lyceum.MaxUsers) {
		err := tx.Attachments.Each(tx, lyceum.AttachmentFilter{Quizzes: part}, func(a *lyceum.Attachment) error {
			in[a.Quiz.ID] = a.ID
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range rows {
		if quiz := rows[i].Quiz; quiz != nil {
			if other, there := in[quiz.ID]; there && other != rows[i].ID {
				problems = append(problems, problem(i, "quiz_id", "%d is the quiz of attachment %d", quiz.ID, other))
			}
		}
	}
	left, err := leftQuizzes(tx, rows)
	return append(problems, left...), err
}

// leftQuizzes returns a problem for each row that would leave the responses to a quiz without it.
func leftQuizzes(tx lyceum.Tx, rows []lyceum.Attachment) (problems []lyceum.RowProblem, err error) {
	kept, err := tx.Attachments.Find(tx, idsOf(rows, func(a *lyceum.Attachment) lyceum.AttachmentID { return a.ID })...)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		old, quiz := kept[rows[i].ID].Quiz, rows[i].Quiz
		if old == nil || quiz != nil && quiz.ID == old.ID {
			continue
		}
		_, answered, err := tx.QuizResponses.First(tx, lyceum.QuizResponseFilter{Quiz: lyceum.Some(old.ID)})
		if err != nil {
			return nil, err
		}
		if answered {
			problems = append(problems, problem(i, "quiz_id", "must be %d, because that quiz has responses", old.ID))
		}
	}
	return problems, nil
}

// keepUnsaid fills in the fields that rows leave out, from the stored row, which is empty for a
// new one.
func keepUnsaid[ID lyceum.Key, T, F any](
	tx lyceum.Tx, table lyceum.Table[ID, T, F], rows []T, id func(*T) ID, complete func(row, old *T),
) error {
	kept, err := table.Find(tx, idsOf(rows, id)...)
	if err != nil {
		return err
	}
	for i := range rows {
		old := kept[id(&rows[i])]
		complete(&rows[i], &old)
	}
	return nil
}

// keepTimes fills in when a row was created and updated. A new row is created now.
func keepTimes(created, updated *time.Time, oldCreated, oldUpdated, now time.Time) {
	*created = firstTime(*created, oldCreated, lyceum.Second(now))
	*updated = firstTime(*updated, oldUpdated, *created)
}

func keepAttachment(a, old *lyceum.Attachment, now time.Time) {
	keepTimes(&a.CreatedAt, &a.UpdatedAt, old.CreatedAt, old.UpdatedAt, now)
	keepAddress(&a.URL, old.URL)
	if a.Video.Present && lyceum.IsFileLink(a.Video.Value.URL) && old.Video.Present {
		a.Video.Value.URL = old.Video.Value.URL
	}
	keep(&a.IsPublished, old.IsPublished)
	keep(&a.Embeddable, old.Embeddable)
	keep(&a.Downloadable, old.Downloadable)
	keep(&a.ContentType, old.ContentType)
	keep(&a.Duration, old.Duration)
	keep(&a.AltText, old.AltText)
	keep(&a.Decorative, old.Decorative)
	keep(&a.CodeSyntax, old.CodeSyntax)
	if a.Kind == lyceum.OpenQuestionAttachment {
		keep(&a.Question, old.Question)
	}
	keep(&a.ArchivedAt, old.ArchivedAt)
	if a.Quiz != nil && old.Quiz != nil {
		keep(&a.Quiz.InstantFeedback, old.Quiz.InstantFeedback)
	}
}

// keepAddress keeps the stored address of a file if only a link to it was imported, for example
// from another server: the link differs each time, and expires.
func keepAddress(address *lyceum.Opt[string], old lyceum.Opt[string]) {
	if old.Present && lyceum.IsFileLink(address.Value) {
		*address = old
	}
}

const wordTaken = "must be a word of 1 to 64 letters, digits, _ or -"

// oddAttachment returns the first field of an attachment that contradicts its kind, and what is
// wrong with it.
func oddAttachment(a *lyceum.Attachment) (field, wrong string) {
	switch {
	case !lyceum.IsWord(string(a.Kind)):
		return "kind", wordTaken
	case a.Quiz != nil && a.Kind != lyceum.QuizAttachment:
		return "quiz_id", fmt.Sprintf("must be empty for an attachment of the kind %s", a.Kind)
	case a.Quiz == nil && a.Kind == lyceum.QuizAttachment:
		return "quiz_id", "must not be empty for an attachment of the kind quiz"
	case a.Question.Present && a.Kind != lyceum.OpenQuestionAttachment:
		return "question", fmt.Sprintf("must be empty for an attachment of the kind %s", a.Kind)
	case a.Video.Present && a.Kind != lyceum.VideoAttachment:
		return "video_url", fmt.Sprintf("must be empty for an attachment of the kind %s", a.Kind)
	case a.Quiz == nil:
		return "", ""
	}
	return "questions", oddQuestions(a.Quiz.Questions)
}

// oddQuestions returns what is wrong with the questions of a quiz.
func oddQuestions(all lyceum.Questions) (wrong string) {
	keys := map[string]int{}
	for i := range all {
		q := &all[i]
		if !lyceum.IsWord(q.QuestionType) {
			return fmt.Sprintf("question_type of question %d %s", i+1, wordTaken)
		}
		if other, there := keys[q.Key]; there && q.Key != "" {
			return fmt.Sprintf("question_key of question %d is that of question %d", i+1, other)
		}
		keys[q.Key] = i + 1
		if wrong = q.Check(); wrong != "" {
			return fmt.Sprintf("of question %d: %s", i+1, wrong)
		}
	}
	return ""
}
