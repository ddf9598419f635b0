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

// requestID returns the caller's own request id if it is harmless in a log, otherwise a new
// one.
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

// exchange is one request in progress. It records what the log and the metrics need.
type exchange struct {
	http.ResponseWriter
	begin  time.Time
	id     string
	route  *route
	op     *operation
	who    wire.Principal
	status int
	bytes  int64
	wrong  *lyceum.Error // the error in the response
	held   held
	body   io.ReadCloser // of the request, without a size limit

	uncached uncached

	local   *Local   // whose pages may read the response; nil: all pages may
	origins []string // of the requesting page
}

// held is the memory of a response in progress, and the context in which it is made.
type held struct {
	context.Context //nolint:containedctx // it is the context of the exchange itself

	claim  access.Claim
	rows   int64 // bytes read for the response
	turns  bool  // the response is made in a turn
	change bool  // the request changes something, and must not be rejected because of its response
	entry  int64 // the last journal entry that the request wrote
}

const (
	// uncounted is how many bytes may be read for a response before it has to reserve memory.
	uncounted = 256 << 10
	// loadStep is the memory it then reserves at a time, in bytes. It is as much as most large
	// responses need, so that a school makes only a few of them at the same time.
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

// Allow implements lyceum.Allowance. It does not wait, because the caller may be holding a
// database connection that others need.
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

// steps returns the memory to reserve for what was read, rounded up to whole steps.
func (h *held) steps() int64 { return (h.rows + loadStep - 1) / loadStep * loadStep }

// serve makes the body of a response. If there is no room for the rows it reads, or it needs a
// turn, serve waits for that and reads them again.
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
		h.claim.EndTurn() // nothing is made while waiting for room
		wanted := h.steps()
		h.rows = 0
		h.claim.Set(0)
		if err := h.claim.Hold(h, wanted); err != nil {
			return nil, err
		}
	}
}

// Hold implements wire.Holder. The rows that were read have become the text of the response.
func (x *exchange) Hold(ctx context.Context, bytes int) error {
	x.held.rows = 0
	if x.held.change {
		x.held.claim.Set(int64(bytes))
		return nil
	}
	return x.held.claim.Hold(ctx, int64(bytes))
}

func (x *exchange) Count(bytes int) { x.held.claim.Set(int64(bytes)) }

// WriteHeader implements http.ResponseWriter. The response is made, so its turn ends: a client
// that reads slowly must not hold up others.
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

// ReadFrom implements io.ReaderFrom, so that the operating system can send files directly.
func (x *exchange) ReadFrom(from io.Reader) (int64, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := io.Copy(x.ResponseWriter, from)
	x.bytes += n
	return n, err
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// finish responds if the handler panicked, and counts and logs the request.
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

// left records that the client did not read the response.
func (x *exchange) left() {
	x.status = wire.StatusGone
	if x.wrong != nil {
		x.wrong = &lyceum.Error{
			Kind: x.wrong.Kind, Detail: "the client closed the connection before the response: " + x.wrong.Detail,
		}
	}
}

// school returns the school of the credential, or 0.
func (x *exchange) school() lyceum.SchoolID { return x.who.By.School }

// pattern returns the route for the log, never the path itself, which may contain anything a
// client typed. Pages have more specific patterns of their own below the one they are mounted
// at.
func (x *exchange) pattern(r *http.Request) string {
	pattern := r.Pattern
	switch {
	case x.route != nil && x.route.face != nil:
		pattern = x.route.pattern
	case x.route != nil && (pattern == "" || pattern == "/"):
		pattern = x.route.pattern
	}
	if _, path, found := strings.Cut(pattern, " "); found { // without the method
		pattern = path
	}
	if pattern == "" || pattern == "/" {
		return "(none)"
	}
	return pattern
}
