package apiv1

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// courseProgress is what the operations about progress are asked.
type courseProgress struct {
	course    lyceum.CourseID
	user      lyceum.UserID
	page, per *int32
}

func bindShowCourseProgress(in *wire.Input) courseProgress {
	return courseProgress{bindCourse(in), lyceum.UserID(in.RequiredInt32From("user_id", 1)), in.Int32From("page", 1), in.Int32From("per", 1)}
}

func bindMyCourseProgress(in *wire.Input) courseProgress {
	return courseProgress{course: bindCourse(in), page: in.Int32From("page", 1), per: in.Int32From("per", 1)}
}

// ShowCourseProgress serves GET /v1/courses/{course_id}/progress and its like
// of a learner. Page and per count published lectures.
func (f *Face) ShowCourseProgress(ctx context.Context, who wire.Principal, q courseProgress) (wire.JSON, error) {
	v := who.Viewer()
	if v.Learner.Present {
		q.user = v.Learner.Value
	}
	p, err := f.learning.Progress(ctx, v, q.user, q.course)
	if err != nil {
		return wire.JSON{}, err
	}
	page := pageFrom(q.page, q.per)
	var total, first, last int64
	if len(p.Done) > 0 {
		total = int64(len(p.Lectures))
		first = min(page.Offset(), total)
		last = min(first+int64(page.Size), total)
	}
	shown := p.Lectures[first:last]
	return wire.JSON{Value: gen.OneCourseProgress{
		CourseProgress: gen.CourseProgress{
			ID: int32(p.ID), Certificate: certificate(p.Certificate), CompletedAt: wire.OptMoment(p.CompletedAt), EnrolledAt: wire.OptMoment(p.EnrolledAt),
			PercentComplete: p.PercentComplete, LectureSections: progressSections(&p, shown),
		},
		Meta: metaOf(total, page, len(shown)),
	}}, nil
}

// progressSections gives the sections of the lectures that a page shows.
func progressSections(p *learning.ProgressDetail, shown []lyceum.Lecture) []gen.ProgressSection {
	sections := []gen.ProgressSection{}
	for _, section := range p.Sections {
		s := gen.ProgressSection{ID: int32(section.ID), Name: section.Name}
		for _, l := range shown {
			if l.Section != section.ID {
				continue
			}
			lecture := gen.ProgressLecture{ID: int32(l.ID), Name: l.Name.Value}
			if done, ok := p.Done[l.ID]; ok {
				lecture.IsCompleted, lecture.CompletedAt = true, wire.OptMoment(lyceum.Some(done.CompletedAt))
			}
			s.Lectures = append(s.Lectures, lecture)
		}
		if s.Lectures != nil {
			sections = append(sections, s)
		}
	}
	return sections
}

func certificate(c lyceum.Opt[lyceum.Certificate]) gen.Certificate {
	if !c.Present {
		return gen.Certificate{}
	}
	return gen.Certificate{IssuedAt: wire.OptMoment(lyceum.Some(c.Value.IssuedAt)), PageID: &c.Value.PageID, SerialNumber: &c.Value.SerialNumber}
}

// enrollment is a body about a user and a course.
type enrollment struct {
	user   lyceum.UserID
	course lyceum.CourseID
}

func bindEnrollment(in *wire.Input) enrollment {
	in.ReadJSON()
	return enrollment{lyceum.UserID(in.RequiredID("user_id")), lyceum.CourseID(in.RequiredID("course_id"))}
}

// CreateEnrollment serves POST /v1/enroll.
func (f *Face) CreateEnrollment(ctx context.Context, who wire.Principal, q enrollment) (wire.Nothing, error) {
	return wire.Nothing{}, f.learning.Enroll(ctx, who.Viewer(), q.user, q.course)
}

// DeleteEnrollment serves POST /v1/unenroll.
func (f *Face) DeleteEnrollment(ctx context.Context, who wire.Principal, q enrollment) (wire.Nothing, error) {
	return wire.Nothing{}, f.learning.Unenroll(ctx, who.Viewer(), q.user, q.course)
}
