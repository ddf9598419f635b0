package apilyceum

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) comments() []wire.Operation {
	const all, each = "/lyceum/v1/lectures/{lecture_id}/comments", "/lyceum/v1/comments/{comment_id}"
	return []wire.Operation{
		heavy(one("listComments", wire.Get, all, bindComments, f.listComments, "", commentPage)),
		one("createComment", wire.Create, all, bindNewComment, f.Learning.Comment, "comment", newComment).Long(),
		wire.None("deleteComment", wire.Delete, each, wire.ByID[lyceum.CommentID]("comment_id"), f.Learning.DeleteComment),
	}
}

// comments holds the parameters of listComments.
type comments struct {
	filter lyceum.CommentFilter
	page   lyceum.Page
}

func bindComments(in *wire.Input) comments {
	q := comments{
		lyceum.CommentFilter{Lecture: lyceum.Some(wire.PathID[lyceum.LectureID](in, "lecture_id"))},
		wire.BindPage(in, perPage),
	}
	// With after, the rows that follow it are requested, of which page 1 is always the next.
	if q.filter.After = wire.Amount[lyceum.CommentID](in.Query("after"), 0); q.filter.After.Present {
		q.page.Number = 1
	}
	return q
}

// commentListing is a page of comments and the id that it follows.
type commentListing struct {
	lyceum.Listing[lyceum.Comment]

	after lyceum.CommentID
}

func (f *Face) listComments(ctx context.Context, by lyceum.By, q comments) (commentListing, error) {
	l, err := f.Learning.Comments(ctx, by, q.filter, q.page)
	return commentListing{l, q.filter.After.Value}, err
}

func commentPage(l commentListing) gen.CommentList {
	size := int64(l.Page.Size)
	list := gen.CommentList{
		Comments: []gen.Comment{}, More: l.More, Next: int32(l.after),
		Meta: gen.PaginationMeta{
			Page: l.Page.Number, PerPage: l.Page.Size,
			TotalPages: int32((l.Total + size - 1) / size), TotalCount: int32(l.Total),
		},
	}
	for i := range l.Rows {
		list.Comments = append(list.Comments, comment(l.Rows[i]))
		list.Next = int32(l.Rows[i].ID)
	}
	return list
}

// bindNewComment leaves the length of the text to the rules, which trim it first.
func bindNewComment(in *wire.Input) learning.NewComment {
	return learning.NewComment{
		Lecture: wire.PathID[lyceum.LectureID](in, "lecture_id"),
		User:    wire.ID[lyceum.UserID](in.Body("user_id").Required()).Value,
		Body:    in.Body("body").Required().Text(1, wire.Unbounded).Value,
		Parent:  wire.ID[lyceum.CommentID](in.Body("parent_id")), Attachments: bindCommentAttachments(in),
	}
}

func bindCommentAttachments(in *wire.Input) (files []lyceum.CommentAttachment) {
	for _, member := range in.Body("attachments").Objects(lyceum.MaxCommentAttachments) {
		files = append(files, lyceum.CommentAttachment{
			URL: member("url").Required().URL(maxURL).Value, Kind: member("kind").Required().Text(1, wire.Unbounded).Value,
		})
	}
	return files
}

func newComment(c learning.CommentDetail) gen.Comment { return comment(c.Comment) }

func comment(c lyceum.Comment) gen.Comment {
	shown := gen.Comment{
		ID: int32(c.ID), LectureID: int32(c.Lecture), UserID: int32(c.User), ParentID: wire.Number(c.Parent()),
		Status: gen.CommentStatus(c.Status), Body: c.Body, Attachments: []gen.CommentAttachment{},
		CreatedAt: wire.Moment(c.CreatedAt), UpdatedAt: wire.Moment(c.UpdatedAt),
	}
	for _, a := range c.Attachments {
		shown.Attachments = append(shown.Attachments, gen.CommentAttachment(a))
	}
	return shown
}
