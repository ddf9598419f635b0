package apiv2

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) comments() []wire.Operation {
	const of, all = coursePath + "/comments", lecturePath + "/comments"
	const each = all + "/{comment_id}"
	l := f.learning
	return []wire.Operation{
		heavy(many("listCourseComments", of, perPage, bindCourseComments, l.CourseComments, comment)),
		heavy(many("listLectureComments", all, perPage, bindLectureComments, l.CourseComments, comment)),
		one("createLectureComment", wire.Create, all, bindNewComment, l.CommentAsOwner, comment).Long(),
		one("moderateComment", wire.Patch, each, bindModeration, l.ModerateComment, comment),
		wire.None("deleteLectureComment", wire.Delete, each, byComment, l.DeleteCommentIn),
	}
}

// heavy marks a list whose rows have no fixed size.
func heavy(op wire.Operation) wire.Operation {
	op.Heavy = true
	return op
}

func byComment(in *wire.Input) learning.InComments {
	return learning.InComments{Lecture: byLecture(in), ID: wire.PathID[lyceum.CommentID](in, "comment_id")}
}

func bindCourseComments(in *wire.Input) lyceum.CommentFilter {
	return lyceum.CommentFilter{
		Course:  lyceum.Some(bindCourse(in)),
		Status:  wire.OneOf(in.Query("status"), lyceum.CommentStatuses()...),
		Created: wire.Period(in.Query("created_after"), in.Query("created_before")),
		Order:   bindOrder(in, "created_at", "updated_at"),
	}
}

func bindLectureComments(in *wire.Input) lyceum.CommentFilter {
	f := bindCourseComments(in)
	f.Lecture = lyceum.Some(byLecture(in).ID)
	return f
}

// bindNewComment leaves the length of the text to the rules, which trim it first.
func bindNewComment(in *wire.Input) learning.NewComment {
	of := byLecture(in)
	return learning.NewComment{
		Course: lyceum.Some(of.Course), Lecture: of.ID,
		Body:   in.Body("body").Required().Text(1, lyceum.MaxComment).Value,
		Parent: wire.ID[lyceum.CommentID](in.Body("parent_id")),
	}
}

func bindModeration(in *wire.Input) learning.Moderation {
	return learning.Moderation{
		Comment: byComment(in),
		Status: wire.OneOf(in.Body("status").Required(),
			lyceum.CommentApproved, lyceum.CommentRemoved, lyceum.CommentDenied).Value,
	}
}

// comment renders a comment for the school's programs.
func comment(c learning.CommentDetail) gen.Comment {
	named := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(c.Author.Email))))
	picture := "https://www.gravatar.com/avatar/" + hex.EncodeToString(named[:])
	shown := gen.Comment{
		ID: int32(c.ID), Status: gen.CommentStatus(c.Status), Body: c.Body, ParentID: wire.Number(c.Parent()),
		Lecture:   optionalReference(fmt.Sprintf("/v2/products/courses/%d/lectures", c.Course), lyceum.Some(c.Lecture)),
		Hierarchy: []int32{}, User: reference("/v2/users", c.User),
		GravatarURL: picture,
		AuthorName:  c.Author.Name.Value, AuthorRole: string(c.Author.Role),
		CreatedAt: wire.Moment(c.CreatedAt), UpdatedAt: wire.Moment(c.UpdatedAt), Attachments: []gen.CommentAttachment{},
	}
	above := c.Above.IDs()
	for _, id := range append(above, c.ID) {
		shown.Hierarchy = append(shown.Hierarchy, int32(id))
	}
	shown.Depth = int32(len(above))
	for _, a := range c.Attachments {
		shown.Attachments = append(shown.Attachments, gen.CommentAttachment{URL: a.URL, Kind: a.Kind})
	}
	return shown
}
