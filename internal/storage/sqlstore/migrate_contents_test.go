package sqlstore

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// Course contents from before their times were stored are as old as the course, and their
// visibility is unchanged.
func TestContentsFromBefore(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 33,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Dyes', 1, 3000000, 5000000)",
				"INSERT INTO lecture_sections (school_id, lecture_section_id, course_id, name, is_published, position) VALUES (7, 2, 1, 'Roots', 1, 1)",
				"INSERT INTO lectures (school_id, lecture_id, course_id, lecture_section_id, is_published, position) VALUES (7, 3, 1, 2, 1, 1)",
				"INSERT INTO attachments (school_id, attachment_id, lecture_id, kind) VALUES (7, 4, 3, 'text')",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 0), (7, 'course_id', 1), "+
					"(7, 'lecture_section_id', 2), (7, 'lecture_id', 3), (7, 'attachment_id', 4)",
			)
			v := store.In(t.Context(), 7)
			course, err := v.Courses.Get(v, 1)
			section, e2 := v.LectureSections.Get(v, 2)
			lecture, e3 := v.Lectures.Get(v, 3)
			attachment, e4 := v.Attachments.Get(v, 4)
			for _, err := range []error{err, e2, e3, e4} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if course.FriendlyURL.Present {
				t.Errorf("the course is %+v", course)
			}
			at := course.CreatedAt
			if !section.CreatedAt.Equal(at) || !section.UpdatedAt.Equal(at) {
				t.Errorf("the section is %+v", section)
			}
			if !lecture.CreatedAt.Equal(at) || !lecture.UpdatedAt.Equal(at) || lecture.FreePreview.Present || lecture.Comments.Present || lecture.ArchivedAt.Present {
				t.Errorf("the lecture is %+v", lecture)
			}
			if !attachment.CreatedAt.Equal(at) || !attachment.UpdatedAt.Equal(at) || attachment.IsPublished.Present || attachment.Question.Present || attachment.ArchivedAt.Present {
				t.Errorf("the attachment is %+v", attachment)
			}
			live, err := lyceum.All(v.Attachments, v, lyceum.AttachmentFilter{Lecture: lyceum.Some(lecture.ID), IsArchived: lyceum.Some(false)})
			if err != nil || len(live) != 1 {
				t.Errorf("found %v, %v", live, err)
			}
		})
	}
}
