package console_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestClockOfASandbox: the pages of a sandbox show its clock, and buttons move it.
func TestClockOfASandbox(t *testing.T) {
	t.Parallel()
	var p *place
	var moved *clock.Clock
	p = open(t, site, func(o *console.Options) {
		moved = clock.Standing(time.Now, time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC))
		o.Clock = moved.Now
		o.Moves = clock.New(moved, clock.Options{
			Store: o.Names.(lyceum.Store), Log: slog.New(slog.DiscardHandler), Rest: func() func() { return func() {} },
			Works:    map[lyceum.Waiting]clock.Work{lyceum.OrderAbandonment: sales.New(o.Names.(lyceum.Store), moved.Now, nil, nil).Abandon},
			Settle:   func(context.Context, lyceum.SchoolID) error { return nil },
			Deliver:  func(context.Context, lyceum.SchoolID) (clock.Delivered, error) { return clock.Delivered{}, nil },
			Provider: &clock.Provider{Store: o.Names.(lyceum.Store)},
		})
	})
	for _, step := range []struct{ by, want, notice string }{
		{"day", "2026-03-15T09:26:53Z", "done=clock"},
		{"month", "2026-04-15T09:26:53Z", "done=clock"},
		{"next", "2026-04-15T09:26:53Z", "done=clock-idle"},
	} {
		w := p.ask(p.owner, http.MethodPost, "/admin/clock", p.form("/admin", "by", step.by))
		if w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), step.notice) {
			t.Fatalf("%s: %d to %s", step.by, w.Code, w.Header().Get("Location"))
		}
		page := p.ask(p.owner, http.MethodGet, "/admin", nil).Body.String()
		if !strings.Contains(page, `<time datetime="`+step.want+`">`) {
			t.Errorf("after %s the page does not show %s", step.by, step.want)
		}
	}
	if w := p.ask(p.owner, http.MethodPost, "/admin/clock", p.form("/admin", "by", "year")); w.Code != http.StatusNotFound {
		t.Errorf("by a year: %d", w.Code)
	}
}

// TestNoClockToMove: a real server has no such page, and shows no clock.
func TestNoClockToMove(t *testing.T) {
	t.Parallel()
	p := open(t, site)
	if w := p.ask(p.owner, http.MethodPost, "/admin/clock", p.form("/admin", "by", "day")); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
	if page := p.ask(p.owner, http.MethodGet, "/admin", nil).Body.String(); strings.Contains(page, "/admin/clock") {
		t.Error("the page shows a clock")
	}
}
