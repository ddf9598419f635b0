package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows the progress of long work: a bar on a terminal, and otherwise a plain line now
// and then. A nil progress shows nothing.
type progress struct {
	p     *program
	what  string
	unit  string
	total int64 // 0 if unknown
	bar   *progressbar.ProgressBar
	begin time.Time
	said  time.Time
}

// plainPause is the time between two plain lines; shorter work prints nothing.
const plainPause = 5 * time.Second

func newProgress(p *program, what string, total int64, unit string) *progress {
	now := p.clock()
	b := &progress{p: p, what: what, unit: unit, total: total, begin: now, said: now}
	if isTerminal(p.stderr) {
		most := total
		if most == 0 {
			most = -1
		}
		b.bar = progressbar.NewOptions64(most,
			progressbar.OptionSetWriter(p.stderr), progressbar.OptionSetDescription(what),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	return b
}

// set sets how much is done.
func (b *progress) set(done int64) { b.setRows(done, done) }

// setRows sets how many rows are done, and how much of the total that is if the total is not in
// rows.
func (b *progress) setRows(rows, done int64) {
	if b == nil {
		return
	}
	now := b.p.clock()
	rate := float64(rows) / max(now.Sub(b.begin).Seconds(), 1e-3)
	if b.bar != nil {
		b.bar.Describe(fmt.Sprintf("%s: %d %s, %.0f/s", b.what, rows, b.unit, rate))
		_ = b.bar.Set64(done)
		return
	}
	if now.Sub(b.said) < plainPause {
		return
	}
	b.said = now
	line := fmt.Sprintf("%s: %d %s, %.0f/s", b.what, rows, b.unit, rate)
	if b.total > done && done > 0 {
		left := time.Duration(float64(b.total-done) / float64(done) * float64(now.Sub(b.begin)))
		line += fmt.Sprintf(", %d%%, %s left", 100*done/b.total, left.Round(time.Second))
	}
	fmt.Fprintln(b.p.stderr, line)
}

// finish removes the bar.
func (b *progress) finish() {
	if b != nil && b.bar != nil {
		_ = b.bar.Finish()
	}
}
