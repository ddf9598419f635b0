// Package webtest tests pages in Chromium. It is only for tests.
//
// It owns how the browser is found and set up, what a browser may complain about, and the
// checks of what a screen reader or a keyboard needs. It must not know any page.
package webtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const (
	// browsing is how long one browser may take for all its pages, so that a browser that hangs
	// ends its test and not the whole run.
	browsing = 8 * time.Minute
	// patience is how long Until waits.
	patience = time.Minute
)

// Browser starts a Chromium with its own profile and returns a tab of it. Without Chromium the
// test is skipped, unless the environment has CI=true: then it fails. LYCEUM_TEST_CHROMIUM may
// contain the path of the browser.
func Browser(t testing.TB) context.Context {
	t.Helper()
	allocator, stop := chromedp.NewExecAllocator(t.Context(),
		chromedp.ExecPath(Chromium(t)),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true),
	)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	Do(t, tab)
	limited, cancel := context.WithTimeout(tab, browsing)
	t.Cleanup(cancel)
	return limited
}

// Chromium returns the path of the browser: chromium-headless-shell if installed, which takes a third
// less processor time, or chromium. Without one the test is skipped, unless the environment has
// CI=true: then it fails.
func Chromium(t testing.TB) string {
	t.Helper()
	names := []string{"chromium-headless-shell", "chromium"}
	if name := os.Getenv("LYCEUM_TEST_CHROMIUM"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	sentence := fmt.Sprintf("there is no %s: the pages are not looked at in a browser; install Chromium or set "+
		"LYCEUM_TEST_CHROMIUM to its path", strings.Join(names, " or "))
	if os.Getenv("CI") == "true" {
		t.Fatal(sentence)
	}
	t.Skip(sentence)
	return ""
}

// Do runs actions in the tab; the test ends if one fails.
func Do(t testing.TB, tab context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab, steps...); err != nil {
		t.Fatal(err)
	}
}

// Eval returns the value of an expression on the page; a promise is awaited.
func Eval[T any](t testing.TB, tab context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(tab, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Until waits for an expression to become true, such as after something that the page does by
// itself.
func Until(t testing.TB, tab context.Context, expression string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		value, err := chromedp.Run(tab, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && value { // between two pages, evaluation fails
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("never true: %s; the page is %s", expression, Eval[string](t, tab, "document.body.innerText"))
}

// Start makes the page run a script that navigates away from it, such as going back. The
// evaluation returns before the script runs, because it would never return from a page that is
// gone.
func Start(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void]("setTimeout(() => {" + script + "}); undefined")
}

// Look sets the size of the window, and light or dark mode.
func Look(t testing.TB, tab context.Context, width, height int64, dark bool) {
	t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	Do(t, tab, chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"}, // otherwise a colour would be measured in transition
			},
		})
		return err
	}))
}

// Scripts enables or disables the scripts of pages.
func Scripts(t testing.TB, tab context.Context, on bool) {
	t.Helper()
	Do(t, tab, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(
			ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on},
		)
		return err
	}))
}

// Downloads allows the browser to save downloads, and returns the folder.
func Downloads(t testing.TB, tab context.Context) (folder string) {
	t.Helper()
	folder = t.TempDir()
	Do(t, tab, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
		})
		return err
	}))
	return folder
}

// Cookie sets a cookie for an origin.
func Cookie(t testing.TB, tab context.Context, origin, name, value string) {
	t.Helper()
	Do(t, tab, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{
			Name: name, Value: value, URL: origin, HTTPOnly: new(true),
		})
		return err
	}))
}

// The widths for Screenshot, in CSS pixels.
const (
	Desktop = 1280
	Phone   = 390
)

// Heard collects the problems that the browser reports.
type Heard struct {
	host string
	mu   sync.Mutex
	all  []string
}

// Listen starts collecting problems: errors and messages on the console, responses with status
// 400 and above, and requests to anywhere but origin.
func Listen(t testing.TB, tab context.Context, origin string) *Heard {
	t.Helper()
	at, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	h := &Heard{host: at.Host}
	if err := chromedp.Listen(tab, h.hear); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *Heard) hear(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		h.add("log: %s %s", e.Entry.Text, e.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		h.add("console: %s", e.Type)
	case *runtime.EventExceptionThrown:
		h.add("exception: %s", e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		if at, err := url.Parse(e.Request.URL); err != nil || at.Host != h.host && at.Scheme != "data" {
			h.add("a foreign request: %s", e.Request.URL)
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			h.add("answer %d: %s", e.Response.Status, e.Response.URL)
		}
	}
}

func (h *Heard) add(format string, args ...any) {
	h.mu.Lock()
	h.all = append(h.all, fmt.Sprintf(format, args...))
	h.mu.Unlock()
}

// Take returns the problems since the last call, except those that contain one of the expected
// strings.
func (h *Heard) Take(expected ...string) []string {
	h.mu.Lock()
	all := h.all
	h.all = nil
	h.mu.Unlock()
	var left []string
	for _, text := range all {
		known := false
		for _, e := range expected {
			known = known || strings.Contains(text, e)
		}
		if !known {
			left = append(left, text)
		}
	}
	return left
}
