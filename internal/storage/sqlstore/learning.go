package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// getByID finds one row of a table; what names the thing in a refusal.
func getByID[ID ~int32, T any](q *session, school lyceum.SchoolID, table *table[T], id ID, what string) (T, error) {
	var row T
	there, err := q.one("SELECT "+table.list()+" FROM "+table.name+" WHERE school_id = $1 AND "+table.columns[0]+" = $2", []any{int64(school), int64(id)}, table.scan(&row)...)
	if err != nil {
		return row, fmt.Errorf("get %s: %w", what, err)
	}
	if !there {
		return row, lyceum.Errorf(lyceum.NotFound, "there is no %s %d", what, id)
	}
	return row, nil
}

// rows gives all rows of a query over the columns of a table.
func rows[T any](q *session, table *table[T], tail string, args ...any) ([]T, error) {
	var found []T
	var row T
	err := q.each("SELECT "+table.list()+" FROM "+table.name+tail, args, table.scan(&row), func() error { found = append(found, row); return nil })
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", table.name, err)
	}
	return found, nil
}

// pageOf reads a page and its total in one statement, which sees one moment; a
// page without rows asks for its total apart.
func pageOf[T any](ctx context.Context, s *Store, columns, from string, w *where, count total, order string, p lyceum.Page, scan func(*T) []any) (found []T, n int64, err error) {
	return pageBy(ctx, s, func(limit string) string {
		return "SELECT " + count.text + ", " + columns + from + w.String() + order + limit
	}, w, count, p, scan)
}

// pageBy is pageOf for a statement of another form, which is given its limit
// and has the total as its first column.
func pageBy[T any](ctx context.Context, s *Store, phrase func(limit string) string, w *where, count total, p lyceum.Page, scan func(*T) []any) (found []T, n int64, err error) {
	args := append(slices.Clone(w.args), int64(p.Size), p.Offset())
	text := phrase(" LIMIT $" + strconv.Itoa(len(args)-1) + " OFFSET $" + strconv.Itoa(len(args)))
	read := func(q *session) error {
		found = nil
		var row T
		return q.each(text, args, append([]any{scanInt(&n)}, scan(&row)...), func() error {
			found = append(found, row)
			return nil
		})
	}
	if err = read(s.reads.single(ctx)); err == nil && len(found) == 0 {
		err = s.reads.snapshot(ctx, func(q *session) error {
			if err := read(q); err != nil || len(found) > 0 {
				return err
			}
			_, err := q.one("SELECT "+count.text, w.args[:count.args], scanInt(&n))
			return err
		})
	}
	return found, n, s.public(err)
}

// total is an expression that counts, over the first arguments of the
// conditions.
type total struct {
	text string
	args int
}

// counted is the total of the rows that pass the conditions.
func counted(from string, w *where) total {
	return total{"(SELECT count(*)" + from + w.String() + ")", len(w.args)}
}

// kept is the total that a counter keeps; $1 is the school.
func kept(counter string) total {
	return total{"COALESCE((SELECT c.value FROM counters c WHERE c.school_id = $1 AND c.name = '" + counter + "'), 0)", 1}
}

