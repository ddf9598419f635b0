package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// commentsPage is the data of the page of the comments with a status.
type commentsPage struct {
	Form    *form
	Tabs    []commentTab
	Status  lyceum.CommentStatus
	Rows    []comment
	Turn    turn
	Reviews bool // comments must be approved
}

// commentTab links to the comments with a status.
type commentTab struct {
	Name, Address string
	Here          bool
}

// comment is a comment that can be moderated.
type comment struct {
	learning.PlacedComment

	Writer person
	Place  string // the lecture and the course
	Path   string
}

// commentTabs are the labels of the statuses.
var commentTabs = map[lyceum.CommentStatus]string{
	lyceum.CommentAwaiting: "Awaiting review", lyceum.CommentApproved: "Approved", lyceum.CommentRemoved: "Removed",
	lyceum.CommentDenied: "Denied",
}

// listComments serves GET /admin/comments.
func (c *console) listComments(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(commentsPath)
	f.keep(r.URL.Query().Get, "page", "status")
	number := pageOf(f)
	status := lyceum.CommentStatus(f.Values["status"])
	if status == "" {
		status = lyceum.CommentAwaiting
	}
	if commentTabs[status] == "" {
		return lyceum.Invalidf("Status must be awaiting_review, approved, removed or denied.")
	}
	page := lyceum.Page{Number: number, Size: pageSize}
	listing, err := c.Learning.SchoolComments(r.Context(), v.by(), status, page)
	if err != nil {
		return err
	}
	p := commentsPage{
		Form: f, Status: status, Turn: newTurn(f, []string{"status"}, pageSize, int64(number), listing.Total),
		Reviews: v.School.ReviewsComments,
	}
	for _, s := range lyceum.CommentStatuses() {
		p.Tabs = append(p.Tabs, commentTab{commentTabs[s], backTo(s), s == status})
	}
	for i := range listing.Rows {
		p.Rows = append(p.Rows, commentOf(listing.Rows[i]))
	}
	return c.show(w, r, statusFor(f), "comments.gohtml", v, "Comments", p)
}

func commentOf(row learning.PlacedComment) comment {
	shown := comment{
		PlacedComment: row, Path: fmt.Sprintf("%s/%d", commentsPath, row.ID),
		Writer: person{Name: seen(row.Author.Name.Value), Email: row.Author.Email},
	}
	if row.Author.ID == 0 {
		shown.Writer = person{Name: "Somebody who was erased"}
	}
	lecture := row.LectureName
	if lecture == "" {
		lecture = fmt.Sprintf("Lecture %d", row.Lecture)
	}
	shown.Place = lecture + ", " + row.CourseName
	return shown
}

// shownText is how much of a comment a list shows without unfolding it, in characters.
const shownText = 300

// Short returns the beginning of a long comment, or "" if the comment is short.
func (c comment) Short() string {
	if utf8.RuneCountInString(c.Body) <= shownText {
		return ""
	}
	return string([]rune(c.Body)[:shownText]) + "…"
}

// Tab returns the label of the list that contains the comment, and List its URL.
func (c comment) Tab() string  { return commentTabs[c.Status] }
func (c comment) List() string { return backTo(c.Status) }

// Read returns a digest of the comment as the page shows it, for a form to send back.
func (c comment) Read() string { return c.Digest() }

// Approves reports whether the comment can be approved.
func (c comment) Approves() bool { return c.Becomes(lyceum.CommentApproved) }

// Removes reports whether the comment can be removed.
func (c comment) Removes() bool { return c.Becomes(lyceum.CommentRemoved) }

// Denies reports whether the comment can be denied.
func (c comment) Denies() bool { return c.Becomes(lyceum.CommentDenied) }

// moderation is a way to moderate: its verb, the status it results in, and the notice.
type moderation struct {
	Verb   string
	Status lyceum.CommentStatus
	Notice string
}

var (
	approving = moderation{"Approve", lyceum.CommentApproved, "comment-approved"}
	removing  = moderation{"Remove", lyceum.CommentRemoved, "comment-removed"}
	denying   = moderation{"Deny", lyceum.CommentDenied, "comment-denied"}
)

// moderationPage is the data of the page that confirms removing or denying a comment.
type moderationPage struct {
	moderation

	Comment comment
	Path    string // of the action
	Back    string
	Refused bool
	Changed bool // since the moderator read it
}

func backTo(status lyceum.CommentStatus) string {
	return commentsPath + "?status=" + url.QueryEscape(string(status))
}

// page returns the confirmation page for a comment.
func (m moderation) page(row learning.PlacedComment) moderationPage {
	one := commentOf(row)
	return moderationPage{
		moderation: m, Comment: one, Path: one.Path + "/" + strings.ToLower(m.Verb), Back: backTo(row.Status),
		Refused: !row.Becomes(m.Status),
	}
}

// moderates returns the actions of a path that asks for confirmation first.
func (c *console) moderates(m moderation) map[string]action {
	return map[string]action{"GET": c.confirmModeration(m), "POST": c.moderate(m)}
}

// confirmModeration serves GET /admin/comments/{id}/remove and deny.
func (c *console) confirmModeration(m moderation) action {
	return func(w http.ResponseWriter, r *http.Request, v *visit) error {
		id, ok := parseID[lyceum.CommentID](r.PathValue("id"))
		if !ok {
			return errNoPage
		}
		row, err := c.Learning.SchoolComment(r.Context(), v.by(), id)
		if err != nil {
			return err
		}
		return c.show(w, r, http.StatusOK, "comment_moderate.gohtml", v, m.Verb+" this comment?", m.page(row))
	}
}

// moderate serves POST /admin/comments/{id}/approve, remove and deny. If the comment was
// changed since the moderator read it, it is shown again instead.
func (c *console) moderate(m moderation) action {
	return func(w http.ResponseWriter, r *http.Request, v *visit) error {
		id, ok := parseID[lyceum.CommentID](r.PathValue("id"))
		if !ok {
			return errNoPage
		}
		before, err := c.Learning.SchoolComment(r.Context(), v.by(), id)
		if err == nil {
			_, err = c.Learning.ModerateByID(r.Context(), v.by(), id, m.Status, r.PostForm.Get("read"))
		}
		switch lyceum.KindOf(err) {
		case lyceum.Invalid:
			p := m.page(before)
			p.Refused = true
			return c.show(w, r, http.StatusUnprocessableEntity, "comment_moderate.gohtml", v, "Nothing was changed", p)
		case lyceum.Conflict:
			if before, err = c.Learning.SchoolComment(r.Context(), v.by(), id); err != nil {
				return err
			}
			p := m.page(before)
			p.Changed = true
			return c.show(w, r, http.StatusConflict, "comment_moderate.gohtml", v, m.Verb+" this comment?", p)
		}
		if err != nil {
			return err
		}
		return done(w, r, commentsPath, m.Notice+"&status="+string(before.Status))
	}
}

// reviewComments serves POST /admin/comments/review.
func (c *console) reviewComments(w http.ResponseWriter, r *http.Request, v *visit) error {
	on := r.PostForm.Get("review")
	if on != "on" && on != "off" {
		return lyceum.Invalidf("Review must be on or off.")
	}
	if err := c.Learning.ReviewComments(r.Context(), v.by(), on == "on"); err != nil {
		return err
	}
	notice := "review-off"
	if on == "on" {
		notice = "review-on"
	}
	return done(w, r, commentsPath, notice)
}
