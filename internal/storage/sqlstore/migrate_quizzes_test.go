package sqlstore

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A response from before answers were kept keeps its percentage; it is as old as its
// submission, or as its user.
func TestQuizResponsesFromBefore(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 50,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 5, 'a@example.com', 'a@example.com', 'student', 3000000)",
				"INSERT INTO quiz_responses (school_id, quiz_response_id, quiz_id, user_id, submitted_at, percent_correct) VALUES "+
					"(7, 1, 901, 5, 6000000, 0.25), (7, 2, 901, 5, NULL, NULL)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 0), (7, 'user_id', 5), (7, 'quiz_response_id', 2)",
			)
			v := store.In(t.Context(), 7)
			of := lyceum.QuizResponseFilter{
				User: lyceum.Some(lyceum.UserID(5)), Order: lyceum.Some(lyceum.QuizResponseOrder{Descending: true}),
			}
			found, err := lyceum.All(v.QuizResponses, v, of)
			if err != nil || len(found) != 2 {
				t.Fatal(found, err)
			}
			for i, at := range []int64{6, 3} {
				r := found[i]
				if r.ID != lyceum.QuizResponseID(i+1) || r.Counts.Present || r.Answers.Present || r.CreatedAt.Unix() != at || r.UpdatedAt != r.CreatedAt {
					t.Errorf("response %d is %+v", i+1, r)
				}
			}
			quiz := &lyceum.Quiz{Questions: lyceum.Questions{{Graded: true}, {Graded: true}, {Graded: true}, {Graded: true}, {}}}
			if g := found[0].Grade(quiz); g != (lyceum.Grade{Correct: 1, Answered: 4, Total: 4}) {
				t.Errorf("its grade is %+v", g)
			}
		})
	}
}
