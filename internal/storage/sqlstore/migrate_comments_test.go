package sqlstore

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A comment from before comments had a status is visible to everyone and starts a thread. A
// course gets no new requirements.
func TestCommentsFromBefore(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 37,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 5, 'a@example.com', 'a@example.com', 'student', 0)",
				"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Dyes', 1, 3000000, 5000000)",
				"INSERT INTO lecture_sections (school_id, lecture_section_id, course_id, name, is_published, position) VALUES (7, 2, 1, 'Roots', 1, 1)",
				"INSERT INTO lectures (school_id, lecture_id, course_id, lecture_section_id, is_published, position) VALUES (7, 3, 1, 2, 1, 1)",
				"INSERT INTO comments (school_id, comment_id, lecture_id, user_id, body, created_at) VALUES (7, 4, 3, 5, 'Madder', 6000000)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 0), (7, 'user_id', 5), (7, 'course_id', 1), "+
					"(7, 'lecture_section_id', 2), (7, 'lecture_id', 3), (7, 'comment_id', 4)",
			)
			v := store.In(t.Context(), 7)
			of := lyceum.CommentFilter{Course: lyceum.Some(lyceum.CourseID(1)), Thread: lyceum.Some(lyceum.CommentID(4))}
			found, err := lyceum.All(v.Comments, v, of)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			course, err := v.Courses.Get(v, 1)
			if err != nil || course.Compliance != (lyceum.Compliance{}) {
				t.Errorf("the course is %+v, %v", course, err)
			}
			c := found[0]
			if c.Status != lyceum.CommentApproved || c.Parent().Present || !c.UpdatedAt.Equal(c.CreatedAt) || c.CreatedAt.Unix() != 6 || len(c.Attachments) > 0 {
				t.Errorf("the comment is %+v", c)
			}
		})
	}
}
