package console_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// errand is something that an owner wants to do, starting from the home page. A step is a link
// or a button to press, by its text, and the fields to fill in before.
type errand struct {
	name  string
	most  int // maximum number of steps
	steps []step
	ends  string // what must be true at the end
	file  string // the file that is downloaded
}

type step struct {
	press string
	fill  map[string]string // by the ids of the fields
}

func errands(partner string) []errand {
	return []errand{
		{"what was earned last month, by course", 1, []step{{press: "Last month by course"}}, "location.search.includes('by=course')", ""},
		{"which affiliates earned what", 2, []step{{press: "Last month by affiliate"}}, "location.search.includes('by=affiliate')", ""},
		{
			"who bought but never began", 3,
			[]step{{press: "People"}, {press: "Bought but never began"}},
			"location.search.includes('began=never')", "",
		},
		{
			"why Ada has access", 3,
			[]step{{"Search", map[string]string{"q": "ada"}}, {press: "Ada Lovelace"}, {press: "Why does this person have access?"}},
			"location.pathname.endsWith('/access') && document.body.textContent.includes('Pottery')", "",
		},
		{
			"March for the accountant", 3,
			[]step{{press: "Transactions"}, {press: "Days"}, {"Export CSV", map[string]string{"from": "2026-03-01", "until": "2026-03-31"}}},
			"location.pathname === '/admin/transactions'", "sales-2026-03-01-2026-03-31.csv",
		},
		{
			"the partner as bookkeeper", 4,
			[]step{{press: "Staff"}, {"Invite", map[string]string{"email": partner, "role": "bookkeeper"}}},
			"document.body.textContent.includes('" + partner + "') && location.pathname !== '/admin'", "",
		},
		{
			"Ada's last purchase refunded", 4,
			[]step{{"Search", map[string]string{"q": "ada"}}, {press: "Ada Lovelace"}, {press: "Refund…"}, {press: "Refund"}},
			"location.search === '?done=refunded'", "",
		},
	}
}

// An owner gets each task done in few steps, on a desktop using only the keyboard, and on a
// phone without scripts.
func TestErrandsInABrowser(t *testing.T) {
	w, p := show(t)
	p.trade()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	folder := webtest.Downloads(t, w.tab)
	for round, scripts := range []bool{true, false} {
		p.sell(1, 11)
		webtest.Look(t, w.tab, []int64{webtest.Desktop, webtest.Phone}[round], 800, !scripts)
		webtest.Scripts(t, w.tab, scripts)
		for _, e := range errands(fmt.Sprintf("partner%d@example.com", round)) {
			w.open("/admin")
			for _, s := range e.steps {
				w.until(fmt.Sprintf(marked, pressable(s.press)))
				if scripts {
					w.byKeys(s)
					continue
				}
				for id, text := range s.fill {
					w.do(chromedp.SetValue("#"+id, text))
				}
				w.do(chromedp.Click("[data-press]"))
			}
			w.until(e.ends)
			if e.file != "" {
				await(t, filepath.Join(folder, e.file))
			}
			if len(e.steps) > e.most {
				t.Errorf("%s takes %d steps, want %d", e.name, len(e.steps), e.most)
			}
		}
	}
}

// byKeys does a step using only the keyboard.
func (w *window) byKeys(s step) {
	w.t.Helper()
	for id, text := range s.fill {
		w.tabTo("#" + id)
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			text = day.Format("01022006") // how a date is typed into a date field
		}
		w.do(chromedp.KeyEvent(text))
	}
	w.tabTo("[data-press]")
	w.do(chromedp.KeyEvent(kb.Enter))
}

// await waits for a downloaded file, and removes it.
func await(t *testing.T, name string) {
	t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = os.Remove(name); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// marked marks what an XPath finds, and nothing else, on a page that is not being left. A link
// to another page is only marked once.
const marked = `document.readyState === "complete" && !window.left && (n => (n && (
document.querySelectorAll("[data-press]").forEach(e => e.removeAttribute("data-press")), n.setAttribute("data-press", ""),
window.left = n.localName !== "summary"), n))(
document.evaluate(%q, document, null, 9, null).singleNodeValue)`

// pressable returns an XPath for the first link, button, or summary whose text begins with
// text, in the page or otherwise in the navigation.
func pressable(text string) string {
	of := `//*[self::a or self::button or self::summary][starts-with(normalize-space(.), "` + text + `")]`
	return `(//main` + of + `)[1] | //header[not(//main` + of + `)]` + of
}
