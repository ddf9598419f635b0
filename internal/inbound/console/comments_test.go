package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

const commentsPath = "/admin/comments"

// talk makes Ada write three comments, of which the first is long and the last is approved.
func (p *place) talk() {
	p.t.Helper()
	p.market()
	p.write(func(tx lyceum.Tx) error {
		at := p.clock.Now()
		if _, err := tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 1, Course: 1, Name: "Begin", Position: 1, CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		if _, err := tx.Lectures.Save(tx, lyceum.Lecture{ID: 1, Course: 1, Section: 1, Name: lyceum.Some("Clay"), Position: 1, CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		for i, body := range []string{strings.Repeat("Which clay is it? ", 40), "<b>Bold</b>", "Thanks"} {
			c := lyceum.Comment{ID: lyceum.CommentID(i + 1), Lecture: 1, Course: 1, User: 11, Status: lyceum.CommentAwaiting, Body: body, CreatedAt: at, UpdatedAt: at}
			if i == 2 {
				c.Status = lyceum.CommentApproved
			}
			if _, err := tx.Comments.Save(tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	p.session()
}

// moderate presses a button next to a comment that the owner has just read.
func (p *place) moderate(id lyceum.CommentID, verb string) *httptest.ResponseRecorder {
	p.t.Helper()
	v := p.store.In(p.t.Context(), 1)
	c, err := v.Comments.Get(v, id)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.send(p.owner, "POST", fmt.Sprintf("%s/%d/%s", commentsPath, id, verb), url.Values{"read": {c.Digest()}})
}

// Nobody can approve a comment in a version that they have not read.
func TestCommentChangedMeanwhile(t *testing.T) {
	p := open(t, site)
	p.talk()
	path := commentsPath + "/2/approve"
	read := regexp.MustCompile(`action="` + path + `"[^>]*><input type="hidden" name="read" value="([^"]+)"`)
	form := func(w *httptest.ResponseRecorder) url.Values {
		t.Helper()
		found := read.FindStringSubmatch(w.Body.String())
		if found == nil {
			t.Fatalf("no form for %s in %s", path, w.Body)
		}
		return url.Values{"read": {found[1]}}
	}
	listed := form(p.send(p.owner, "GET", commentsPath, nil))
	change := func(body string, files ...lyceum.CommentAttachment) {
		p.write(func(tx lyceum.Tx) error {
			c, err := tx.Comments.Get(tx, 2)
			if err != nil {
				return err
			}
			c.Body, c.Attachments = body, files
			return tx.Comments.Update(tx, c)
		})
	}
	change("Buy now")
	before := p.state()
	want(t, p.send(p.owner, "POST", path, url.Values{}), http.StatusConflict, "Nothing has been changed yet.") // not read
	w := p.send(p.owner, "POST", path, listed)
	want(t, w, http.StatusConflict, "Nothing has been changed yet.", "Approve the comment of Ada Lovelace?", "Buy now", "Learners will then see it.")
	p.untouched(before)
	change("Buy now", lyceum.CommentAttachment{URL: "https://example.com/a.png", Kind: "image"})
	want(t, p.send(p.owner, "POST", path, form(w)), http.StatusConflict, "Nothing has been changed yet.")
	w = p.send(p.owner, "POST", path, listed)
	leads(t, p.send(p.owner, "POST", path, form(w)), commentsPath+"?done=comment-approved&status=awaiting_review")
}

// An owner reviews what learners wrote.
func TestModeratingComments(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "GET", commentsPath, nil), 200, "No comments are waiting for you.", "New comments are visible at once.")
	p.talk()
	want(t, p.send(p.owner, "GET", commentsPath, nil), 200, "2 comments", "Ada Lovelace", "Clay, Pottery", "<b>Bold</b>", "…", "Approve", "Deny…")
	want(t, p.send(p.owner, "GET", commentsPath+"?status=approved", nil), 200, "1 comment", "Thanks", "Remove…", `aria-current="page">Approved</a>`)
	want(t, p.send(p.owner, "GET", commentsPath+"?status=denied", nil), 200, "No comment has this status.")
	want(t, p.send(p.owner, "GET", commentsPath+"?page=9", nil), 200, "There is no page 9")

	leads(t, p.moderate(1, "approve"), commentsPath+"?done=comment-approved&status=awaiting_review")
	want(t, p.send(p.owner, "GET", commentsPath+"?done=comment-approved&status=awaiting_review", nil), 200, "The comment is approved.", "1 comment")
	want(t, p.send(p.owner, "GET", commentsPath+"/2/deny", nil), 200, "Deny the comment of Ada Lovelace?", "<b>Bold</b>", "cannot be approved again")
	leads(t, p.moderate(2, "deny"), commentsPath+"?done=comment-denied&status=awaiting_review")
	leads(t, p.moderate(3, "remove"), commentsPath+"?done=comment-removed&status=approved")

	before := p.state()
	want(t, p.moderate(2, "approve"), http.StatusUnprocessableEntity, "comment 2 has another status now")
	want(t, p.send(p.owner, "GET", commentsPath+"/2/remove", nil), 200, "Nothing can be changed")
	for _, path := range []string{"/99", "/0", "/x"} {
		want(t, p.send(p.owner, "GET", commentsPath+path+"/deny", nil), 404)
		want(t, p.send(p.owner, "POST", commentsPath+path+"/approve", url.Values{}), 404)
	}
	want(t, p.send(p.owner, "GET", commentsPath+"?status=lost", nil), 422, "Status must be awaiting_review, approved, removed or denied")
	want(t, p.send(p.owner, "POST", commentsPath+"/review", url.Values{"review": {"maybe"}}), 422, "Review must be on or off")
	want(t, p.send(p.learner, "POST", commentsPath+"/3/approve", url.Values{}), 403)
	p.untouched(before)

	leads(t, p.send(p.owner, "POST", commentsPath+"/review", url.Values{"review": {"on"}}), commentsPath+"?done=review-on")
	want(t, p.send(p.owner, "GET", commentsPath, nil), 200, "wait until you approve them")
}

func TestCommentsInABrowser(t *testing.T) {
	w, p := show(t)
	w.open(commentsPath) // while it is empty
	w.sound()
	p.talk()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	w.tour([]string{
		commentsPath, commentsPath + "?status=approved", commentsPath + "?status=denied", commentsPath + "/2/deny", commentsPath + "/3/remove",
	})
	w.open(commentsPath)
	webtest.Screenshot(t, w.tab, "console-comments-light", webtest.Desktop, false)
	webtest.Screenshot(t, w.tab, "console-comments-phone-dark", webtest.Phone, true)
}

// An owner approves a comment and denies another one using only the keyboard, on a phone.
func TestCommentsByKeyboard(t *testing.T) {
	w, p := show(t)
	p.talk()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	webtest.Look(t, w.tab, webtest.Phone, 800, false)
	w.open(commentsPath)
	w.tabTo(fmt.Sprintf("form[action=\"%s/1/approve\"] button", commentsPath))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("document.querySelector('.notice').textContent.includes('approved')")
	w.tabTo("a[href$=\"/2/deny\"]")
	w.do(chromedp.KeyEvent(kb.Enter))
	w.until("document.activeElement.id === 'confirmation'")
	w.sound()
	w.do(chromedp.KeyEvent(kb.Tab))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search.startsWith('?done=comment-denied')")
	w.sound()
}