// FindCourses implements lyceum.Reader.
func (s *Store) FindCourses(ctx context.Context, school lyceum.SchoolID, f lyceum.CourseFilter, o lyceum.CourseOrder, p lyceum.Page) (lyceum.CourseListing, error) {
	w := &where{}
	w.and("k.school_id = ?", int64(school))
	if f.Name.Present {
		w.and("LOWER(k.name) LIKE ? ESCAPE '!'", partOf(f.Name.Value))
	}
	if f.Search.Present {
		w.and("(LOWER(k.name) LIKE ? ESCAPE '!' OR LOWER(k.description) LIKE ? ESCAPE '!')", partOf(f.Search.Value), partOf(f.Search.Value))
	}
	if f.IsPublished.Present {
		w.and("k.is_published = ?", flag(f.IsPublished.Value))
	}
	if f.IsListed.Present {
		w.and("k.is_listed = ?", flag(f.IsListed.Value))
	}
	if f.AuthorID.Present {
		w.and("k.author_id = ?", int64(f.AuthorID.Value))
	}
	w.within("k.created_at", f.Created)
	if f.EnrolledUser.Present {
		w.and("EXISTS (SELECT 1 FROM enrollments e WHERE e.school_id = k.school_id AND e.user_id = ? AND e.course_id = k.course_id AND e.ended_at IS NULL AND (e.expires_at IS NULL OR e.expires_at > ?))",
			int64(f.EnrolledUser.Value), micros(f.EnrolledAt))
	}
	direction := map[bool]string{true: " DESC"}[o.Descending]
	order := map[lyceum.CourseKey]string{lyceum.CourseByName: "LOWER(k.name)" + direction + ", ", lyceum.CourseByCreated: "k.created_at" + direction + ", ", lyceum.CourseByUpdated: "k.updated_at" + direction + ", "}[o.By]
	from := " FROM courses k"
	found, total, err := pageOf(ctx, s, courses.of("k"), from, w, counted(from, w), " ORDER BY "+order+"k.course_id"+direction, p, courses.scan)
	return lyceum.CourseListing{Page: p, Total: total, Courses: found}, err
}

// partOf is the pattern of what has a text in it, whatever its case.
func partOf(text string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(text)) + "%"
}

// GetCourse implements lyceum.Reader.
func (s *Store) GetCourse(ctx context.Context, school lyceum.SchoolID, id lyceum.CourseID) (lyceum.Course, error) {
	row, err := getByID(s.reads.single(ctx), school, &courses.table, id, "course")
	return row, s.public(err)
}

// GetAuthor implements lyceum.Reader.
func (s *Store) GetAuthor(ctx context.Context, school lyceum.SchoolID, id lyceum.AuthorID) (lyceum.AuthorProfile, error) {
	row, err := getByID(s.reads.single(ctx), school, &authors.table, id, "author")
	return row, s.public(err)
}

// GetContents implements lyceum.Reader.
func (s *Store) GetContents(ctx context.Context, school lyceum.SchoolID, course lyceum.CourseID) (lyceum.Contents, error) {
	var contents lyceum.Contents
	err := s.reads.snapshot(ctx, func(q *session) error {
		var err error
		contents, err = getContents(q, school, course)
		return err
	})
	return contents, s.public(err)
}

func getContents(q *session, school lyceum.SchoolID, course lyceum.CourseID) (lyceum.Contents, error) {
	sections, err := rows(q, &lectureSections.table, " WHERE school_id = $1 AND course_id = $2 ORDER BY position, lecture_section_id", int64(school), int64(course))
	if err != nil {
		return lyceum.Contents{}, err
	}
	place := map[lyceum.LectureSectionID]int{}
	for i := range sections {
		place[sections[i].ID] = i
	}
	found, err := rows(q, &lectures.table, " WHERE school_id = $1 AND course_id = $2 ORDER BY position, lecture_id", int64(school), int64(course))
	slices.SortStableFunc(found, func(a, b lyceum.Lecture) int { return place[a.Section] - place[b.Section] })
	return lyceum.Contents{Sections: sections, Lectures: found}, err
}

// FindAttachments implements lyceum.Reader.
func (s *Store) FindAttachments(ctx context.Context, school lyceum.SchoolID, lecture lyceum.LectureID) ([]lyceum.Attachment, error) {
	found, err := rows(s.reads.single(ctx), &attachments.table, " WHERE school_id = $1 AND lecture_id = $2 ORDER BY COALESCE(position, 2147483647), attachment_id", int64(school), int64(lecture))
	return found, s.public(err)
}

