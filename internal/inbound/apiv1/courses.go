package apiv1

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func bindListCourses(in *wire.Input) gen.ListCoursesParams {
	return gen.ListCoursesParams{
		Name: in.Words("name"), IsPublished: in.Bool("is_published"), AuthorBioID: in.Int32("author_bio_id"), CreatedAt: in.Time("created_at"),
		Page: in.Int32From("page", 1), Per: in.Int32From("per", 1),
	}
}

// bindListMyCourses leaves out author_bio_id, which learners do not filter by.
func bindListMyCourses(in *wire.Input) gen.ListCoursesParams {
	q := bindListCourses(in)
	q.AuthorBioID = nil
	return q
}

// ListCourses serves GET /v1/courses and GET /v1/current_user/courses.
func (f *Face) ListCourses(ctx context.Context, who wire.Principal, q gen.ListCoursesParams) (wire.JSON, error) {
	filter := lyceum.CourseFilter{Name: wire.Opt(q.Name), IsPublished: wire.Opt(q.IsPublished), AuthorID: wire.OptNumber[lyceum.AuthorID](q.AuthorBioID)}
	if q.CreatedAt != nil { // itself included
		filter.Created.After = q.CreatedAt.Add(-time.Microsecond)
	}
	listing, err := f.learning.Courses(ctx, who.Viewer(), filter, pageFrom(q.Page, q.Per))
	if err != nil {
		return wire.JSON{}, err
	}
	list := gen.CourseList{Courses: make([]gen.CourseSummary, len(listing.Rows)), Meta: metaOf(listing.Total, listing.Page, len(listing.Rows))}
	for i := range listing.Rows {
		c := &listing.Rows[i]
		list.Courses[i] = gen.CourseSummary{
			ID: int32(c.ID), Description: wire.Optional(c.Description), Name: c.Name, Heading: wire.Optional(c.Heading), IsPublished: c.IsPublished, ImageURL: wire.Optional(c.ImageURL),
		}
	}
	return wire.JSON{Value: list}, nil
}

func bindCourse(in *wire.Input) lyceum.CourseID { return lyceum.CourseID(in.PathID("course_id")) }

// ShowCourse serves GET /v1/courses/{course_id} and its like of a learner.
func (f *Face) ShowCourse(ctx context.Context, who wire.Principal, id lyceum.CourseID) (wire.JSON, error) {
	c, err := f.learning.Course(ctx, who.Viewer(), id)
	if err != nil {
		return wire.JSON{}, err
	}
	detail := gen.CourseDetail{
		ID: int32(c.ID), Description: wire.Optional(c.Description), Name: c.Name, Heading: wire.Optional(c.Heading), IsPublished: c.IsPublished, ImageURL: wire.Optional(c.ImageURL),
		LectureSections: []gen.LectureSection{}, AuthorBio: authorBio(&c),
	}
	for _, section := range c.Contents.Sections {
		s := gen.LectureSection{ID: int32(section.ID), Name: section.Name, IsPublished: section.IsPublished, Position: section.Position, Lectures: []gen.LectureSummary{}}
		for _, l := range c.Contents.Lectures {
			if l.Section == section.ID {
				s.Lectures = append(s.Lectures, gen.LectureSummary{ID: int32(l.ID), Position: l.Position, IsPublished: l.IsPublished})
			}
		}
		detail.LectureSections = append(detail.LectureSections, s)
	}
	return wire.JSON{Value: gen.OneCourse{Course: detail}}, nil
}

func authorBio(c *learning.CourseDetail) gen.AuthorBio {
	if a := c.Author.Value; c.Author.Present {
		return gen.AuthorBio{Name: a.Name.Value, Bio: wire.Optional(a.Bio), ProfileImageURL: wire.Optional(a.ProfileImageURL), UserID: wire.Number(a.UserID)}
	}
	return gen.AuthorBio{Name: c.School}
}

// enrollmentsPer is how many enrollments a page has without per. Programs read
// the first page alone to decide who may enter, so it is as good as all.
const enrollmentsPer = 10_000

// courseEnrollments is what ShowCourseEnrollments is asked.
type courseEnrollments struct {
	course lyceum.CourseID
	params gen.ShowCourseEnrollmentsParams
}

func bindListCourseEnrollments(in *wire.Input) courseEnrollments {
	return courseEnrollments{bindCourse(in), gen.ShowCourseEnrollmentsParams{
		EnrolledInAfter: in.Time("enrolled_in_after"), EnrolledInBefore: in.Time("enrolled_in_before"),
		SortDirection: (*gen.ShowCourseEnrollmentsParamsSortDirection)(in.OneOf("sort_direction", "asc", "desc")),
		Page:          in.Int32From("page", 1), Per: in.Int32From("per", 1),
	}}
}

// ListCourseEnrollments serves GET /v1/courses/{course_id}/enrollments.
func (f *Face) ListCourseEnrollments(ctx context.Context, who wire.Principal, q courseEnrollments) (enrollmentList, error) {
	filter := lyceum.EnrolledFilter{
		Course: q.course, Order: lyceum.NewestFirst,
		Enrolled: lyceum.Period{After: wire.Bound(q.params.EnrolledInAfter), Until: wire.Bound(q.params.EnrolledInBefore)},
	}
	if d := q.params.SortDirection; d != nil && *d == "asc" {
		filter.Order = lyceum.OldestFirst
	}
	listing, err := f.learning.Enrollments(ctx, who.Caller.School, filter, pageOf(q.params.Page, q.params.Per, enrollmentsPer))
	return enrollmentList(listing), err
}

// enrollmentList is gen.EnrollmentList on its way out, appended by hand.
type enrollmentList lyceum.Listing[lyceum.Enrolled]

// enrollmentBytes is the length of a long row of the list.
const enrollmentBytes = 176

// AppendJSON implements wire.Body. The buffer grows once: a page can have
// 10,000 rows.
func (l enrollmentList) AppendJSON(b []byte) ([]byte, error) {
	b = slices.Grow(b, len(l.Rows)*enrollmentBytes)
	b = append(b, `{"enrollments":[`...)
	for i := range l.Rows {
		e := &l.Rows[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendNumber(b, `{"user_id":`, e.User)
		b = lyceum.AppendTime(append(b, `,"enrolled_at":"`...), e.EnrolledAt)
		b = wire.AppendOptMoment(b, `","completed_at":`, e.CompletedAt)
		b = wire.AppendNumber(b, `,"percent_complete":`, e.PercentComplete)
		b = append(wire.AppendOptMoment(b, `,"expires_at":`, e.ExpiresAt), '}')
	}
	return append(appendMeta(append(b, "],"...), l.Total, l.Page, len(l.Rows)), '}'), nil
}
