package apilyceum

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func bindAnswer(in *wire.Input) learning.Answer {
	in.ReadJSON("user_id", "answers")
	return learning.Answer{Quiz: lyceum.AttachmentID(in.PathID("quiz_id")), User: lyceum.UserID(in.RequiredID("user_id")), Answers: in.TextLists("answers")}
}

func oneResponse(r lyceum.AttachedResponse) any {
	return gen.OneQuizResponse{QuizResponse: responseOf(&r)}
}

func responseOf(r *lyceum.AttachedResponse) gen.QuizResponse {
	return gen.QuizResponse{
		ID: int32(r.ID), QuizID: wire.Number(r.Attachment), UserID: int32(r.User), SubmittedAt: wire.OptMoment(r.SubmittedAt), PercentCorrect: wire.Optional(r.PercentCorrect),
	}
}

func bindLecture(in *wire.Input) lyceum.LectureID { return lyceum.LectureID(in.PathID("lecture_id")) }

func bindNewComment(in *wire.Input) learning.NewComment {
	in.ReadJSON("user_id", "body")
	return learning.NewComment{Lecture: bindLecture(in), User: lyceum.UserID(in.RequiredID("user_id")), Body: in.RequiredText("body")}
}

func oneComment(c lyceum.Comment) any { return gen.OneComment{Comment: commentOf(&c)} }

func commentOf(c *lyceum.Comment) gen.Comment {
	return gen.Comment{ID: int32(c.ID), LectureID: int32(c.Lecture), UserID: int32(c.User), Body: c.Body, CreatedAt: wire.Moment(c.CreatedAt)}
}

// commentsAsked is what listComments is asked.
type commentsAsked struct {
	filter lyceum.CommentFilter
	page   lyceum.Page
}

func bindListComments(in *wire.Input) commentsAsked {
	q := commentsAsked{lyceum.CommentFilter{Lecture: bindLecture(in)}, bindPage(in)}
	if after := in.Int32From("after", 0); after != nil { // the whole list is one page after another
		q.filter.After, q.page.Number = lyceum.Some(lyceum.CommentID(*after)), 1
	}
	return q
}

// ListComments serves GET /lyceum/v1/lectures/{lecture_id}/comments.
func (f *Face) ListComments(ctx context.Context, who wire.Principal, q commentsAsked) (wire.JSON, error) {
	listing, err := f.Learning.Comments(ctx, who.Caller.School, q.filter, q.page)
	list := gen.CommentList{Comments: []gen.Comment{}, Meta: metaOf(q.page, listing.Total), More: listing.More, Next: int32(q.filter.After.Value)}
	for i := range listing.Rows {
		list.Comments = append(list.Comments, commentOf(&listing.Rows[i]))
		list.Next = int32(listing.Rows[i].ID)
	}
	return wire.JSON{Value: list}, err
}

func bindComment(in *wire.Input) lyceum.CommentID { return lyceum.CommentID(in.PathID("comment_id")) }

// DeleteComment serves DELETE /lyceum/v1/comments/{comment_id}.
func (f *Face) DeleteComment(ctx context.Context, who wire.Principal, id lyceum.CommentID) (wire.Nothing, error) {
	return wire.Nothing{}, f.Learning.DeleteComment(ctx, lyceum.By{School: who.Caller.School, Actor: who.Caller.Actor()}, id)
}
