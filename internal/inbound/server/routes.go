package server

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// route is one path of a face with its operations by method, or a pattern of pages, which have
// no face.
type route struct {
	face       wire.Face
	fail       wire.Failure
	pattern    string
	operations map[string]*operation
	allow      string
}

type operation struct {
	wire.Operation
	observed observed
}

// mount registers a face's operations and its 404 and 405 handlers.
func (h *handler) mount(face wire.Face) {
	for _, op := range face.Operations() {
		r, ok := h.routes[op.Path]
		if !ok {
			r = &route{face: face, fail: op.Fail, pattern: op.Path, operations: map[string]*operation{}}
			h.routes[op.Path] = r
			h.mux.HandleFunc(op.Path, func(w http.ResponseWriter, req *http.Request) { h.dispatch(w.(*exchange), req, r) })
		}
		known := &operation{Operation: op, observed: h.Metrics.observe(face.Name(), op.ID)}
		r.operations[op.Method] = known
		if op.Method == http.MethodGet {
			r.operations[http.MethodHead] = known
		}
	}
	for _, r := range h.routes {
		methods := []string{}
		for method := range r.operations {
			methods = append(methods, method)
		}
		slices.Sort(methods)
		r.allow = strings.Join(methods, ", ")
	}
	none := &route{face: face}
	unknown := func(w http.ResponseWriter, req *http.Request) { h.dispatch(w.(*exchange), req, none) }
	h.mux.HandleFunc("/"+face.Name(), unknown)
	h.mux.HandleFunc("/"+face.Name()+"/", unknown)
}

// dispatch takes a face's request through authentication, rate limit and permissions to its
// operation.
func (h *handler) dispatch(x *exchange, r *http.Request, to *route) {
	x.route = to
	header := x.Header()
	header["Access-Control-Allow-Origin"] = anybody
	if len(r.Header["Origin"]) > 0 {
		header["Access-Control-Expose-Headers"] = exposed
	}
	if to.pattern != "" && r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		preflight(x, to)
		return
	}
	wait := responseTimeout
	if op, ok := to.operations[r.Method]; ok {
		wait += op.Waits
	}
	until := newDeadline(r.Context(), wait)
	defer until.stop()
	x.held.Context = until //nolint:fatcontext // one request per exchange
	r = r.WithContext(&x.held)
	err := h.admit(x, r, to)
	if err == nil {
		err = h.respond(x, r)
	}
	if err == nil {
		return
	}
	status := 0
	if errors.Is(err, errMethod) {
		status = http.StatusMethodNotAllowed
		header.Set("Allow", to.allow)
	}
	h.sendFailure(x, r, err, status)
}

func preflight(w http.ResponseWriter, to *route) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", to.allow)
	header.Set("Access-Control-Allow-Headers", "apiKey, Authorization, Content-Type, Idempotency-Key, "+
		"If-None-Match, Journal-Entry, X-Request-Id")
	header.Set("Access-Control-Max-Age", "3600")
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) respond(x *exchange, r *http.Request) error {
	if x.op.Waits > 0 {
		// If it cannot be set, the connection has no write deadline.
		_ = http.NewResponseController(x).SetWriteDeadline(time.Now().Add(x.op.Waits + writeTimeout))
	}
	x.held.claim = h.Load.Begin(x.school())
	x.held.change = r.Method != http.MethodGet && r.Method != http.MethodHead
	x.held.turns = x.op.Heavy
	x.limitBody(r, x.op.MaxBody)
	body, otherwise := h.Cache.find(x, r)
	if body == nil {
		x.uncached = otherwise
		var err error
		if body, err = x.serve(r); err != nil {
			return err
		}
	}
	h.noteEntry(x)
	if x.op.Secret {
		x.Header()["Cache-Control"] = noStore
		x.Header()["Pragma"] = noCache
	}
	return wire.Send(x, r, statusOf(x.op, body), body)
}

func statusOf(op *operation, body wire.Body) int {
	if own, ok := body.(wire.StatusBody); ok {
		return own.Status()
	}
	return cmp.Or(op.Success, http.StatusOK)
}
