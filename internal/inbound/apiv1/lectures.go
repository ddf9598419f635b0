package apiv1

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) lectures() []wire.Operation {
	return []wire.Operation{
		one("ShowLecture", wire.Get, lecturePath, bindLecture, f.showLecture, "lecture", lecture),
		none("MarkLectureComplete", wire.Run, lecturePath+"/mark_complete", bindComplete, f.markComplete),
	}
}

func (f *Face) myLectures() []wire.Operation {
	return []wire.Operation{
		one("showCurrentUserLecture", wire.Get, myLecturePath, bindLecture, f.showLecture, "lecture", myLecture),
		none("markCurrentUserLectureComplete", wire.Run, myLecturePath+"/mark_complete", bindLecture, f.markComplete),
	}
}

// inLecture holds the parameters of the operations on a lecture.
type inLecture struct {
	course     lyceum.CourseID
	lecture    lyceum.LectureID
	attachment lyceum.AttachmentID // a video or a quiz
	user       lyceum.UserID       // if the caller is not a learner
}

func bindLecture(in *wire.Input) inLecture {
	return inLecture{course: bindCourse(in), lecture: wire.PathID[lyceum.LectureID](in, "lecture_id")}
}

func bindComplete(in *wire.Input) inLecture {
	q := bindLecture(in)
	q.user = wire.ID[lyceum.UserID](in.Body("user_id").Required()).Value
	return q
}

func (f *Face) showLecture(ctx context.Context, by lyceum.By, q inLecture) (learning.LectureDetail, error) {
	return f.Learning.Lecture(ctx, by, q.course, q.lecture)
}

func (f *Face) markComplete(ctx context.Context, by lyceum.By, q inLecture) error {
	_, err := f.Learning.Complete(ctx, by, by.Learner.Else(q.user), q.course, q.lecture)
	return err
}

func lecture(l learning.LectureDetail) gen.Lecture { return lectureWith(&l, withAnswers) }

// myLecture renders a lecture for a learner, without the answers of its quizzes.
func myLecture(l learning.LectureDetail) gen.Lecture { return lectureWith(&l, withoutAnswers) }

func lectureWith(l *learning.LectureDetail, a answers) gen.Lecture {
	shown := gen.Lecture{
		ID: int32(l.ID), Name: l.Name.Value, IsPublished: l.IsPublished, Position: l.Position,
		LectureSectionID: int32(l.Section), Attachments: []gen.Attachment{},
	}
	for i := range l.Attachments {
		shown.Attachments = append(shown.Attachments, attachment(&l.Attachments[i], a))
	}
	return shown
}

func attachment(a *lyceum.Attachment, shown answers) gen.Attachment {
	one := gen.Attachment{
		ID: int32(a.ID), Name: wire.Optional(a.Name), Kind: string(a.Kind), URL: wire.Optional(a.URL),
		Text: wire.Optional(a.Text), Position: wire.Number(a.Position),
		FileSize: wire.Number(a.FileSize), FileExtension: wire.Optional(a.FileExtension),
	}
	if a.Quiz != nil {
		one.Quiz = &gen.AttachmentQuiz{ID: int32(a.Quiz.ID), Type: quizType, Questions: questions(a.Quiz, shown)}
	}
	return one
}
