package reference_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// browser starts a browser with a profile of its own and gives a tab of it.
func browser(t *testing.T) context.Context {
	t.Helper()
	allocator, stop := chromedp.NewExecAllocator(t.Context(),
		chromedp.ExecPath(webtest.Chromium(t)),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-sync", true),
	)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	if err := chromedp.Do(tab); err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(tab, 8*time.Minute)
	t.Cleanup(cancel)
	return limited
}

// complaints collects what the browser says is wrong with a page.
type complaints struct {
	mu  sync.Mutex
	all []string
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, fmt.Sprintf(format, args...))
}

// take gives what was collected and forgets it.
func (c *complaints) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}

func (c *complaints) hear(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		c.add("log: %s %s", e.Entry.Text, e.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		c.add("console: %s", e.Type)
	case *runtime.EventExceptionThrown:
		c.add("exception: %s", e.ExceptionDetails.Text)
	case *network.EventLoadingFailed:
		c.add("request failed: %s", e.ErrorText)
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			c.add("answer %d: %s", e.Response.Status, e.Response.URL)
		}
	}
}

func TestPagesInABrowser(t *testing.T) {
	tab := browser(t)
	server := httptest.NewServer(handler(t, contract.V1(), small))
	t.Cleanup(server.Close)
	heard := new(complaints)
	if err := chromedp.Listen(tab, heard.hear); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{1280, 820, 375, 320} {
		for _, path := range []string{"/docs", "/docs/v1", "/docs/small"} {
			t.Run(fmt.Sprintf("%s at %d", path, width), func(t *testing.T) {
				err := chromedp.Do(tab, chromedp.EmulateViewport(width, 800), chromedp.Navigate(server.URL+path))
				if err != nil {
					t.Fatal(err)
				}
				checkLayout(t, tab)
				for _, complaint := range heard.take() {
					t.Error(complaint)
				}
			})
		}
	}
}

// checkLayout wants the page to have its style sheet, to be no wider than the
// window, and to lead a keyboard to its content first.
func checkLayout(t *testing.T, tab context.Context) {
	t.Helper()
	fits, err := chromedp.Run(tab, chromedp.Evaluate[bool](
		`document.styleSheets.length === 1 && document.documentElement.scrollWidth <= innerWidth`))
	if err != nil {
		t.Fatal(err)
	}
	if !fits {
		t.Error("the page has no style, or is wider than the window")
	}
	if err := chromedp.Do(tab, chromedp.KeyEvent(kb.Tab)); err != nil {
		t.Fatal(err)
	}
	focused, err := chromedp.Run(tab, chromedp.Evaluate[string](
		`document.activeElement.hash + " " + (document.activeElement.getBoundingClientRect().top >= 0)`))
	if err != nil {
		t.Fatal(err)
	}
	if focused != "#content true" {
		t.Errorf("the first Tab leads to %q, want the link to the content, in sight", focused)
	}
}
