package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestImportIsWhole checks that, whatever the rows of a file say about each other and however
// they are divided into batches, either all of them are imported or none is, and that importing
// the same file again changes nothing.
func TestImportIsWhole(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, storetest.NewClassroom("x").Save)
	at := lyceum.Second(time.Now())
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		for n := range lyceum.UserID(500) {
			if err := tx.Users.Insert(tx, lyceum.User{ID: 1000 + n, Email: fmt.Sprintf("%d@example.com", n), CreatedAt: at}); err != nil {
				return err
			}
		}
		_, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: at, UpdatedAt: at},
			lyceum.ProductCollection{ID: 2, Name: "Few", CreatedAt: at, UpdatedAt: at})
		return err
	})
	i := newImporter(&program{ctx: t.Context(), clock: time.Now}, store, school)

	var passed, refused int
	rapid.Check(t, func(t *rapid.T) {
		// Few values in each file, so that rows collide; many across files, so that some
		// collide with nothing in the school.
		some := rapid.IntRange(1000, 1498).Draw(t, "users and ids")
		user, id := oneOf(strconv.Itoa(some), strconv.Itoa(some+1)), near(5*some, 5)
		course, day := oneOf("1", "2", "3"), oneOf("2024-01-01", "2024-01-02")
		ended := oneOf("", "", "2024-02-01")
		name := rapid.SampledFrom([]string{
			"enrollments", "progress", "lecture-progress", "quiz-responses", "courses", "coupons", "comments", "collection-products",
		}).Draw(t, "kind")
		size := rapid.IntRange(1, 4).Draw(t, "size")
		ids := rapid.Bool().Draw(t, "ids")
		file := func(header string, cells ...*rapid.Generator[string]) string {
			return drawFile(t, ids, id, header, cells...)
		}
		var whole bool
		switch name {
		case "enrollments":
			whole = importWhole(t, intake.Enrollments(), i.learning.ImportEnrollments(i.by), size,
				file("user_id,course_id,enrolled_at,expires_at,ended_at", user, course, day, oneOf(""), ended))
		case "progress":
			whole = importWhole(t, intake.CourseProgress(), i.learning.ImportProgress(i.by), size,
				file("user_id,course_id,percent_complete,completed_at,certificate_issued_at,certificate_page_id,"+
					"certificate_serial_number", user, course, oneOf("1", "2"), oneOf(",,,")))
		case "lecture-progress":
			whole = importWhole(t, intake.LectureProgress(), i.learning.ImportLectureProgress(i.by), size,
				file("user_id,course_id,lecture_id,completed_at", user, oneOf("1,11", "1,12", "3,31"), day))
		case "quiz-responses":
			whole = importWhole(t, intake.QuizResponses(), i.learning.ImportQuizResponses(i.by), size,
				file("quiz_id,user_id,submitted_at,percent_correct", oneOf("901"), user, ended, oneOf("0.5", "1")))
		case "courses":
			ids = true
			whole = importWhole(t, intake.Courses(), i.learning.ImportCourses(i.by), size,
				file("name,is_published,friendly_url", oneOf("A"), oneOf("true"), oneOf("", "", "pots", "Pots", "pans", "cups")))
		case "coupons":
			ids = true
			whole = importWhole(t, intake.Coupons(), i.learning.ImportCoupons(i.by), size,
				file("code,name,discount_percent,discount_amount,discount_currency,duration_kind,discount_in_months,"+
					"number_available,expiration_date,scope_type,product_type,product_id,pricing_plan_id,cap_visible,"+
					"display_priority,friendly_url,created_at,updated_at,archived_at",
					oneOf("", "SPRING", "spring", "fall"), oneOf(",0.5,,,,,,,all_products,,,,true,,,,"), ended))
		case "comments":
			ids = true
			whole = importWhole(t, intake.Comments(), i.learning.ImportComments(i.by), size,
				file("lecture_id,user_id,parent_id,body", oneOf("11", "11", "12"), user, oneOf("", strconv.Itoa(5*some), strconv.Itoa(5*some+1)), oneOf("Hi", "Ho")))
		case "collection-products":
			whole = importWhole(t, intake.CollectionProducts(), i.learning.CollectionProducts().Import(i.by), size,
				file("product_collection_id,product_type,product_id", oneOf("1", "2"), oneOf("course"), course))
		}
		if whole {
			passed++
		} else {
			refused++
		}
	})
	if passed == 0 || refused == 0 {
		t.Errorf("%d files were imported and %d were refused", passed, refused)
	}
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// near draws one of n numbers starting with first.
func near(first, n int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return strconv.Itoa(rapid.IntRange(first, first+n-1).Draw(t, "number")) })
}

func oneOf(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(words) }

// drawFile draws a CSV file of a few rows.
func drawFile(t *rapid.T, ids bool, id *rapid.Generator[string], header string, cells ...*rapid.Generator[string]) string {
	var file strings.Builder
	if ids {
		header = "id," + header
		cells = append([]*rapid.Generator[string]{id}, cells...)
	}
	file.WriteString(header + "\n")
	for range rapid.IntRange(1, 5).Draw(t, "rows") {
		row := make([]string, len(cells))
		for n := range cells {
			row[n] = cells[n].Draw(t, "cell")
		}
		file.WriteString(strings.Join(row, ",") + "\n")
	}
	return file.String()
}

// importWhole imports a file and reports whether its rows were valid.
func importWhole[T any](t *rapid.T, kind intake.Kind[T], sink intake.Sink[T], size int, file string) bool {
	var reported []string
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file)), nil }
	o := intake.Options{BatchSize: size, Problem: func(p intake.Problem) { reported = append(reported, fmt.Sprint(p)) }}
	_, err := intake.Import(context.Background(), open, kind, sink, o)
	if err != nil {
		if !strings.Contains(err.Error(), "not valid; nothing was imported") {
			t.Fatalf("%v\n%s\n%s", err, strings.Join(reported, "\n"), file)
		}
		return false
	}
	again, err := intake.Import(context.Background(), open, kind, sink, o)
	if err != nil || again.Saved.Created+again.Saved.Updated+again.Bad > 0 {
		t.Fatalf("again: %+v, %v\n%s\n%s", again, err, strings.Join(reported, "\n"), file)
	}
	return true
}
