package console_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// hold gives Ada a course twice, one of which has ended, and creates a sale with a warning. A
// bulk change is prepared.
func (p *place) hold() (sale lyceum.SaleID) {
	p.t.Helper()
	p.bundled()
	sale, _ = p.sell(1, 11, func(n *sales.NewSale) {
		n.FinalPrice, n.Reference = lyceum.Some(lyceum.Minor(1)), lyceum.Some("ch_1")
	})
	monthly, _ := p.sell(2, 12, func(n *sales.NewSale) { n.Reference = lyceum.Some("ch_2") })
	if _, err := p.sales.EndNow(p.t.Context(), p.by(), sales.Ending{Sale: monthly}); err != nil {
		p.t.Fatal(err)
	}
	ada := accessPath(11)
	leads(p.t, p.send(p.owner, "POST", ada, p.give(11, "product_type", "product_collection", "product", "1", "ends_on", "2026-04-30")), ada+"?done=given")
	leads(p.t, p.agree(p.owner, ada+"/course/2/end", nil), ada+"?done=access-ended")
	leads(p.t, p.upload("ada@example.com\ngrace@example.com\nnobody@example.com\n", "action", "enroll", "who", "file", "product_type", "course", "product", "1"), bulkPath+"/1")
	return sale
}

func TestAccessPagesInABrowser(t *testing.T) {
	w, p := show(t)
	for _, path := range []string{accessPath(2), "/admin/attention", "/admin/sales_to_stop", bulkPath} { // while they are empty
		w.open(path)
		w.sound()
	}
	sale := p.hold()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	w.tour([]string{
		people + "/11", people + "/11/erase", people + "/1/erase", accessPath(11), accessPath(11) + "/course/1/end", accessPath(11) + "/course/2/end", salePath(sale), "/admin/attention",
		"/admin/sales_to_stop", salePath(sale + 1),
		bulkPath, bulkPath + "/1", bulkPath + "/1?result=failed", bulkPath + "/1?result=unchanged&page=2",
	})
}

// An owner gives access and ends it using only the keyboard.
func TestAccessByKeyboard(t *testing.T) {
	w, p := show(t)
	p.hold()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	webtest.Look(t, w.tab, webtest.Phone, 800, false)
	w.open(people + "/12")
	w.tabTo("#product")
	w.do(chromedp.KeyEvent("nothing"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("document.getElementById('product-error')")
	w.sound("422")
	w.open(people + "/12")
	w.tabTo("#product")
	w.do(chromedp.KeyEvent("pottery"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=given' && document.querySelector('.timeline')")
	w.tabTo("a.danger")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo("#confirmation button.danger")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=access-ended' && !document.querySelector('a.danger')")
}

// An owner erases a user using only the keyboard.
func TestErasingByKeyboard(t *testing.T) {
	w, p := show(t)
	p.market()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	webtest.Look(t, w.tab, webtest.Phone, 800, false)
	w.open(people + "/11")
	w.tabTo("a[href$=\"/erase\"]")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.sound()
	w.tabTo("#confirmation button.danger")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=to-erase' && document.querySelector('.notice')")
	w.sound()
	w.tabTo("form[action$=\"/undo-erase\"] button")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=not-erased' && document.querySelector('.notice')")
}

// An owner uploads a file, looks at what would happen and starts the change; the page follows
// its progress. With and without scripts.
func TestBulkInABrowser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(file, []byte("email,name\nada@example.com,Ada\ngrace@example.com,Grace\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, scripts := range []bool{true, false} {
		w, p := show(t)
		webtest.Scripts(t, w.tab, scripts)
		p.hold()
		webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
		webtest.Look(t, w.tab, map[bool]int64{true: webtest.Phone, false: webtest.Desktop}[scripts], 800, scripts)
		w.open(bulkPath)
		w.until("getComputedStyle(document.querySelector('.of-tags')).display === 'none'")
		w.do(chromedp.Click("label[for=action-give-access]"), chromedp.SendKeys("#product", "glass"), chromedp.SetUploadFiles("#file", []string{file}))
		w.press("main form.panel button[type=submit]")
		w.until("document.querySelector('#bulk-progress') && document.body.textContent.includes('Will be done')")
		w.press("form[action$='/start'] button")
		w.until("document.querySelector('.badge').textContent === 'Running'")
		p.work()
		if scripts {
			w.until("document.querySelector('#bulk-progress').textContent.includes('It has ended')")
			w.press("#bulk-progress a")
		} else {
			w.press("a.plain[href='" + bulkPath + "/2']")
		}
		w.until("document.body.textContent.includes('2 of 2') && document.querySelector('.badge').textContent === 'Finished'")
		if scripts { // axe is a script
			w.sound()
		}
	}
}

// The page of a running change follows its progress, and keeps the keyboard focus.
func TestBulkProgressInABrowser(t *testing.T) {
	w, p := show(t)
	p.bundled()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	leads(t, p.upload(strings.Repeat("nobody@example.com\n", 60), "action", "enroll", "who", "file", "product_type", "course", "product", "1"), bulkPath+"/1")
	w.open(bulkPath + "/1")
	w.until("document.querySelector('#bulk-progress').textContent.includes('50 of 60')")
	p.work()
	w.until("document.querySelector('#bulk-progress').textContent.includes('60 of 60')")
	leads(t, p.send(p.owner, "POST", bulkPath+"/1/start", nil), bulkPath+"/1")
	w.open(bulkPath + "/1")
	w.tabTo(`form[action$="/cancel"] button`)
	p.work()
	w.until("document.querySelector('#bulk-progress').textContent.includes('It has ended')")
	w.until("document.activeElement.textContent === 'Stop'")
	w.sound()
}