// FindQuizResponses implements lyceum.Reader.
func (s *Store) FindQuizResponses(ctx context.Context, school lyceum.SchoolID, quiz lyceum.QuizID) ([]lyceum.AnsweredQuiz, error) {
	var found []lyceum.AnsweredQuiz
	var row lyceum.AnsweredQuiz
	err := s.reads.single(ctx).each("SELECT "+quizResponses.of("r")+", u.name, u.email FROM quiz_responses r JOIN users u ON u.school_id = r.school_id AND u.user_id = r.user_id"+
		" WHERE r.school_id = $1 AND r.quiz_id = $2 ORDER BY r.quiz_response_id",
		[]any{int64(school), int64(quiz)}, append(quizResponses.scan(&row.QuizResponse), scanOptText(&row.UserName), scanText(&row.UserEmail)),
		func() error { found = append(found, row); return nil })
	return found, s.public(err)
}

// FindQuiz implements lyceum.Reader.
func (s *Store) FindQuiz(ctx context.Context, school lyceum.SchoolID, id lyceum.QuizID) (lyceum.Attachment, error) {
	found, err := rows(s.reads.single(ctx), &attachments.table, " WHERE school_id = $1 AND quiz_id = $2", int64(school), int64(id))
	if err == nil && len(found) == 0 {
		err = lyceum.Errorf(lyceum.NotFound, "there is no quiz %d", id)
	}
	if err != nil {
		return lyceum.Attachment{}, s.public(err)
	}
	return found[0], nil
}

// FindUserPage implements lyceum.Reader.
func (s *Store) FindUserPage(ctx context.Context, school lyceum.SchoolID, f lyceum.UserFilter, p lyceum.Page) (lyceum.UserListing, error) {
	w := &where{}
	w.and("u.school_id = ?", int64(school))
	from, count := " FROM users u", kept(users.counter)
	if f.Email.Present {
		w.and("u.email_key = ?", emailKey(f.Email.Value))
		count = counted(from, w)
	}
	asked := p
	if f.After.Present {
		w.and("u.user_id > ?", int64(f.After.Value))
		p = lyceum.Page{Number: 1, Size: p.Size + 1} // one more tells whether there are more
	}
	found, n, err := pageOf(ctx, s, "u.user_id, u.email, u.name", from, w, count, " ORDER BY u.user_id", p, func(u *lyceum.User) []any {
		return []any{scanInt(&u.ID), scanText(&u.Email), scanOptText(&u.Name)}
	})
	listing := lyceum.UserListing{Page: asked, Total: n, Users: found}
	if f.After.Present && len(found) > int(asked.Size) {
		listing.More, listing.Users = true, found[:asked.Size]
	}
	return listing, err
}

// FindTags implements lyceum.Reader.
func (s *Store) FindTags(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) ([]string, error) {
	found, err := findTags(s.reads.single(ctx), school, user)
	return found, s.public(err)
}

func findTags(q *session, school lyceum.SchoolID, user lyceum.UserID) ([]string, error) {
	var found []string
	var name string
	err := q.each("SELECT name FROM user_tags WHERE school_id = $1 AND user_id = $2 ORDER BY name", []any{int64(school), int64(user)},
		[]any{scanText(&name)}, func() error { found = append(found, name); return nil })
	slices.Sort(found) // in one order on every engine
	return found, err
}

// enrolledColumns are those of an enrollment e with its progress p and its
// course k.
var enrolledColumns = enrollments.of("e") + ", k.name, COALESCE(p.percent_complete, 0), p.completed_at"

func scanEnrolled(e *lyceum.Enrolled) []any {
	return append(enrollments.scan(&e.Enrollment), scanText(&e.CourseName), scanInt(&e.PercentComplete), scanOptTime(&e.CompletedAt))
}

const enrolledFrom = ` FROM enrollments e JOIN courses k ON k.school_id = e.school_id AND k.course_id = e.course_id
	LEFT JOIN progress p ON p.school_id = e.school_id AND p.user_id = e.user_id AND p.course_id = e.course_id`

// openCounter counts the enrollments of a course that nobody ended and that
// never expire.
func openCounter(course lyceum.CourseID) string { return "enrollments:" + strconv.Itoa(int(course)) }

