package console_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestClockOfASandbox checks that the pages of a sandbox show its clock, and that buttons move
// it, without signing out the person who presses them.
func TestClockOfASandbox(t *testing.T) {
	t.Parallel()
	p := open(t, site, sandboxClock(t, time.Minute, func() {}))
	for _, step := range []struct{ by, want, notice string }{
		{"day", "2026-03-15T09:26:53Z", "done=clock"},
		{"month", "2026-04-15T09:26:53Z", "done=clock"},
		{"renewal", "2026-04-15T09:26:53Z", "done=clock-idle"},
	} {
		w := p.send(p.owner, http.MethodPost, "/admin/clock", p.form("/admin", "by", step.by))
		if w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), step.notice) {
			t.Fatalf("%s: %d to %s", step.by, w.Code, w.Header().Get("Location"))
		}
		page := p.send(p.owner, http.MethodGet, "/admin", nil).Body.String()
		if !strings.Contains(page, `<time datetime="`+step.want+`">`) {
			t.Errorf("after %s the page does not show %s", step.by, step.want)
		}
	}
	if w := p.send(p.owner, http.MethodPost, "/admin/clock", p.form("/admin", "by", "year")); w.Code != http.StatusNotFound {
		t.Errorf("by a year: %d", w.Code)
	}
}

// sandboxClock gives a console a clock at 14 March 2026 that can be moved; it calls settle on
// the way.
func sandboxClock(t *testing.T, patience time.Duration, settle func()) func(*console.Options) {
	t.Helper()
	return func(o *console.Options) {
		store := o.Names.(lyceum.Store)
		moved := clock.Standing(time.Now, time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC))
		o.Clock, o.Patience = moved.Now, patience
		o.Accounts = access.NewAccounts(store, moved.Now, access.NewOAuth(store, moved.Now), nil)
		o.Moves = clock.New(moved, clock.Options{
			Store: store, Log: slog.New(slog.DiscardHandler), Rest: func() func() { return func() {} },
			Works: map[lyceum.Waiting]clock.Work{
				lyceum.OrderAbandonment: sales.New(store, moved.Now, nil, nil).Abandon,
			},
			Settle:   func(context.Context, lyceum.SchoolID) error { settle(); return nil },
			Deliver:  func(context.Context, lyceum.SchoolID) (clock.Delivered, error) { return clock.Delivered{}, nil },
			Provider: &clock.Provider{Store: store},
		})
		t.Cleanup(o.Moves.Close)
	}
}

// TestClockInABrowser moves the clock with the mouse and with the keyboard, on a desktop and on
// a phone. A move that takes long is shown until it is over.
func TestClockInABrowser(t *testing.T) {
	hold := make(chan struct{})
	var waits atomic.Bool
	w, _ := showWith(t, sandboxClock(t, 5*time.Second, func() {
		if waits.Load() {
			<-hold
		}
	}))
	shows := func(at string) {
		w.t.Helper()
		w.until("document.querySelector('#clock time').dateTime === '" + at + "'")
	}
	for _, row := range []struct {
		width      int64
		day, month string
	}{
		{webtest.Desktop, "2026-03-15T09:26:53Z", "2026-04-15T09:26:53Z"},
		{webtest.Phone, "2026-04-16T09:26:53Z", "2026-05-16T09:26:53Z"},
	} {
		webtest.Look(t, w.tab, row.width, 800, false)
		w.open("/admin")
		w.press("#clock [value=day]")
		shows(row.day)
		w.tabTo("#clock [value=month]")
		w.leave(chromedp.KeyEvent(kb.Enter))
		shows(row.month)
		w.tabTo("#clock [value=renewal]")
		w.leave(chromedp.KeyEvent(kb.Enter))
		w.until("document.querySelector('.notice').textContent.startsWith('No payment is due')")
		shows(row.month)
		w.sound()
	}
	waits.Store(true)
	w.press("#clock [value=day]")
	w.until("document.querySelector('#clock [role=status]') && !document.querySelector('#clock button')")
	w.sound()
	close(hold)
	w.until("document.querySelector('#clock button')")
	shows("2026-05-17T09:26:53Z")
}

// TestNoClockToMove checks that a real server has no such page, and shows no clock.
func TestNoClockToMove(t *testing.T) {
	t.Parallel()
	p := open(t, site)
	if w := p.send(p.owner, http.MethodPost, "/admin/clock", p.form("/admin", "by", "day")); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
	if page := p.send(p.owner, http.MethodGet, "/admin", nil).Body.String(); strings.Contains(page, "/admin/clock") {
		t.Error("the page shows a clock")
	}
}
