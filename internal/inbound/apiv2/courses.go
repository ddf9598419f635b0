package apiv2

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// courses is what the lists of courses are asked.
type courses struct {
	filter lyceum.CourseFilter
	page   lyceum.Page
}

var courseKeys = map[string]lyceum.CourseKey{"name": lyceum.CourseByName, "created_at": lyceum.CourseByCreated, "updated_at": lyceum.CourseByUpdated}

func bindListProductCourses(in *wire.Input) courses {
	q := bindListMyCourses(in)
	q.filter.IsPublished, q.filter.IsListed = wire.Opt(in.Bool("is_published")), wire.Opt(in.Bool("is_listed"))
	if id := in.Int32("author_bio_id"); id != nil {
		q.filter.AuthorID = lyceum.Some(lyceum.AuthorID(*id))
	}
	q.filter.Search = wire.Opt(in.Words("search"))
	if by := in.OneOf("sort_by", "name", "created_at", "updated_at"); by != nil {
		q.filter.Order.By = courseKeys[*by]
	}
	if direction := in.OneOf("sort_direction", "asc", "desc"); direction != nil {
		q.filter.Order.Descending = *direction == "desc"
	}
	return q
}

func bindListMyCourses(in *wire.Input) courses {
	q := courses{page: bindPage(in)}
	q.filter.Order = lyceum.CourseOrder{By: lyceum.CourseByCreated, Descending: true}
	q.filter.Name = wire.Opt(in.Words("name"))
	q.filter.Created = lyceum.Period{After: wire.Bound(in.Time("created_after")), Until: wire.Bound(in.Time("created_before"))}
	return q
}

// The page sizes of v2 (contract/v2.yaml).
const (
	defaultPerPage = 25
	maxPerPage     = 100
)

func bindPage(in *wire.Input) lyceum.Page {
	p := lyceum.Page{Number: 1, Size: defaultPerPage}
	if page := in.Int32From("page", 1); page != nil {
		p.Number = *page
	}
	if per := in.Int32Between("per_page", 1, maxPerPage); per != nil {
		p.Size = *per
	}
	return p
}

// ListProductCourses serves GET /v2/products/courses.
func (f *Face) ListProductCourses(ctx context.Context, who wire.Principal, q courses) (wire.JSON, error) {
	if err := f.learning.OpenV2(ctx, who.Caller.School); err != nil {
		return wire.JSON{}, err
	}
	return f.ListCourses(ctx, who, q)
}

// ListCourses serves GET /v2/current_user/courses.
func (f *Face) ListCourses(ctx context.Context, who wire.Principal, q courses) (wire.JSON, error) {
	listing, err := f.learning.Courses(ctx, who.Viewer(), q.filter, q.page)
	list := gen.CourseList{Data: []gen.Course{}, Meta: gen.PaginationMeta{
		Page: q.page.Number, PerPage: q.page.Size, TotalCount: int32(listing.Total), TotalPages: int32((listing.Total + int64(q.page.Size) - 1) / int64(q.page.Size)),
	}}
	for i := range listing.Rows {
		list.Data = append(list.Data, course(who, &listing.Rows[i]))
	}
	return wire.JSON{Value: list}, err
}

// course shows a course to who asks. Its href is the operation that shows it to
// them; a program of the school has none yet.
func course(who wire.Principal, c *lyceum.Course) gen.Course {
	shown := gen.Course{
		ID: int32(c.ID), Name: c.Name, IsPublished: c.IsPublished, IsListed: c.IsListed, Description: wire.Optional(c.Heading), AuthorBioID: wire.Number(c.AuthorID),
		ImageURL: wire.Optional(c.ImageURL), CreatedAt: wire.Moment(c.CreatedAt), UpdatedAt: wire.Moment(c.UpdatedAt),
	}
	if who.Learner != nil {
		href := fmt.Sprintf("/v2/current_user/courses/%d", c.ID)
		shown.Href = &href
	}
	return shown
}

func bindCourse(in *wire.Input) lyceum.CourseID { return lyceum.CourseID(in.PathID("course_id")) }

// ShowCourse serves GET /v2/current_user/courses/{course_id}.
func (f *Face) ShowCourse(ctx context.Context, who wire.Principal, id lyceum.CourseID) (wire.JSON, error) {
	c, err := f.learning.Course(ctx, who.Viewer(), id)
	if err != nil {
		return wire.JSON{}, err
	}
	shown := course(who, &c.Course)
	detail := gen.CourseDetail{
		ID: shown.ID, Name: shown.Name, IsPublished: shown.IsPublished, IsListed: shown.IsListed, Description: shown.Description, AuthorBioID: shown.AuthorBioID,
		Href: shown.Href, ImageURL: shown.ImageURL, CreatedAt: shown.CreatedAt, UpdatedAt: shown.UpdatedAt, Sections: []gen.CourseSection{}, AuthorBio: gen.AuthorBio{Name: c.School},
	}
	if a := c.Author.Value; c.Author.Present {
		detail.AuthorBio = gen.AuthorBio{Name: a.Name.Value, Bio: wire.Optional(a.Bio), ProfileImageURL: wire.Optional(a.ProfileImageURL), UserID: wire.Number(a.UserID)}
	}
	for _, section := range c.Contents.Sections {
		s := gen.CourseSection{ID: int32(section.ID), Name: section.Name, Position: section.Position, Lectures: []gen.LectureSummary{}}
		for _, l := range c.Contents.Lectures {
			if l.Section == section.ID {
				s.Lectures = append(s.Lectures, gen.LectureSummary{ID: int32(l.ID), Name: l.Name.Value, Position: l.Position})
			}
		}
		detail.Sections = append(detail.Sections, s)
	}
	return wire.JSON{Value: gen.OneCourse{Data: detail}}, nil
}

