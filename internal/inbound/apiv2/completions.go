package apiv2

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) completions() []wire.Operation {
	const done, progressPath = lecturePath + "/users/{user_id}/completion", coursePath + "/users/{user_id}/progress"
	user := byUser(lyceum.CourseKind, "course_id")
	return []wire.Operation{
		one("showCompletion", wire.Get, done, bindUserLecture, f.showUserCompletion, completion),
		one("putCompletion", wire.Put, done, bindUserLecture, f.putUserCompletion, completion),
		wire.None("deleteCompletion", wire.Delete, done, bindUserLecture, f.deleteUserCompletion),
		one("showUserCourseProgress", wire.Get, progressPath, user, f.showUserProgress, progress),
	}
}

// userLecture holds the parameters of the operations on the completion of a lecture.
type userLecture struct {
	inLecture

	user lyceum.UserID
}

func bindUserLecture(in *wire.Input) userLecture {
	return userLecture{bindLecture(in), wire.PathID[lyceum.UserID](in, "user_id")}
}

func (f *Face) showUserCompletion(
	ctx context.Context, by lyceum.By, q userLecture,
) (lyceum.Opt[time.Time], error) {
	return f.learning.Completion(ctx, by, q.user, q.course, q.lecture)
}

func (f *Face) putUserCompletion(ctx context.Context, by lyceum.By, q userLecture) (lyceum.Opt[time.Time], error) {
	at, err := f.learning.Complete(ctx, by, q.user, q.course, q.lecture)
	return lyceum.Some(at), err
}

func (f *Face) deleteUserCompletion(ctx context.Context, by lyceum.By, q userLecture) error {
	return f.learning.Uncomplete(ctx, by, q.user, q.course, q.lecture)
}

func (f *Face) showUserProgress(
	ctx context.Context, by lyceum.By, q learning.UserProduct,
) (learning.ProgressDetail, error) {
	return f.learning.Progress(ctx, by, q.User, lyceum.CourseID(q.Product.ID))
}
