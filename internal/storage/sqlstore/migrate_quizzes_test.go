package sqlstore

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A quiz from before instant feedback is unchanged, and does not say whether it gives any.
func TestQuizzesFromBefore(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 41,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Dyes', 1, 3000000, 5000000)",
				"INSERT INTO lecture_sections (school_id, lecture_section_id, course_id, name, is_published, position) VALUES (7, 2, 1, 'Roots', 1, 1)",
				"INSERT INTO lectures (school_id, lecture_id, course_id, lecture_section_id, is_published, position) VALUES (7, 3, 1, 2, 1, 1)",
				`INSERT INTO attachments (school_id, attachment_id, lecture_id, kind, quiz_id, questions) VALUES (7, 4, 3, 'quiz', 8, `+
					`'[{"question":"Which root?","question_type":"single","answers":["madder","woad"],"correct_answers":["madder"],"graded":true}]')`,
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 0), (7, 'course_id', 1), "+
					"(7, 'lecture_section_id', 2), (7, 'lecture_id', 3), (7, 'attachment_id', 4), (7, 'quiz_id', 8)",
			)
			v := store.In(t.Context(), 7)
			a, err := v.Attachments.Get(v, 4)
			if err != nil || a.Quiz == nil {
				t.Fatalf("%+v: %v", a, err)
			}
			if a.Quiz.ID != 8 || a.Quiz.InstantFeedback.Present || len(a.Quiz.Questions) != 1 || a.Quiz.Questions[0].Question != "Which root?" {
				t.Errorf("the quiz is %+v", a.Quiz)
			}
			if a.Kind != lyceum.QuizAttachment {
				t.Errorf("the attachment is of the kind %s", a.Kind)
			}
		})
	}
}