// FindEnrollments implements lyceum.Reader. The total of a whole course is kept
// by a counter; only those that expire some day are counted.
func (s *Store) FindEnrollments(ctx context.Context, school lyceum.SchoolID, f lyceum.EnrollmentFilter, o lyceum.Order, p lyceum.Page) (lyceum.EnrollmentListing, error) {
	w := &where{}
	w.and("e.school_id = ?", int64(school))
	w.and("e.course_id = ?", int64(f.Course))
	w.and("e.ended_at IS NULL")
	w.and("(e.expires_at IS NULL OR e.expires_at > ?)", micros(f.ActiveAt))
	whole := f.Enrolled == (lyceum.Period{})
	w.within("e.enrolled_at", f.Enrolled)
	count := counted(" FROM enrollments e", w)
	if whole {
		count.text = "(" + kept(openCounter(f.Course)).text + " + (SELECT count(*) FROM enrollments x WHERE x.school_id = $1 AND x.course_id = $2 AND x.ended_at IS NULL AND x.expires_at IS NOT NULL AND x.expires_at > $3))"
	}
	direction := map[bool]string{true: " DESC"}[o == lyceum.NewestFirst]
	order := " ORDER BY e.enrolled_at" + direction + ", e.user_id" + direction
	// The rows before the page are passed over in the index alone; progress is
	// looked up for those of the page.
	found, n, err := pageBy(ctx, s, func(limit string) string {
		return "SELECT " + count.text + `, e.user_id, e.enrolled_at, e.expires_at, COALESCE(p.percent_complete, 0), p.completed_at
			FROM (SELECT e.school_id, e.user_id, e.course_id, e.enrolled_at, e.expires_at FROM enrollments e` + w.String() + order + limit + `) e
			LEFT JOIN progress p ON p.school_id = e.school_id AND p.user_id = e.user_id AND p.course_id = e.course_id` + order
	}, w, count, p, func(e *lyceum.Enrolled) []any {
		e.Course = f.Course
		return []any{scanInt(&e.User), scanTime(&e.EnrolledAt), scanOptTime(&e.ExpiresAt), scanInt(&e.PercentComplete), scanOptTime(&e.CompletedAt)}
	})
	return lyceum.EnrollmentListing{Page: p, Total: n, Enrollments: found}, err
}

// FindUserEnrollments implements lyceum.Reader.
func (s *Store) FindUserEnrollments(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) ([]lyceum.Enrolled, error) {
	var found []lyceum.Enrolled
	var row lyceum.Enrolled
	err := s.reads.single(ctx).each("SELECT "+enrolledColumns+enrolledFrom+" WHERE e.school_id = $1 AND e.user_id = $2 ORDER BY e.enrollment_id",
		[]any{int64(school), int64(user)}, scanEnrolled(&row), func() error { found = append(found, row); return nil })
	return found, s.public(err)
}

// GetProgress implements lyceum.Reader.
func (s *Store) GetProgress(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID, course lyceum.CourseID) (lyceum.Progress, error) {
	row, err := getProgress(s.reads.single(ctx), school, user, course)
	return row, s.public(err)
}

func getProgress(q *session, school lyceum.SchoolID, user lyceum.UserID, course lyceum.CourseID) (lyceum.Progress, error) {
	found, err := rows(q, &progress.table, " WHERE school_id = $1 AND user_id = $2 AND course_id = $3", int64(school), int64(user), int64(course))
	if err != nil {
		return lyceum.Progress{}, err
	}
	if len(found) == 0 {
		return lyceum.Progress{}, lyceum.Errorf(lyceum.NotFound, "user %d has no progress in course %d", user, course)
	}
	return found[0], nil
}

// FindLectureProgress implements lyceum.Reader.
func (s *Store) FindLectureProgress(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID, course lyceum.CourseID) (map[lyceum.LectureID]lyceum.LectureProgress, error) {
	found, err := findLectureProgress(s.reads.single(ctx), school, user, course)
	return found, s.public(err)
}

