package apiv2

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// myComments returns the operations with which learners read and write comments on lectures,
// and get the certificate of a course.
func (f *Face) myComments() []wire.Operation {
	const of, all = myCoursePath + "/comments", myLecturePath + "/comments"
	const each = all + "/{comment_id}"
	l := f.learning
	return []wire.Operation{
		heavy(many("listCurrentUserCourseComments", of, perPage, bindSeenComments, l.SeenComments, myComment)),
		heavy(many("listCurrentUserComments", all, perPage, bindSeenUnder, l.SeenComments, myComment)),
		one("createCurrentUserComment", wire.Create, all, bindNewComment, l.CommentAsLearner, myComment),
		one("updateCurrentUserComment", wire.Patch, each, bindCommentText, l.EditComment, myComment),
		wire.None("deleteCurrentUserComment", wire.Delete, each, byComment, l.WithdrawComment),
		one("showCurrentUserCertificate", wire.Get, myCoursePath+"/certificate", bindCourse, f.showMyProgress, certificate),
	}
}

func bindSeenComments(in *wire.Input) lyceum.CommentFilter {
	return lyceum.CommentFilter{
		Course:  lyceum.Some(bindCourse(in)),
		Created: wire.Period(in.Query("created_after"), in.Query("created_before")),
		Order:   bindOrder(in, "created_at", "updated_at"),
	}
}

func bindSeenUnder(in *wire.Input) lyceum.CommentFilter {
	f := bindSeenComments(in)
	f.Lecture = lyceum.Some(byLecture(in).ID)
	return f
}

func bindCommentText(in *wire.Input) learning.CommentText {
	return learning.CommentText{Comment: byComment(in), Body: in.Body("body").Text(1, lyceum.MaxComment)}
}

// myComment renders a comment for a learner, who sees only the name of its author.
func myComment(c learning.CommentDetail) gen.SeenComment {
	full := comment(c)
	return gen.SeenComment{
		ID: full.ID, Status: gen.SeenCommentStatus(full.Status), Hierarchy: full.Hierarchy, Body: full.Body,
		Lecture:  reference(fmt.Sprintf("/v2/current_user/courses/%d/lectures", c.Course), c.Lecture),
		ParentID: full.ParentID, Depth: full.Depth, AuthorName: full.AuthorName, AuthorRole: full.AuthorRole,
		UpdatedAt: full.UpdatedAt, CreatedAt: full.CreatedAt, Attachments: full.Attachments,
	}
}
