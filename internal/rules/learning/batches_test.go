package learning_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// wantForeseen checks all batches and then saves them, as an import does, which must find the
// same problems, at most one per batch. Importing the same rows again must succeed.
func wantForeseen[T any](t *testing.T, name string, start func() *learning.Rows[T], want []string, batches ...[]T) {
	t.Helper()
	told := func(do func(batch []T) ([]lyceum.RowProblem, error)) []string {
		all := make([]string, len(batches))
		for i, batch := range batches {
			problems, err := do(batch)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, p := range problems {
				all[i] += p.Field + " " + p.Message
			}
		}
		return all
	}
	for _, round := range []string{"first", "again"} {
		rows := start()
		checked := told(func(batch []T) ([]lyceum.RowProblem, error) { return rows.Check(t.Context(), batch) })
		changed := 0
		saved := told(func(batch []T) ([]lyceum.RowProblem, error) {
			saved, problems, err := rows.Save(t.Context(), batch)
			changed += saved.Created + saved.Updated
			return problems, err
		})
		if diff := cmp.Diff(want, checked); diff != "" {
			t.Errorf("%s, %s: checked (-want +got):\n%s", name, round, diff)
		}
		if diff := cmp.Diff(want, saved); diff != "" {
			t.Errorf("%s, %s: saved (-want +got):\n%s", name, round, diff)
		}
		if round == "again" && changed > 0 {
			t.Errorf("%s: %d rows change again", name, changed)
		}
	}
}

// TestBatchesAreForeseen checks that Check takes earlier rows into account, which Save will find
// in the database.
func TestBatchesAreForeseen(t *testing.T) {
	d := newClassroom(t)
	by := lyceum.By{School: d.school, Actor: "import"}
	day, ended := storetest.Day, lyceum.Some(storetest.Day(20))
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		courses := make([]lyceum.Course, lyceum.MaxIncluded+1)
		for i := range courses {
			courses[i] = lyceum.Course{ID: lyceum.CourseID(1000 + i), Name: "Course", CreatedAt: day(1), UpdatedAt: day(1)}
		}
		if _, err := tx.Courses.Save(tx, courses...); err != nil {
			return err
		}
		if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: day(1), UpdatedAt: day(1)}); err != nil {
			return err
		}
		_, err := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Chart", CreatedAt: day(1), UpdatedAt: day(1)})
		return err
	})

	comment := func(id lyceum.CommentID, lecture lyceum.LectureID, above ...lyceum.CommentID) lyceum.Comment {
		var path lyceum.CommentPath
		for _, id := range above {
			path = path.Then(id)
		}
		return lyceum.Comment{ID: id, Lecture: lecture, User: 2, Body: "clay", Above: path}
	}
	thread := []lyceum.Comment{comment(100, 11)}
	for id := lyceum.CommentID(101); id <= 100+lyceum.MaxCommentDepth+1; id++ {
		thread = append(thread, comment(id, 11, id-1))
	}
	deepest := len(thread) - 1
	wantForeseen(t, "comments", func() *learning.Rows[lyceum.Comment] { return d.service.ImportComments(by) },
		[]string{
			"", "", "parent_id 100 matches no comment under lecture 12; a reply comes after the comment that it replies to",
			"parent_id 110 is 10 replies deep already",
		},
		thread[:3], thread[3:deepest], []lyceum.Comment{comment(200, 12, 100)}, thread[deepest:])

	enrollments := func() *learning.Rows[lyceum.Enrollment] { return d.service.ImportEnrollments(by) }
	wantForeseen(t, "who came back", enrollments, []string{"", ""},
		[]lyceum.Enrollment{{ID: 2, User: 2, Course: 1, EnrolledAt: day(5), EndedAt: ended}},
		[]lyceum.Enrollment{{ID: 90, User: 2, Course: 1, EnrolledAt: day(21)}})
	wantForeseen(t, "two enrollments of one second", enrollments, []string{"", "", ""},
		[]lyceum.Enrollment{{ID: 91, User: 4, Course: 4, EnrolledAt: day(5), EndedAt: ended}},
		[]lyceum.Enrollment{{ID: 92, User: 4, Course: 4, EnrolledAt: day(5), EndedAt: ended}},
		[]lyceum.Enrollment{{ID: 93, User: 4, Course: 4, EnrolledAt: day(5)}})
	wantForeseen(t, "an enrollment that is there", enrollments,
		[]string{"enrolled_at is already the id of enrollment 2 of the same user and course"},
		[]lyceum.Enrollment{{ID: 94, User: 2, Course: 1, EnrolledAt: day(5), EndedAt: ended}})
	answered := lyceum.Some(day(9))
	wantForeseen(t, "two responses of one second",
		func() *learning.Rows[lyceum.QuizResponse] { return d.service.ImportQuizResponses(by) }, []string{"", ""},
		[]lyceum.QuizResponse{{ID: 80, User: 4, Quiz: 901, SubmittedAt: answered}},
		[]lyceum.QuizResponse{{ID: 81, User: 4, Quiz: 901, SubmittedAt: answered}})

	product := func(course int) lyceum.CollectionProduct {
		return lyceum.CollectionProduct{In: 1, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: int32(1000 + course)}}
	}
	var most []lyceum.CollectionProduct
	for i := range lyceum.MaxIncluded {
		most = append(most, product(i))
	}
	wantForeseen(t, "products of a collection",
		func() *learning.Rows[lyceum.CollectionProduct] { return d.service.CollectionProducts().Import(by) },
		[]string{"", "", "product_collection_id 1 has 500 products, the most that it can have"},
		most[:200], most[200:], []lyceum.CollectionProduct{product(lyceum.MaxIncluded)})
	wantForeseen(t, "attachments of a download",
		func() *learning.Rows[lyceum.DownloadAttachment] { return d.service.ImportDownloadAttachments(by) },
		[]string{"", "kind must be redirect, like the other attachments of digital download 1", "kind redirect can be that of one attachment, and digital download 1 has one"},
		[]lyceum.DownloadAttachment{{ID: 1, DigitalDownloadID: 1, Kind: lyceum.DownloadRedirect, URL: "https://example.com", ButtonText: lyceum.Some("Go")}},
		[]lyceum.DownloadAttachment{{ID: 2, DigitalDownloadID: 1, Kind: lyceum.DownloadFile, URL: "https://example.com/a", Filename: lyceum.Some("a"), SizeInBytes: lyceum.Some[int64](1)}},
		[]lyceum.DownloadAttachment{{ID: 3, DigitalDownloadID: 1, Kind: lyceum.DownloadRedirect, URL: "https://example.com", ButtonText: lyceum.Some("Go")}})
	wantForeseen(t, "quiz of another attachment",
		func() *learning.Rows[lyceum.Attachment] { return d.service.ImportAttachments(by) },
		[]string{"quiz_id 901 is the quiz of attachment 107"},
		[]lyceum.Attachment{
			{ID: 401, Lecture: 11, Kind: lyceum.QuizAttachment, Quiz: &lyceum.Quiz{ID: 901}},
		})
}