func findLectureProgress(q *session, school lyceum.SchoolID, user lyceum.UserID, course lyceum.CourseID) (map[lyceum.LectureID]lyceum.LectureProgress, error) {
	found, err := rows(q, &lectureProgress.table, " WHERE school_id = $1 AND user_id = $2 AND course_id = $3", int64(school), int64(user), int64(course))
	byLecture := make(map[lyceum.LectureID]lyceum.LectureProgress, len(found))
	for _, row := range found {
		byLecture[row.Lecture] = row
	}
	return byLecture, err
}

// FindPricingPlanPage implements lyceum.Reader.
func (s *Store) FindPricingPlanPage(ctx context.Context, school lyceum.SchoolID, p lyceum.Page) (lyceum.PricingPlanListing, error) {
	w := &where{}
	w.and("p.school_id = ?", int64(school))
	w.and("p.course_id IS NOT NULL")
	from := " FROM pricing_plans p"
	found, total, err := pageOf(ctx, s, pricingPlans.of("p"), from, w, counted(from, w), " ORDER BY p.pricing_plan_id", p, pricingPlans.scan)
	return lyceum.PricingPlanListing{Page: p, Total: total, PricingPlans: found}, err
}

// GetPricingPlan implements lyceum.Reader.
func (s *Store) GetPricingPlan(ctx context.Context, school lyceum.SchoolID, id lyceum.PricingPlanID) (lyceum.PricingPlan, error) {
	row, err := getByID(s.reads.single(ctx), school, &pricingPlans.table, id, "pricing plan")
	return row, s.public(err)
}

// EachAuthor implements lyceum.Reader.
func (s *Store) EachAuthor(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.AuthorProfile) error) error {
	return eachRow(ctx, s, &authors.table, school, visit)
}

// EachLectureSection implements lyceum.Reader.
func (s *Store) EachLectureSection(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.LectureSection) error) error {
	return eachRow(ctx, s, &lectureSections.table, school, visit)
}

// EachLecture implements lyceum.Reader.
func (s *Store) EachLecture(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.Lecture) error) error {
	return eachRow(ctx, s, &lectures.table, school, visit)
}

// EachAttachment implements lyceum.Reader.
func (s *Store) EachAttachment(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.Attachment) error) error {
	return eachRow(ctx, s, &attachments.table, school, visit)
}

// EachEnrollment implements lyceum.Reader.
func (s *Store) EachEnrollment(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.Enrollment) error) error {
	return eachRow(ctx, s, &enrollments.table, school, visit)
}

// EachProgress implements lyceum.Reader.
func (s *Store) EachProgress(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.Progress) error) error {
	return eachRow(ctx, s, &progress.table, school, visit)
}

// EachLectureProgress implements lyceum.Reader.
func (s *Store) EachLectureProgress(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.LectureProgress) error) error {
	return eachRow(ctx, s, &lectureProgress.table, school, visit)
}

// EachQuizResponse implements lyceum.Reader.
func (s *Store) EachQuizResponse(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.QuizResponse) error) error {
	return eachRow(ctx, s, &quizResponses.table, school, visit)
}

// EachWebhook implements lyceum.Reader.
func (s *Store) EachWebhook(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.Webhook) error) error {
	return eachRow(ctx, s, &webhooks.table, school, visit)
}

// EachWebhookEvent implements lyceum.Reader.
func (s *Store) EachWebhookEvent(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.WebhookEvent) error) error {
	return eachRow(ctx, s, &webhookEvents.table, school, visit)
}

// EachTag implements lyceum.Reader.
func (s *Store) EachTag(ctx context.Context, school lyceum.SchoolID, visit func(lyceum.UserID, string) error) error {
	err := s.reads.snapshot(ctx, func(q *session) error {
		var user lyceum.UserID
		var name string
		return q.each("SELECT user_id, name FROM user_tags WHERE school_id = $1 ORDER BY user_id, name", []any{int64(school)},
			[]any{scanInt(&user), scanText(&name)}, func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return visit(user, name)
			})
	})
	return s.public(err)
}
