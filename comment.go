package lyceum

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Comment is what a user wrote under a lecture.
type Comment struct {
	ID          CommentID
	Lecture     LectureID
	Course      CourseID // the course of the lecture
	User        UserID
	Status      CommentStatus
	Above       CommentPath // the comments that it replies to
	Body        string      // plain text
	Attachments []CommentAttachment
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Digest identifies the content of a comment: it changes with the text and the attachments.
func (c *Comment) Digest() string {
	b := strconv.AppendQuote(nil, c.Body)
	for _, a := range c.Attachments {
		b = fmt.Appendf(b, "%+q", a)
	}
	return Fingerprint(string(b))
}

// Parent returns the comment that this one replies to.
func (c *Comment) Parent() Opt[CommentID] {
	ids := c.Above.IDs()
	if len(ids) == 0 {
		return None[CommentID]()
	}
	return Some(ids[len(ids)-1])
}

// Thread returns the top comment of the thread, which may be this one.
func (c *Comment) Thread() CommentID {
	if ids := c.Above.IDs(); len(ids) > 0 {
		return ids[0]
	}
	return c.ID
}

// CommentPath is a chain of comments, each a reply to the one before, such as "3/7".
type CommentPath string

// IDs returns the comments in the chain, starting with the top of the thread.
func (p CommentPath) IDs() []CommentID {
	var ids []CommentID
	for word := range strings.SplitSeq(string(p), "/") {
		if id, err := strconv.ParseInt(word, 10, 32); err == nil {
			ids = append(ids, CommentID(id))
		}
	}
	return ids
}

// Then returns the chain with one more comment at its end.
func (p CommentPath) Then(id CommentID) CommentPath {
	if p != "" {
		p += "/"
	}
	return p + CommentPath(strconv.Itoa(int(id)))
}

// CommentStatus determines who sees a comment.
type CommentStatus string

// The contract's statuses. Learners see approved comments.
const (
	CommentAwaiting CommentStatus = "awaiting_review"
	CommentApproved CommentStatus = "approved"
	CommentRemoved  CommentStatus = "removed"
	CommentDenied   CommentStatus = "denied"
)

// CommentStatuses lists every status.
func CommentStatuses() []CommentStatus {
	return []CommentStatus{CommentAwaiting, CommentApproved, CommentRemoved, CommentDenied}
}

// CommentAttachment is a file attached to a comment.
type CommentAttachment struct {
	URL  string `json:"url"`
	Kind string `json:"kind"` // a word, such as image
}

// Limits of comments.
const (
	MaxComment            = 10_000 // characters of the text
	MaxCommentDepth       = 10     // ancestors of a comment
	MaxThread             = 1000   // comments in a thread
	MaxCommentAttachments = 10
)

// CommentFilter narrows comments; absent fields match everything.
type CommentFilter struct {
	Lecture Opt[LectureID]
	Course  Opt[CourseID] // under its lectures that are not deleted and have comments enabled
	User    Opt[UserID]
	Status  Opt[CommentStatus]
	SeenBy  Opt[UserID] // what this learner sees: approved comments, and their own that await review
	Created Period
	Thread  Opt[CommentID] // only comments in this thread
	Below   Opt[CommentID] // within a thread, a comment and its descendants
	After   Opt[CommentID] // only ids greater than this one
	Order   CourseOrder    // by id by default
	Whole   bool           // a page never ends early
}
