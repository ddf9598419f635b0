package demo

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// talks are comments on lectures, with the owner's replies.
var talks = [...]struct{ comment, reply string }{
	{"Which material did you use here?", "The one from the first section; any of the same weight will do."},
	{"This was easier than I thought. Thank you!", ""},
	{"I had to watch it three times, but now it holds.", "That is what it is for. Well done."},
	{"Is there a smaller version of this project?", "Not yet. Halve all measures, that works."},
	{"The second step goes wrong for me every time.", "Go slower, and let it rest before you go on."},
	{"Beautiful. I showed it to my whole family.", ""},
}

// comment makes a learner comment on a lecture now and then. Some comments are awaiting
// review or were denied, and the owner replies to some of the others.
func (c *classes) comment(at seat, lecture lyceum.LectureID, when time.Time) {
	if c.talk.IntN(40) > 0 && (at.user != learnerID || c.comments > 0) {
		return
	}
	talk := talks[c.talk.IntN(len(talks))]
	written := lyceum.Comment{
		Lecture: lecture, Course: at.course, User: at.user, Status: lyceum.CommentApproved, Body: talk.comment,
	}
	switch n := c.talk.IntN(20); {
	case n < 3 && at.user != learnerID:
		written.Status = lyceum.CommentAwaiting
	case n == 3 && at.user != learnerID:
		written.Status, written.Body = lyceum.CommentDenied, "Buy my course instead: https://spam.example.com"
	}
	top := c.write(written, when)
	reply := when.Add(time.Duration(1+c.talk.IntN(24*60)) * time.Minute)
	if top.Status == lyceum.CommentApproved && talk.reply != "" && !c.school.calendar.over(reply) {
		c.write(lyceum.Comment{
			Lecture: lecture, Course: at.course, User: ownerID, Status: lyceum.CommentApproved, Body: talk.reply,
			Above: top.Above.Then(top.ID),
		}, reply)
	}
}

func (c *classes) write(written lyceum.Comment, at time.Time) lyceum.Comment {
	c.comments++
	written.ID, written.CreatedAt, written.UpdatedAt = c.comments, at, at
	c.studies.Comments = append(c.studies.Comments, written)
	return written
}
