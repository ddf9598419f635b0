package lyceum

import "time"

// Comment is what a user wrote under a lecture.
type Comment struct {
	ID        CommentID
	Lecture   LectureID
	User      UserID
	Body      string
	CreatedAt time.Time
}

// CommentFilter narrows comments to those under a lecture; an absent part holds
// always.
type CommentFilter struct {
	Lecture LectureID
	After   Opt[CommentID] // ids above this one
}
