package reference_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/reference"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// looked has a page of each kind.
var looked = []string{"/docs", "/docs/v1", "/docs/v1/users", "/docs/small/notes", "/docs/search?q=refund"}

// served serves the reference of a sandbox, whose key is in the samples, and returns its origin.
func served(t *testing.T) string {
	t.Helper()
	h, err := reference.Handler(reference.Options{Documents: append(contract.All(), small), Key: "lyceum_key_1_sample"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func TestPagesInABrowser(t *testing.T) {
	tab, origin := webtest.Browser(t), served(t)
	heard := webtest.Listen(t, tab, origin)
	for _, width := range []int64{1280, 820, 375, 320} {
		for _, path := range looked {
			t.Run(fmt.Sprintf("%s at %d", path, width), func(t *testing.T) {
				webtest.Look(t, tab, width, 800, width == 375)
				webtest.Do(t, tab, chromedp.Navigate(origin+path))
				checkLayout(t, tab)
				for _, complaint := range heard.Take() {
					t.Error(complaint)
				}
			})
		}
	}
}

// outOfReach lists the elements that scroll sideways but cannot be scrolled by keyboard, because
// they cannot be focused, or have no label.
const outOfReach = `[...document.querySelectorAll("body *")].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
	["auto", "scroll"].includes(getComputedStyle(e).overflowX) && (e.tabIndex < 0 || !e.getAttribute("aria-label"))).map(e => e.outerHTML.slice(0, 120))`

// checkLayout checks that the page has its style sheet, is no wider than the window, cuts off no
// table, can be scrolled by keyboard, and has the link to its content first.
func checkLayout(t *testing.T, tab context.Context) {
	t.Helper()
	if !webtest.Eval[bool](t, tab, `document.styleSheets.length === 1 && document.documentElement.scrollWidth <= innerWidth`) {
		t.Error("the page has no style, or is wider than the window")
	}
	if hidden := webtest.Eval[[]string](t, tab, outOfReach); len(hidden) > 0 {
		t.Errorf("a keyboard cannot scroll %s", strings.Join(hidden, "\n"))
	}
	if cut := webtest.Eval[[]string](t, tab, `[...document.querySelectorAll(".table-box")].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 60))`); len(cut) > 0 {
		t.Errorf("tables are cut off: %q", cut)
	}
	webtest.Do(t, tab, chromedp.KeyEvent(kb.Tab))
	if focused := webtest.Eval[string](t, tab, `document.activeElement.hash + " " + (document.activeElement.getBoundingClientRect().top >= 0)`); focused != "#content true" {
		t.Errorf("the first Tab leads to %q, want the link to the content, in sight", focused)
	}
}

func TestPagesAreAccessible(t *testing.T) {
	tab, origin := webtest.Browser(t), served(t)
	for _, path := range looked {
		for _, look := range []struct {
			name  string
			width int64
			dark  bool
		}{{"light", webtest.Desktop, false}, {"phone-dark", webtest.Phone, true}} {
			webtest.Look(t, tab, look.width, 900, look.dark)
			webtest.Do(t, tab, chromedp.Navigate(origin+path))
			webtest.Axe(t, tab)
			name := strings.NewReplacer("/docs", "reference", "/", "-", "?q=", "-").Replace(path)
			webtest.Screenshot(t, tab, name+"-"+look.name, look.width, look.dark)
		}
	}
}

// TestSamplesAreCopied checks that the button of a sample, pressed by keyboard, copies a command
// that runs as it is.
func TestSamplesAreCopied(t *testing.T) {
	tab, origin := webtest.Browser(t), served(t)
	press := func() {
		t.Helper()
		webtest.Eval[bool](t, tab, `(document.querySelector("#ListUsers-example ~ .panel .copy").focus(), true)`)
		webtest.Do(t, tab, chromedp.KeyEvent(kb.Enter))
	}
	webtest.Do(t, tab, chromedp.Navigate(origin+"/docs/v1/users"))
	webtest.Eval[bool](t, tab, `Object.defineProperty(navigator.clipboard, "writeText", {value: async (t) => { window.clip = t; }}) && true`)
	press()
	webtest.Until(t, tab, `document.querySelector(".told").textContent === "Copied"`)
	want := "curl \"" + origin + "/v1/users\" \\\n  --header \"apiKey: lyceum_key_1_sample\""
	if got := webtest.Eval[string](t, tab, "window.clip"); got != want {
		t.Errorf("copied:\n%s\nwant\n%s", got, want)
	}
	// Without a clipboard, as over http from another machine, the sample is selected and copied;
	// if that fails, too, it stays selected.
	webtest.Eval[bool](t, tab, `Object.defineProperty(Object.getPrototypeOf(navigator), "clipboard", {value: undefined}) && (document.execCommand = () => false, true)`)
	press()
	webtest.Until(t, tab, `getSelection().toString().startsWith("curl ")`)
}

// TestReferenceWithoutScripts checks that everything can be read and found without scripts, and
// that no button is shown that would do nothing.
func TestReferenceWithoutScripts(t *testing.T) {
	tab, origin := webtest.Browser(t), served(t)
	webtest.Scripts(t, tab, false)
	webtest.Look(t, tab, webtest.Phone, 800, false)
	webtest.Do(t, tab, chromedp.Navigate(origin+"/docs/v1"),
		chromedp.SendKeys("#q", "is_fully_refunded"+kb.Enter),
		chromedp.WaitVisible(`.hit`))
	var links, buttons []string
	webtest.Scripts(t, tab, true)
	links = webtest.Eval[[]string](t, tab, `[...document.querySelectorAll(".hit a")].map(a => a.pathname + a.hash)`)
	if len(links) == 0 || links[0] != "/docs/v1/transactions#ListTransactions" {
		t.Errorf("found %v", links)
	}
	webtest.Scripts(t, tab, false)
	webtest.Do(t, tab, chromedp.Navigate(origin+links[0]))
	webtest.Scripts(t, tab, true)
	if buttons = webtest.Eval[[]string](t, tab, `[...document.querySelectorAll("button")].map(b => b.textContent)`); len(buttons) != 1 || buttons[0] != "Search" {
		t.Errorf("without scripts there are the buttons %v", buttons)
	}
}
