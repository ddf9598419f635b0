package apiv2

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) myLectures() []wire.Operation {
	const each, done = myLecturePath + "/attachments", myLecturePath + "/completion"
	return []wire.Operation{
		one("showCurrentUserLecture", wire.Get, myLecturePath, bindLecture, f.showLecture, lecture),
		many("listCurrentUserAttachments", each, perPage, byLecture, f.learning.Attachments, myAttachment),
		one(
			"showCurrentUserAttachment", wire.Get, each+"/{attachment_id}", byAttachment, f.learning.OneAttachment, myAttachment,
		),
		one("showCurrentUserVideo", wire.Get, myLecturePath+"/videos/{video_id}", bindMyVideo, f.showVideo, video),
		one("showCurrentUserCompletion", wire.Get, done, bindLecture, f.showCompletion, completion),
		one("putCurrentUserCompletion", wire.Put, done, bindLecture, f.putCompletion, completion),
		wire.None("deleteCurrentUserCompletion", wire.Delete, done, bindLecture, f.deleteCompletion),
	}
}

// inLecture holds the parameters of the operations on a lecture.
type inLecture struct {
	course  lyceum.CourseID
	lecture lyceum.LectureID
}

func bindLecture(in *wire.Input) inLecture {
	return inLecture{bindCourse(in), wire.PathID[lyceum.LectureID](in, "lecture_id")}
}

func (f *Face) showLecture(ctx context.Context, by lyceum.By, q inLecture) (learning.LectureDetail, error) {
	return f.learning.Lecture(ctx, by, q.course, q.lecture)
}

// lecture renders a lecture for a learner, without the answers of its quizzes.
func lecture(l learning.LectureDetail) gen.Lecture {
	shown := gen.Lecture{
		ID: int32(l.ID), Name: wire.Optional(l.Name), IsPublished: l.IsPublished, Position: l.Position,
		SectionID: int32(l.Section), Attachments: []gen.Attachment{},
	}
	for i := range l.Attachments {
		shown.Attachments = append(shown.Attachments, attachment(&l.Attachments[i]))
	}
	return shown
}

func attachment(a *lyceum.Attachment) gen.Attachment {
	shown := gen.Attachment{
		ID: int32(a.ID), Name: wire.Optional(a.Name), Kind: string(a.Kind), URL: wire.Optional(a.URL),
		Text: wire.Optional(a.Text), Position: wire.Number(a.Position),
		FileSize: wire.Number(a.FileSize), FileExtension: wire.Optional(a.FileExtension),
	}
	if a.Quiz == nil {
		return shown
	}
	shown.Quiz = &gen.AttachmentQuiz{ID: shown.ID, Questions: []gen.QuizQuestion{}}
	for i := range a.Quiz.Questions {
		unanswered := a.Quiz.Questions[i].Unanswered()
		shown.Quiz.Questions = append(shown.Quiz.Questions, gen.QuizQuestion(unanswered.Plain()))
	}
	return shown
}

func (f *Face) showCompletion(ctx context.Context, by lyceum.By, q inLecture) (lyceum.Opt[time.Time], error) {
	return f.learning.Completion(ctx, by, by.Learner.Value, q.course, q.lecture)
}

func (f *Face) putCompletion(ctx context.Context, by lyceum.By, q inLecture) (lyceum.Opt[time.Time], error) {
	at, err := f.learning.Complete(ctx, by, by.Learner.Value, q.course, q.lecture)
	return lyceum.Some(at), err
}

func (f *Face) deleteCompletion(ctx context.Context, by lyceum.By, q inLecture) error {
	return f.learning.Uncomplete(ctx, by, by.Learner.Value, q.course, q.lecture)
}

func bindMyVideo(in *wire.Input) learning.InLecture {
	return learning.InLecture{Lecture: byLecture(in), ID: wire.PathID[lyceum.AttachmentID](in, "video_id")}
}

// myAttachment renders an attachment for a learner.
func myAttachment(a learning.AttachmentDetail) gen.LectureAttachment {
	shown := lectureAttachment(a)
	href := fmt.Sprintf("/v2/current_user/courses/%d/lectures/%d/attachments/%d", a.Course, a.Lecture, a.ID)
	shown.Href = &href
	return shown
}

func completion(at lyceum.Opt[time.Time]) gen.Completion {
	return gen.Completion{Completed: at.Present, CompletedAt: wire.OptMoment(at)}
}
