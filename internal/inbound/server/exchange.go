package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// requestID takes over the caller's own id when it is harmless in a log.
func requestID(r *http.Request) string {
	given := r.Header.Get("X-Request-Id")
	if given == "" || len(given) > 64 {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' && c != '.' {
			return rand.Text()
		}
	}
	return given
}

// exchange is one request on its way; it notes what the log and the metrics
// want to know.
type exchange struct {
	http.ResponseWriter
	begin  time.Time
	id     string
	route  *route
	op     *operation
	who    wire.Principal
	status int
	bytes  int64
	wrong  *lyceum.Error // what the response says is wrong
	held   held
	body   io.ReadCloser // of the request, without a bound

	uncached uncached

	local   *Local   // whose pages may read the answer; nil: all may
	origins []string // of the page that asked
}

// held is the memory of an answer on its way, and the context that it is made
// in.
type held struct {
	context.Context //nolint:containedctx // it is the context of the exchange itself

	claim  access.Claim
	rows   int64 // bytes of what was read for the answer
	turns  bool  // it is made in a turn
	change bool  // what was asked changes something, and is not refused for its answer
	entry  int64 // of the journal, the last that the request made
}

const (
	// uncounted is how many bytes may be read for an answer before it asks for
	// memory.
	uncounted = 256 << 10
	// loadStep is the memory in bytes that it then asks for at a time: as much as
	// most large answers want, so that a school has few of them made at once.
	loadStep = 8 << 20
)

// Value implements context.Context.
func (h *held) Value(key any) any {
	switch key {
	case lyceum.AllowanceKey{}, lyceum.WroteKey{}:
		return h
	}
	return h.Context.Value(key)
}

// Allow implements lyceum.Allowance. It does not wait: who asks may be holding
// a connection to the database, which others want.
func (h *held) Allow(_ context.Context, bytes int) error {
	h.rows += int64(bytes)
	switch {
	case h.rows <= max(uncounted, h.claim.Held()):
	case h.change:
		h.claim.Set(h.rows)
	case !h.claim.TryTurn():
		h.turns = true
		return access.ErrNoRoom
	case !h.claim.Try(h.steps()):
		return access.ErrNoRoom
	}
	return nil
}

func (h *held) Pause() { h.claim.Pause() }

func (h *held) Resume() error { return h.claim.Turn(h) }

// steps are the bytes to hold for what was read.
func (h *held) steps() int64 { return (h.rows + loadStep - 1) / loadStep * loadStep }

// serve makes the body of an answer. When the rows that it read found no room,
// or want a turn, it waits for that and reads them again.
func (x *exchange) serve(r *http.Request) (wire.Body, error) {
	h := &x.held
	for {
		if h.turns {
			if err := h.claim.Turn(h); err != nil {
				return nil, err
			}
		}
		body, err := x.op.Serve(h, x.who, r)
		if !errors.Is(err, access.ErrNoRoom) {
			return body, err
		}
		h.claim.EndTurn() // who waits for room makes nothing
		wanted := h.steps()
		h.rows = 0
		h.claim.Set(0)
		if err := h.claim.Hold(h, wanted); err != nil {
			return nil, err
		}
	}
}

// Hold implements wire.Holder: what was read is an answer now.
func (x *exchange) Hold(ctx context.Context, bytes int) error {
	x.held.rows = 0
	if x.held.change {
		x.held.claim.Set(int64(bytes))
		return nil
	}
	return x.held.claim.Hold(ctx, int64(bytes))
}

func (x *exchange) Count(bytes int) { x.held.claim.Set(int64(bytes)) }

// WriteHeader implements http.ResponseWriter. The answer is made: how long the
// client takes to read it is nobody else's loss.
func (x *exchange) WriteHeader(status int) {
	x.held.claim.EndTurn()
	if x.status == 0 {
		x.status = status
		if x.local != nil {
			x.local.limitOrigin(x.Header(), x.origins)
		}
		x.Header()["X-Runtime"] = []string{strconv.FormatFloat(time.Since(x.begin).Seconds(), 'f', 6, 64)}
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that the system sends files.
func (x *exchange) ReadFrom(from io.Reader) (int64, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := io.Copy(x.ResponseWriter, from)
	x.bytes += n
	return n, err
}

// Unwrap serves http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// finish answers for a handler that panicked, counts and logs.
func (h *handler) finish(x *exchange, r *http.Request) {
	if reason := recover(); reason != nil {
		if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(reason)
		}
		h.Log.ErrorContext(
			r.Context(), "request panicked", "request_id", x.id, "path", x.pattern(r), "panic", fmt.Sprint(reason), "stack",
			string(debug.Stack()),
		)
		if x.status == 0 {
			h.sendFailure(x, r, &lyceum.Error{Kind: lyceum.Internal}, 0)
		}
	}
	if x.status == http.StatusServiceUnavailable && wire.Gone(r) {
		x.left()
	}
	took := time.Since(x.begin)
	h.Metrics.count(x, took)
	if x.wrong != nil && h.Failures != nil && x.school() != 0 {
		h.Failures.Add(x.school(), x.failed(r, took), x.wrong)
	}
	if h.AccessLog {
		h.Log.InfoContext(r.Context(), "request",
			"request_id", x.id, "method", r.Method, "path", x.pattern(r), "status", x.status,
			"address", wire.AddressOf(r).String(), "bytes", x.bytes, "took_us", took.Microseconds(), "school", x.school(),
			"api_key_id", x.who.By.Key)
	}
}

// left notes that nobody has read the answer.
func (x *exchange) left() {
	x.status = wire.StatusGone
	if x.wrong != nil {
		x.wrong = &lyceum.Error{
			Kind: x.wrong.Kind, Detail: "the client closed the connection before the response: " + x.wrong.Detail,
		}
	}
}

// school is the school that the credential led to, or 0.
func (x *exchange) school() lyceum.SchoolID { return x.who.By.School }

// pattern names the route for the log: never the path itself, which may hold
// what a stranger typed. A page has patterns of its own below those that lead
// to it.
func (x *exchange) pattern(r *http.Request) string {
	pattern := r.Pattern
	switch {
	case x.route != nil && x.route.face != nil:
		pattern = x.route.pattern
	case x.route != nil && (pattern == "" || pattern == "/"):
		pattern = x.route.pattern
	}
	if _, path, found := strings.Cut(pattern, " "); found { // a method stands before it
		pattern = path
	}
	if pattern == "" || pattern == "/" {
		return "(none)"
	}
	return pattern
}
