package learning_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// take imports a batch, which must have the same problems when it is checked and when it is
// saved, and must change nothing the second time.
func take[T any](t *testing.T, rows *learning.Rows[T], batch ...T) (lyceum.Saved, []lyceum.RowProblem) {
	t.Helper()
	checked, err := rows.Check(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	saved, problems, err := rows.Save(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(checked, problems); diff != "" {
		t.Errorf("problems (-checked +saved):\n%s", diff)
	}
	again, _, err := rows.Save(t.Context(), batch)
	if err != nil || again.Created+again.Updated > 0 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	return saved, problems
}

// wantTaken imports a batch whose rows at the indexes of wrong must be rejected with those
// errors.
func wantTaken[T any](t *testing.T, name string, rows *learning.Rows[T], wrong map[int]lyceum.FieldError, batch ...T) {
	t.Helper()
	saved, problems := take(t, rows, batch...)
	got := map[int]lyceum.FieldError{}
	for _, p := range problems {
		got[p.Index] = p.FieldError
	}
	if diff := cmp.Diff(wrong, got); diff != "" && len(wrong)+len(got) > 0 {
		t.Errorf("%s: problems (-want +got):\n%s", name, diff)
	}
	if saved.Total() != len(batch)-len(wrong) {
		t.Errorf("%s: saved %+v of %d", name, saved, len(batch))
	}
}

func newClassroom(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	storetest.Write(t, d.store, d.school, storetest.NewClassroom("x").Save)
	return d
}

func TestRowsAreTaken(t *testing.T) {
	d := newClassroom(t)
	type wrong = map[int]lyceum.FieldError
	day, none := storetest.Day, lyceum.None[time.Time]()
	wantTaken(t, "authors", d.service.ImportAuthors(lyceum.By{School: d.school, Actor: "import"}), wrong{1: {Field: "user_id", Message: "99 matches no user of this school; import the users first"}},
		lyceum.AuthorProfile{ID: 8, Name: lyceum.Some("Eve")}, lyceum.AuthorProfile{ID: 9, UserID: lyceum.Some(lyceum.UserID(99))})
	wantTaken(t, "affiliates", d.service.ImportAffiliates(lyceum.By{School: d.school, Actor: "import"}), wrong{1: {Field: "user_id", Message: "99 matches no user of this school; import the users first"}},
		lyceum.AffiliatePartner{ID: 8, Name: lyceum.Some("Fairs")}, lyceum.AffiliatePartner{ID: 9, UserID: lyceum.Some(lyceum.UserID(99))})
	code, half, cent := lyceum.Some[string], lyceum.Some(0.5), lyceum.Some(lyceum.Minor(1))
	wantTaken(t, "coupons", d.service.ImportCoupons(lyceum.By{School: d.school, Actor: "import"}), wrong{
		1:  {Field: "code", Message: "is already the code of coupon 1 (case-insensitive)"},
		3:  {Field: "pricing_plan_id", Message: "99 matches no pricing plan of this school; import the pricing plans first"},
		4:  {Field: "product_id", Message: "99 matches no membership tier of this school; import the membership-tiers first"},
		5:  {Field: "product_type", Message: "must be used together with product_id"},
		6:  {Field: "discount_amount", Message: "must not be used together with discount_percent"},
		7:  {Field: "discount_currency", Message: "must be used together with discount_amount"},
		8:  {Field: "discount_in_months", Message: "is required when duration_kind is repeating"},
		9:  {Field: "code", Message: "must be 1 to 64 characters long, without white space"},
		10: {Field: "discount_percent", Message: "and discount_amount must be more than 0"},
	}, lyceum.Coupon{ID: 1, Code: code("SPRING"), Percent: half}, lyceum.Coupon{ID: 2, Code: code("Spring"), Percent: half},
		lyceum.Coupon{ID: 3, Code: code("spring"), Percent: half, ArchivedAt: lyceum.Some(day(1))}, lyceum.Coupon{ID: 4, Plan: lyceum.Some(lyceum.PricingPlanID(99))},
		lyceum.Coupon{ID: 5, Product: lyceum.Some(lyceum.Product{Kind: lyceum.TierKind, ID: 99})}, lyceum.Coupon{ID: 6, Product: lyceum.Some(lyceum.Product{ID: 1})},
		lyceum.Coupon{ID: 7, Percent: half, Amount: cent, Currency: lyceum.Some(lyceum.Currency("USD"))}, lyceum.Coupon{ID: 8, Amount: cent},
		lyceum.Coupon{ID: 9, Percent: half, Duration: lyceum.Some(lyceum.ForMonths)}, lyceum.Coupon{ID: 10, Code: code("A B")},
		lyceum.Coupon{ID: 11, Percent: lyceum.Some(0.0)}, lyceum.Coupon{ID: 12})
	wantTaken(t, "courses", d.service.ImportCourses(lyceum.By{School: d.school, Actor: "import"}), wrong{0: {Field: "author_bio_id", Message: "99 matches no author of this school; import the authors first"}},
		lyceum.CourseRow{Course: lyceum.Course{ID: 9, AuthorID: lyceum.Some(lyceum.AuthorID(99))}}, lyceum.CourseRow{Course: lyceum.Course{ID: 10, Name: "New"}, Listed: lyceum.Some(false)})
	wantTaken(t, "sections", d.service.ImportLectureSections(lyceum.By{School: d.school, Actor: "import"}), wrong{0: {Field: "course_id", Message: "99 matches no course of this school; import the courses first"}},
		lyceum.LectureSection{ID: 8, Course: 99}, lyceum.LectureSection{ID: 9, Course: 4, Name: "New", IsPublished: true, Position: 1})
	wantTaken(t, "lectures", d.service.ImportLectures(lyceum.By{School: d.school, Actor: "import"}), wrong{
		0: {Field: "lecture_section_id", Message: "99 matches no lecture section of this school; import the lecture sections first"},
		1: {Field: "lecture_section_id", Message: "1 is a section of course 1, not of course 4"},
	}, lyceum.Lecture{ID: 88, Course: 4, Section: 99}, lyceum.Lecture{ID: 89, Course: 4, Section: 1}, lyceum.Lecture{ID: 90, Course: 4, Section: 9, Position: 1})
	wantTaken(t, "attachments", d.service.ImportAttachments(lyceum.By{School: d.school, Actor: "import"}), wrong{
		0:  {Field: "lecture_id", Message: "99 matches no lecture of this school; import the lectures first"},
		1:  {Field: "quiz_id", Message: "must be empty for an attachment of the kind text"},
		2:  {Field: "video_url", Message: "must be empty for an attachment of the kind pdf_embed"},
		4:  {Field: "kind", Message: "must be a word of 1 to 64 letters, digits, _ or -"},
		5:  {Field: "kind", Message: "must be a word of 1 to 64 letters, digits, _ or -"},
		6:  {Field: "kind", Message: "must be a word of 1 to 64 letters, digits, _ or -"},
		7:  {Field: "questions", Message: "question_type of question 2 must be a word of 1 to 64 letters, digits, _ or -"},
		10: {Field: "quiz_id", Message: "must not be empty for an attachment of the kind quiz"},
		11: {Field: "quiz_id", Message: "must be 902, because that quiz has responses"},
		12: {Field: "quiz_id", Message: "must be 902, because that quiz has responses"},
	}, lyceum.Attachment{ID: 300, Lecture: 99, Kind: lyceum.TextAttachment}, lyceum.Attachment{ID: 301, Lecture: 11, Kind: lyceum.TextAttachment, Quiz: &lyceum.Quiz{ID: 3}},
		lyceum.Attachment{ID: 302, Lecture: 11, Kind: lyceum.PDFAttachment, Video: lyceum.Some(lyceum.Video{URL: "x"})}, lyceum.Attachment{ID: 303, Lecture: 11, Kind: lyceum.UpsellAttachment},
		lyceum.Attachment{ID: 304, Lecture: 11}, lyceum.Attachment{ID: 305, Lecture: 11, Kind: "a word"}, lyceum.Attachment{ID: 306, Lecture: 11, Kind: lyceum.AttachmentKind(strings.Repeat("x", 65))},
		lyceum.Attachment{ID: 307, Lecture: 11, Kind: lyceum.QuizAttachment, Quiz: &lyceum.Quiz{ID: 907, Questions: []lyceum.Question{{QuestionType: "fill_blank"}, {}}}},
		lyceum.Attachment{ID: 308, Lecture: 11, Kind: "open_response_question"}, lyceum.Attachment{ID: 309, Lecture: 11, Kind: "pdf"},
		lyceum.Attachment{ID: 310, Lecture: 11, Kind: lyceum.QuizAttachment}, lyceum.Attachment{ID: 120, Lecture: 12, Kind: lyceum.QuizAttachment, Quiz: &lyceum.Quiz{ID: 909}},
		lyceum.Attachment{ID: 120, Lecture: 12, Kind: lyceum.TextAttachment})
	wantTaken(t, "enrollments", d.service.ImportEnrollments(lyceum.By{School: d.school, Actor: "import"}), wrong{
		0: {Field: "user_id", Message: "99 matches no user of this school; import the users first"},
		1: {Field: "ended_at", Message: "must not be empty: enrollment 2 of the same user and course is still active"},
		2: {Field: "enrolled_at", Message: "is already the id of enrollment 2 of the same user and course"},
		4: {Field: "ended_at", Message: "must not be empty: enrollment 50 of the same user and course is still active"},
		8: {Field: "id", Message: "7 is the enrollment of user 2 in course 2; use another id, or leave the column out"},
		9: {Field: "id", Message: "8 is the enrollment of user 3 in course 3; use another id, or leave the column out"},
	}, lyceum.Enrollment{ID: 48, User: 99, Course: 1}, lyceum.Enrollment{ID: 49, User: 2, Course: 1, EnrolledAt: day(9)}, lyceum.Enrollment{ID: 52, User: 2, Course: 1, EnrolledAt: day(5), EndedAt: lyceum.Some(day(6))},
		lyceum.Enrollment{ID: 50, User: 4, Course: 4, EnrolledAt: day(5)}, lyceum.Enrollment{ID: 51, User: 4, Course: 4, EnrolledAt: day(6)},
		lyceum.Enrollment{User: 5, Course: 4, EnrolledAt: day(7), ExpiresAt: lyceum.Some(day(20))}, lyceum.Enrollment{ID: 6, User: 5, Course: 1, EnrolledAt: day(5), EndedAt: lyceum.Some(day(8))},
		lyceum.Enrollment{User: 5, Course: 1, EnrolledAt: day(9), EndedAt: none},
		lyceum.Enrollment{ID: 7, User: 2, Course: 4, EnrolledAt: day(7)}, lyceum.Enrollment{ID: 8, User: 1, Course: 3, EnrolledAt: day(7)},
		lyceum.Enrollment{User: 1, Course: 3, EnrolledAt: day(8)})
	wantTaken(t, "progress", d.service.ImportProgress(lyceum.By{School: d.school, Actor: "import"}), wrong{
		1: {Field: "course_id", Message: "is already progress 1 of the same user"},
		3: {Field: "id", Message: "3 is the progress of user 3 in course 1; use another id, or leave the column out"},
		4: {Field: "id", Message: "4 is the progress of user 2 in course 3; use another id, or leave the column out"},
		6: {Field: "id", Message: "2 is the progress of user 5 in course 1; use another id, or leave the column out"},
	}, lyceum.Progress{User: 2, Course: 1, PercentComplete: 66}, lyceum.Progress{ID: 70, User: 2, Course: 1}, lyceum.Progress{ID: 71, User: 1, Course: 1, PercentComplete: 5},
		lyceum.Progress{ID: 3, User: 2, Course: 3}, lyceum.Progress{ID: 4, User: 3, Course: 1}, // exchanged
		lyceum.Progress{User: 5, Course: 1, PercentComplete: 100}, lyceum.Progress{ID: 2, User: 4, Course: 1})
	wantTaken(t, "lecture progress", d.service.ImportLectureProgress(lyceum.By{School: d.school, Actor: "import"}), wrong{
		0: {Field: "course_id", Message: "must be 1, the course of lecture 12"},
		2: {Field: "lecture_id", Message: "is already lecture progress 1 of the same user"},
		3: {Field: "id", Message: "3 is the lecture progress of user 5 in lecture 12; use another id, or leave the column out"},
		4: {Field: "id", Message: "4 is the lecture progress of user 5 in lecture 13; use another id, or leave the column out"},
	}, lyceum.LectureProgress{User: 2, Course: 3, Lecture: 12, CompletedAt: day(9)}, lyceum.LectureProgress{User: 2, Course: 1, Lecture: 12, CompletedAt: day(9)},
		lyceum.LectureProgress{ID: 80, User: 2, Course: 1, Lecture: 11, CompletedAt: day(9)},
		lyceum.LectureProgress{ID: 3, User: 5, Course: 1, Lecture: 13, CompletedAt: day(9)}, lyceum.LectureProgress{ID: 4, User: 5, Course: 1, Lecture: 12, CompletedAt: day(8)}, // exchanged
		lyceum.LectureProgress{User: 5, Course: 1, Lecture: 12, CompletedAt: day(8)})
	wantTaken(t, "quiz responses", d.service.ImportQuizResponses(lyceum.By{School: d.school, Actor: "import"}), wrong{
		0: {Field: "quiz_id", Message: "903 matches no quiz of this school; import the attachments first"},
		2: {Field: "id", Message: "1 is a response of user 2 to quiz 901; use another id, or leave the column out"},
		3: {Field: "id", Message: "2 is a response of user 5 to quiz 901; use another id, or leave the column out"},
	}, lyceum.QuizResponse{Quiz: 903, User: 2}, lyceum.QuizResponse{Quiz: 901, User: 2, SubmittedAt: lyceum.Some(day(6)), PercentCorrect: lyceum.Some(0.25)},
		lyceum.QuizResponse{ID: 1, Quiz: 901, User: 5, SubmittedAt: lyceum.Some(day(6))}, lyceum.QuizResponse{ID: 2, Quiz: 902, User: 5, SubmittedAt: lyceum.Some(day(7))},
		lyceum.QuizResponse{ID: 3, Quiz: 901, User: 2, SubmittedAt: lyceum.Some(day(9))})
	if findings, err := d.store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// progress returns the progress of a user in course 1.
func (d *desk) progress(t *testing.T, user lyceum.UserID) lyceum.Progress {
	t.Helper()
	v := d.store.In(t.Context(), d.school)
	p, found, err := v.Progress.First(v, lyceum.ProgressFilter{User: lyceum.Some(user), Course: lyceum.Some(lyceum.CourseID(1))})
	if err != nil || !found {
		t.Fatalf("progress of user %d: %v, %v", user, found, err)
	}
	return p
}

// TestProgressIsCountedAnew checks that publishing other lectures updates everybody's percentage
// and takes back nobody's completion.
func TestProgressIsCountedAnew(t *testing.T) {
	d := newClassroom(t)
	lectures := d.service.ImportLectures(lyceum.By{School: d.school, Actor: "import"})
	percents := func() (all []int32) {
		for _, user := range []lyceum.UserID{2, 5} {
			p := d.progress(t, user)
			if user == 5 && !p.CompletedAt.Present {
				t.Error("the completion is gone")
			}
			all = append(all, p.PercentComplete)
		}
		return all
	}
	for _, step := range []struct {
		name    string
		lecture lyceum.Lecture
		want    []int32
	}{
		{"a fourth is published", lyceum.Lecture{ID: 14, Course: 1, Section: 2, IsPublished: true, Position: 2}, []int32{25, 75}},
		{"another name changes nothing", lyceum.Lecture{ID: 14, Course: 1, Section: 2, Name: lyceum.Some("Ashes"), IsPublished: true, Position: 2}, []int32{25, 75}},
		{"it is hidden again", lyceum.Lecture{ID: 14, Course: 1, Section: 2, Position: 2}, []int32{33, 100}},
		{"another is hidden", lyceum.Lecture{ID: 13, Course: 1, Section: 2, Position: 1}, []int32{50, 100}},
		{"into a hidden section", lyceum.Lecture{ID: 12, Course: 1, Section: 3, IsPublished: true, Position: 5}, []int32{100, 100}},
	} {
		take(t, lectures, step.lecture)
		if diff := cmp.Diff(step.want, percents()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	p := d.progress(t, 2)
	if p.CompletedAt != lyceum.Some(storetest.Day(6)) || !p.Certificate.Present {
		t.Errorf("who has all that is left completed the course with its last lecture: %+v", p)
	}
	take(t, d.service.ImportLectureSections(lyceum.By{School: d.school, Actor: "import"}), lyceum.LectureSection{ID: 3, Course: 1, Name: "Drafts", IsPublished: true, Position: 3})
	if diff := cmp.Diff([]int32{33, 66}, percents()); diff != "" {
		t.Errorf("the section is shown (-want +got):\n%s", diff)
	}
}