// ShowCourseProgress serves GET /v2/current_user/courses/{course_id}/progress.
func (f *Face) ShowCourseProgress(ctx context.Context, who wire.Principal, id lyceum.CourseID) (wire.JSON, error) {
	p, err := f.learning.Progress(ctx, who.Viewer(), who.Learner.User, id)
	if err != nil {
		return wire.JSON{}, err
	}
	shown := gen.CourseProgress{
		ID: int32(p.ID), CompletedAt: wire.OptMoment(p.CompletedAt), EnrolledAt: wire.OptMoment(p.EnrolledAt), PercentComplete: p.PercentComplete, Sections: []gen.ProgressSection{},
	}
	if c := p.Certificate.Value; p.Certificate.Present {
		shown.Certificate = gen.Certificate{IssuedAt: wire.OptMoment(lyceum.Some(c.IssuedAt)), PageID: &c.PageID, SerialNumber: &c.SerialNumber}
	}
	for _, section := range p.Sections {
		if section.IsPublished {
			shown.Sections = append(shown.Sections, progressSection(&p, &section))
		}
	}
	return wire.JSON{Value: gen.OneCourseProgress{Data: shown}}, nil
}

func progressSection(p *learning.ProgressDetail, section *lyceum.LectureSection) gen.ProgressSection {
	s := gen.ProgressSection{ID: int32(section.ID), Name: section.Name, Lectures: []gen.ProgressLecture{}}
	complete := 0
	for _, l := range p.Lectures {
		if l.Section != section.ID {
			continue
		}
		lecture := gen.ProgressLecture{ID: int32(l.ID), Name: l.Name.Value}
		if done, ok := p.Done[l.ID]; ok {
			complete++
			lecture.IsCompleted, lecture.CompletedAt = true, wire.OptMoment(lyceum.Some(done.CompletedAt))
		}
		s.Lectures = append(s.Lectures, lecture)
	}
	if n := len(s.Lectures); n > 0 {
		s.PercentComplete = int32(100 * complete / n)
	}
	return s
}

// inLecture is what the operations about a lecture are asked.
type inLecture struct {
	course  lyceum.CourseID
	lecture lyceum.LectureID
}

func bindLecture(in *wire.Input) inLecture {
	return inLecture{bindCourse(in), lyceum.LectureID(in.PathID("lecture_id"))}
}

// ShowLecture serves GET /v2/current_user/courses/{course_id}/lectures/{lecture_id}.
// A learner is not told the answers of a quiz.
func (f *Face) ShowLecture(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	l, err := f.learning.Lecture(ctx, who.Viewer(), q.course, q.lecture)
	if err != nil {
		return wire.JSON{}, err
	}
	shown := gen.Lecture{ID: int32(l.ID), Name: wire.Optional(l.Name), IsPublished: l.IsPublished, Position: l.Position, SectionID: int32(l.Section), Attachments: []gen.Attachment{}}
	for i := range l.Attachments {
		a := &l.Attachments[i]
		one := gen.Attachment{
			ID: int32(a.ID), Name: wire.Optional(a.Name), Kind: string(a.Kind), URL: wire.Optional(a.URL), Text: wire.Optional(a.Text), Position: wire.Number(a.Position),
			FileSize: wire.Number(a.FileSize), FileExtension: wire.Optional(a.FileExtension),
		}
		if a.Quiz != nil {
			one.Quiz = &gen.AttachmentQuiz{ID: one.ID, Questions: []gen.QuizQuestion{}}
			for _, question := range a.Quiz.Questions {
				one.Quiz.Questions = append(one.Quiz.Questions, gen.QuizQuestion{
					Question: question.Question, QuestionType: question.QuestionType,
					Answers: append([]string{}, question.Answers...), CorrectAnswers: []string{}, Graded: question.Graded,
				})
			}
		}
		shown.Attachments = append(shown.Attachments, one)
	}
	return wire.JSON{Value: gen.OneLecture{Data: shown}}, nil
}

// ShowCompletion serves GET …/lectures/{lecture_id}/completion.
func (f *Face) ShowCompletion(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	at, err := f.learning.Completion(ctx, who.Viewer(), q.course, q.lecture)
	return wire.JSON{Value: gen.OneCompletion{Data: gen.Completion{Completed: at.Present, CompletedAt: wire.OptMoment(at)}}}, err
}

// PutCompletion serves PUT …/lectures/{lecture_id}/completion.
func (f *Face) PutCompletion(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	at, err := f.learning.Complete(ctx, who.Viewer(), who.Learner.User, q.course, q.lecture)
	return wire.JSON{Value: gen.OneCompletion{Data: gen.Completion{Completed: true, CompletedAt: wire.OptMoment(lyceum.Some(at))}}}, err
}
