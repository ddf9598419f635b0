package apiv1

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) progress() []wire.Operation {
	return []wire.Operation{
		one("CourseProgress", wire.Get, coursePath+"/progress", bindProgress, f.showProgress, "", progress),
	}
}

func (f *Face) myProgress() []wire.Operation {
	const path = myCoursePath + "/progress"
	return []wire.Operation{
		one("showCurrentUserCourseProgress", wire.Get, path, bindMyProgress, f.showProgress, "", progress),
	}
}

// courseProgress holds the parameters of the operations on progress. The page is one of
// published lectures.
type courseProgress struct {
	course lyceum.CourseID
	user   lyceum.UserID // if the caller is not a learner
	page   lyceum.Page
}

func bindProgress(in *wire.Input) courseProgress {
	return courseProgress{
		bindCourse(in), wire.ID[lyceum.UserID](in.Query("user_id").Required()).Value, bindPage(in, defaultPer),
	}
}

func bindMyProgress(in *wire.Input) courseProgress {
	return courseProgress{course: bindCourse(in), page: bindPage(in, defaultPer)}
}

// progressPage is a learner's progress with the page of lectures to render.
type progressPage struct {
	learning.ProgressDetail

	page lyceum.Page
}

func (f *Face) showProgress(ctx context.Context, by lyceum.By, q courseProgress) (progressPage, error) {
	p, err := f.Learning.Progress(ctx, by, by.Learner.Else(q.user), q.course)
	return progressPage{p, q.page}, err
}

func progress(p progressPage) gen.OneCourseProgress {
	var total, first, last int64
	if len(p.Done) > 0 {
		total = int64(len(p.Lectures))
		first = min(p.page.Offset(), total)
		last = min(first+int64(p.page.Size), total)
	}
	shown := p.Lectures[first:last]
	m := meta{total, p.page, len(shown)}
	from, to := m.bounds()
	return gen.OneCourseProgress{
		CourseProgress: gen.CourseProgress{
			ID: int32(p.ID), Certificate: certificate(p.Certificate), CompletedAt: wire.OptMoment(p.CompletedAt),
			EnrolledAt: wire.OptMoment(p.EnrolledAt), PercentComplete: p.PercentComplete,
			LectureSections: progressSections(&p.ProgressDetail, shown),
		},
		Meta: gen.PaginationMeta{
			Total: int32(total), Page: p.page.Number, From: int32(from), To: int32(to), PerPage: p.page.Size,
			NumberOfPages: int32(m.pages()),
		},
	}
}

// progressSections returns the sections of the lectures on a page.
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
	return gen.Certificate{
		IssuedAt: wire.OptMoment(lyceum.Some(c.Value.IssuedAt)), PageID: &c.Value.PageID,
		SerialNumber: &c.Value.SerialNumber,
	}
}
