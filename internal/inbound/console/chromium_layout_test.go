package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// lengthen gives Ada an email address instead of a name, and gives everything that is shown in
// lists and on pages a name or text without spaces to break at.
func (p *place) lengthen() {
	p.t.Helper()
	p.talk()
	p.hire("partner.in.the.bookkeeping.of.analytical.engines@example.com", lyceum.BookkeeperRole)
	p.sell(1, 11)
	p.write(func(tx lyceum.Tx) error {
		ada, err := tx.Users.Get(tx, 11)
		if err != nil {
			return err
		}
		ada.Name, ada.Email = lyceum.None[string](), "ada.augusta.king.noel.of.lovelace@analytical-engines.example.com"
		if _, err := tx.Users.Save(tx, ada); err != nil {
			return err
		}
		course, err := tx.Courses.Get(tx, 1)
		if err != nil {
			return err
		}
		course.Name = strings.Repeat("Pottery", 20)
		if _, err := tx.Courses.Save(tx, course); err != nil {
			return err
		}
		for _, id := range []lyceum.CommentID{2, 3} {
			comment, err := tx.Comments.Get(tx, id)
			if err != nil {
				return err
			}
			comment.Body = strings.Repeat("Clay", 70)
			if _, err := tx.Comments.Save(tx, comment); err != nil {
				return err
			}
		}
		return nil
	})
	p.session()
}

// wantNone fails the test for everything that an expression returns.
func (w *window) wantNone(what, expression string) {
	w.t.Helper()
	for _, found := range webtest.Eval[[]string](w.t, w.tab, expression) {
		w.t.Errorf("%s: %s: %s", w.text("location.pathname"), what, found)
	}
}

// Pages keep long words within their panels at every width, leave room for the texts they are
// about, and do not truncate a role or wrap its button.
func TestLongWordsInABrowser(t *testing.T) {
	w, p := show(t)
	p.lengthen()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	const (
		narrow = `[...document.querySelectorAll("table.talk")].filter(e => getComputedStyle(e).display === "table")
			.map(e => e.querySelector("tbody th").offsetWidth / e.offsetWidth).filter(part => part < 0.3).map(String)`
		cut = `[...document.querySelectorAll("table.list select")].filter(e => {
			const whole = e.cloneNode(true)
			whole.style.cssText = "position: absolute; width: max-content"
			document.body.append(whole)
			const least = whole.offsetWidth
			whole.remove()
			return e.offsetWidth < least || e.parentElement.querySelector("button").offsetHeight > e.offsetHeight
		}).map(e => e.id)`
	)
	for _, width := range []int64{320, webtest.Phone, 700, 1024, webtest.Desktop} {
		webtest.Look(t, w.tab, width, 800, false)
		for _, path := range []string{
			commentsPath, commentsPath + "?status=approved", commentsPath + "/2/deny", commentsPath + "/3/remove",
			people, people + "/11", staffPath, appsPath, keysPath,
		} {
			w.open(path)
			webtest.Sound(t, w.tab)
			w.wantNone("the texts have little room", narrow)
			w.wantNone("a role is cut", cut)
		}
		w.open(keysPath + "/new")
		w.do(chromedp.SendKeys("#name", strings.Repeat("Report", 15)))
		w.press("main button[type=submit]")
		webtest.Sound(t, w.tab)
		if t.Failed() {
			t.Fatalf("at width %d", width)
		}
	}
}
