package files_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lyceum-school/lyceum/internal/inbound/files"
)

// client sends a few bytes at a time, until the server's read deadline passes.
type client struct {
	http.ResponseWriter

	every    time.Duration
	step     int // bytes per read
	left     int // bytes still to send
	deadline time.Time
}

func (c *client) SetReadDeadline(at time.Time) error { c.deadline = at; return nil }

func (c *client) Read(p []byte) (int, error) {
	if wait := time.Until(c.deadline); wait < c.every {
		time.Sleep(wait)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(c.every)
	n := min(c.step, c.left, len(p))
	if c.left -= n; c.left == 0 {
		return n, io.EOF
	}
	return n, nil
}

// TestSlowClients checks that a client that sends too little in a minute is cut off, but not one
// that is merely slow or whose server is slow.
func TestSlowClients(t *testing.T) {
	for name, tc := range map[string]struct {
		every time.Duration
		step  int
		busy  time.Duration // how long the server takes for each piece
		left  int
		after time.Duration // when the client is cut off; 0 if everything is received
	}{
		"silent":          {every: time.Hour, step: 1, left: 1 << 20, after: time.Minute},
		"a byte at times": {every: 50 * time.Second, step: 1, left: 1 << 20, after: time.Minute},
		"too slow":        {every: time.Second, step: 1 << 10, left: 1 << 20, after: time.Minute},
		"slow":            {every: time.Second, step: 2 << 10, left: 1 << 20},
		"a small file":    {every: 50 * time.Second, step: 1 << 10, left: 1 << 10},
		"a slow server":   {every: time.Second, step: 32 << 10, busy: time.Hour, left: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				from := &client{every: tc.every, step: tc.step, left: tc.left}
				body := files.NewBody(from, from)
				var err error
				for piece := make([]byte, 32<<10); err == nil; time.Sleep(tc.busy) {
					_, err = body.Read(piece)
				}
				cut := errors.Is(err, os.ErrDeadlineExceeded)
				if took := time.Since(begun); cut != (tc.after > 0) || cut && took != tc.after {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}
