package apiv1

import (
	"context"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) enrollments() []wire.Operation {
	return []wire.Operation{
		appended("ShowCourseEnrollments", wire.Get, coursePath+"/enrollments", bindEnrollments, f.listEnrollments),
		none("EnrollUser", wire.Run, "/v1/enroll", bindEnrollment, f.enroll),
		none("UnenrollUser", wire.Run, "/v1/unenroll", bindEnrollment, f.unenroll),
	}
}

// enrollmentsPer is the page size without per. Programs read only the first page to decide
// who has access, so it is large enough to be practically the whole list.
const enrollmentsPer = 10_000

// enrollments holds the parameters of ShowCourseEnrollments.
type enrollments struct {
	filter lyceum.EnrolledFilter
	page   lyceum.Page
}

func bindEnrollments(in *wire.Input) enrollments {
	return enrollments{lyceum.EnrolledFilter{
		Course:   bindCourse(in),
		Enrolled: wire.Period(in.Query("enrolled_in_after"), in.Query("enrolled_in_before")),
		Order:    bindOrder(in),
	}, bindPage(in, enrollmentsPer)}
}

// bindOrder reads sort_direction; the default is descending.
func bindOrder(in *wire.Input) lyceum.Order {
	if wire.OneOf(in.Query("sort_direction"), "asc", "desc").Value == "asc" {
		return lyceum.OldestFirst
	}
	return lyceum.NewestFirst
}

func (f *Face) listEnrollments(ctx context.Context, by lyceum.By, q enrollments) (enrollmentList, error) {
	listing, err := f.Learning.Enrollments(ctx, by, q.filter, q.page)
	return enrollmentList(listing), err
}

// enrollmentList is a gen.EnrollmentList that is encoded by hand.
type enrollmentList lyceum.Listing[lyceum.Enrolled]

// enrollmentBytes is the length of a long row of the list, in bytes.
const enrollmentBytes = 176

// AppendJSON implements wire.Body. It grows the buffer once: a page can have 10,000 rows.
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
	return appendMeta(append(b, "],"...), l.Total, l.Page, len(l.Rows)), nil
}

// enrollment is the body of a request about a user and a course.
type enrollment struct {
	user   lyceum.UserID
	course lyceum.CourseID
}

func bindEnrollment(in *wire.Input) enrollment {
	return enrollment{
		wire.ID[lyceum.UserID](in.Body("user_id").Required()).Value,
		wire.ID[lyceum.CourseID](in.Body("course_id").Required()).Value,
	}
}

func (f *Face) enroll(ctx context.Context, by lyceum.By, q enrollment) error {
	return f.Learning.Enroll(ctx, by, q.user, q.course)
}

func (f *Face) unenroll(ctx context.Context, by lyceum.By, q enrollment) error {
	return f.Learning.Unenroll(ctx, by, learning.UserProduct{User: q.user, Product: q.course.Product()})
}
