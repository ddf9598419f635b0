package apiv1

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// inLecture is what the operations about a lecture are asked.
type inLecture struct {
	course     lyceum.CourseID
	lecture    lyceum.LectureID
	attachment lyceum.AttachmentID // a video or a quiz
	user       lyceum.UserID
}

func bindLecture(in *wire.Input) inLecture {
	return inLecture{course: bindCourse(in), lecture: lyceum.LectureID(in.PathID("lecture_id"))}
}

func bindVideo(in *wire.Input) inLecture {
	q := bindLecture(in)
	q.attachment = lyceum.AttachmentID(in.PathID("video_id"))
	in.Int32From("user_id", 1)
	return q
}

func bindQuiz(in *wire.Input) inLecture {
	q := bindLecture(in)
	q.attachment = lyceum.AttachmentID(in.PathID("quiz_id"))
	return q
}

func bindMarkComplete(in *wire.Input) inLecture {
	q := bindLecture(in)
	in.ReadJSON()
	q.user = lyceum.UserID(in.RequiredID("user_id"))
	return q
}

// ShowLecture serves GET /v1/courses/{course_id}/lectures/{lecture_id} and its
// like of a learner, who is not told the answers of a quiz.
func (f *Face) ShowLecture(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	l, err := f.learning.Lecture(ctx, who.Viewer(), q.course, q.lecture)
	if err != nil {
		return wire.JSON{}, err
	}
	lecture := gen.Lecture{
		ID: int32(l.ID), Name: l.Name.Value, IsPublished: l.IsPublished, Position: l.Position, LectureSectionID: int32(l.Section), Attachments: []gen.Attachment{},
	}
	for i := range l.Attachments {
		lecture.Attachments = append(lecture.Attachments, attachment(&l.Attachments[i], who.Learner == nil))
	}
	return wire.JSON{Value: gen.OneLecture{Lecture: lecture}}, nil
}

// quizType is the type of every quiz.
const quizType = "Quiz"

func attachment(a *lyceum.Attachment, answers bool) gen.Attachment {
	shown := gen.Attachment{
		ID: int32(a.ID), Name: wire.Optional(a.Name), Kind: string(a.Kind), URL: wire.Optional(a.URL), Text: wire.Optional(a.Text), Position: wire.Number(a.Position),
		FileSize: wire.Number(a.FileSize), FileExtension: wire.Optional(a.FileExtension),
	}
	if a.Quiz != nil {
		shown.Quiz = &gen.AttachmentQuiz{ID: int32(a.Quiz.ID), Type: quizType, Questions: questions(a.Quiz, answers)}
	}
	return shown
}

func questions(quiz *lyceum.Quiz, answers bool) []gen.QuizQuestion {
	list := make([]gen.QuizQuestion, len(quiz.Questions))
	for i, q := range quiz.Questions {
		list[i] = gen.QuizQuestion{
			Question: q.Question, QuestionType: q.QuestionType, Answers: append([]string{}, q.Answers...), CorrectAnswers: []string{}, Graded: q.Graded,
		}
		if answers {
			list[i].CorrectAnswers = append(list[i].CorrectAnswers, q.CorrectAnswers...)
		}
	}
	return list
}

// MarkLectureComplete serves POST …/lectures/{lecture_id}/mark_complete and its
// like of a learner, which has no body.
func (f *Face) MarkLectureComplete(ctx context.Context, who wire.Principal, q inLecture) (wire.Nothing, error) {
	v := who.Viewer()
	if v.Learner.Present {
		q.user = v.Learner.Value
	}
	_, err := f.learning.Complete(ctx, v, q.user, q.course, q.lecture)
	return wire.Nothing{}, err
}

// ShowVideo serves GET …/lectures/{lecture_id}/videos/{video_id}.
func (f *Face) ShowVideo(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	_, a, err := f.learning.Attachment(ctx, who.Viewer(), q.course, q.lecture, q.attachment, lyceum.VideoAttachment)
	if err != nil {
		return wire.JSON{}, err
	}
	video := gen.Video{ID: int32(a.ID), Status: gen.VideoStatus(lyceum.VideoProcessing), MediaType: "VIDEO"}
	if v := a.Video.Value; a.Video.Present {
		video.VideoAsset = gen.VideoAsset{URL: v.URL, ContentType: v.ContentType}
		video.Status, video.URLThumbnail, video.MediaDuration = gen.VideoStatus(v.Status), wire.Optional(v.Thumbnail), wire.Number(v.Duration)
	}
	return wire.JSON{Value: gen.OneVideo{Video: video}}, nil
}

// ListQuizzes serves GET …/lectures/{lecture_id}/quizzes.
func (f *Face) ListQuizzes(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	l, err := f.learning.Lecture(ctx, who.Viewer(), q.course, q.lecture)
	list := gen.QuizIDList{QuizIds: []int32{}}
	for i := range l.Attachments {
		if l.Attachments[i].Kind == lyceum.QuizAttachment {
			list.QuizIds = append(list.QuizIds, int32(l.Attachments[i].ID))
		}
	}
	return wire.JSON{Value: list}, err
}

// ShowQuiz serves GET …/lectures/{lecture_id}/quizzes/{quiz_id}.
func (f *Face) ShowQuiz(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	_, a, err := f.learning.Attachment(ctx, who.Viewer(), q.course, q.lecture, q.attachment, lyceum.QuizAttachment)
	if err != nil {
		return wire.JSON{}, err
	}
	shown := gen.QuizAttachment{ID: int32(a.ID), Name: wire.Optional(a.Name), Kind: "quiz", URL: wire.Optional(a.URL), Text: wire.Optional(a.Text), Position: a.Position.Value}
	if shown.Quiz = (gen.Quiz{Type: quizType, Questions: []gen.QuizQuestion{}}); a.Quiz != nil {
		shown.Quiz.ID, shown.Quiz.Questions = int32(a.Quiz.ID), questions(a.Quiz, true)
	}
	return wire.JSON{Value: gen.OneQuiz{Quiz: shown}}, nil
}

// ListQuizResponses serves GET …/quizzes/{quiz_id}/responses.
func (f *Face) ListQuizResponses(ctx context.Context, who wire.Principal, q inLecture) (wire.JSON, error) {
	all, err := f.learning.QuizResponses(ctx, who.Viewer(), q.course, q.lecture, q.attachment)
	if err != nil {
		return wire.JSON{}, err
	}
	list := gen.QuizResponses{
		CourseID: int32(q.course), CourseName: all.Lecture.CourseName, LectureID: int32(q.lecture), LectureName: all.Lecture.Name.Value,
		Graded: graded(all), Responses: []gen.QuizResponse{},
	}
	for _, r := range all.Responses {
		list.Responses = append(list.Responses, gen.QuizResponse{
			StudentID: int32(r.User), StudentName: wire.Optional(r.UserName), StudentEmail: &r.UserEmail,
			SubmittedAt: wire.OptMoment(r.SubmittedAt), PercentCorrect: wire.Optional(r.PercentCorrect),
		})
	}
	return wire.JSON{Value: gen.QuizResponseList{QuizResponses: list}}, nil
}

func graded(all learning.QuizAnswers) bool {
	for _, q := range all.Quiz.Questions {
		if q.Graded {
			return true
		}
	}
	return false
}
