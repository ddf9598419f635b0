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
	Course      CourseID // that the lecture is in
	User        UserID
	Status      CommentStatus
	Above       CommentPath // the comments it replies to
	Body        string      // plain text
	Attachments []CommentAttachment
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Digest stands for what a comment says: with another text or other attachments it is
// another one.
func (c *Comment) Digest() string {
	b := strconv.AppendQuote(nil, c.Body)
	for _, a := range c.Attachments {
		b = fmt.Appendf(b, "%+q", a)
	}
	return Fingerprint(string(b))
}

// Parent is the comment that this one replies to.
func (c *Comment) Parent() Opt[CommentID] {
	ids := c.Above.IDs()
	if len(ids) == 0 {
		return None[CommentID]()
	}
	return Some(ids[len(ids)-1])
}

// Thread is the comment at the top, which may be this one.
func (c *Comment) Thread() CommentID {
	if ids := c.Above.IDs(); len(ids) > 0 {
		return ids[0]
	}
	return c.ID
}

// CommentPath is a chain of comments, each a reply to the one before it, as
// "3/7".
type CommentPath string

// IDs returns the comments of a chain, the top of the thread first.
func (p CommentPath) IDs() []CommentID {
	var ids []CommentID
	for word := range strings.SplitSeq(string(p), "/") {
		if id, err := strconv.ParseInt(word, 10, 32); err == nil {
			ids = append(ids, CommentID(id))
		}
	}
	return ids
}

// Then is the chain with one more comment at its end.
func (p CommentPath) Then(id CommentID) CommentPath {
	if p != "" {
		p += "/"
	}
	return p + CommentPath(strconv.Itoa(int(id)))
}

// CommentStatus says who sees a comment.
type CommentStatus string

// The statuses of the contract. Learners see what is approved.
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

// CommentAttachment is a file of a comment.
type CommentAttachment struct {
	URL  string `json:"url"`
	Kind string `json:"kind"` // a word, such as image
}

// Bounds of comments.
const (
	MaxComment            = 10_000 // characters of the text
	MaxCommentDepth       = 10     // comments above one
	MaxThread             = 1000   // comments in one
	MaxCommentAttachments = 10
)

// CommentFilter narrows comments; an absent part holds always.
type CommentFilter struct {
	Lecture Opt[LectureID]
	Course  Opt[CourseID] // under its lectures that are not deleted and have comments
	User    Opt[UserID]
	Status  Opt[CommentStatus]
	SeenBy  Opt[UserID] // what this learner sees: what is approved, and of their own what awaits review
	Created Period
	Thread  Opt[CommentID] // the comments of a thread
	Below   Opt[CommentID] // within a thread, a comment and those below it
	After   Opt[CommentID] // ids above this one
	Order   CourseOrder    // by id, unless it says otherwise
	Whole   bool           // a page never ends early
}
