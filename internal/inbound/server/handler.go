package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// Options are what a handler is made of.
type Options struct {
	Faces     []wire.Face
	Keys      *access.Keys
	OAuth     *access.OAuth
	Limiter   *access.Limiter
	Load      *access.Load // nil is the usual one
	Reference http.Handler // the pages at /docs and the documents at /openapi
	// Pages are the pages for people by the patterns of their paths.
	Pages map[string]http.Handler
	// Nothing is the page for addresses at which there is nothing; nil answers
	// browsers as programs.
	Nothing http.Handler
	// Ready tells whether requests can be answered.
	Ready   func(context.Context) error
	Metrics *Metrics
	// MetricsToken lets its bearer read /metrics; without one /metrics is not
	// answered here.
	MetricsToken string
	// HTTPS tells that the server is reached by https alone.
	HTTPS bool
	// Local keeps the server to its own machine; nil serves everybody.
	Local     *Local
	Log       *slog.Logger
	AccessLog bool
	// Proxies are believed when they say where a request came from.
	Proxies Proxies
}

// maxBody is the largest request body that is read, in bytes.
const maxBody = 64 << 10

// handler is what every request passes.
type handler struct {
	Options
	mux    *http.ServeMux
	routes map[string]*route // by path pattern
	hint   sync.Once         // that a proxy is not trusted
}

// route is one path of one face with its operations by method, or a pattern of
// pages, which have no face.
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

// Handler answers all requests of a server.
func Handler(o Options) http.Handler {
	if o.Load == nil {
		o.Load = access.NewLoad(access.LoadLimits{Process: access.UsualLoad, School: access.UsualSchoolLoad})
	}
	h := &handler{Options: o, mux: http.NewServeMux(), routes: map[string]*route{}}
	for _, face := range o.Faces {
		h.mount(face)
	}
	for pattern, pages := range o.Pages {
		to := &route{pattern: pattern}
		if _, path, found := strings.Cut(pattern, " "); found { // a method stands before it
			to.pattern = path
		}
		h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.(*exchange).route = to
			ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
			defer cancel()
			inside := r.WithContext(ctx)
			defer func() { r.Pattern = inside.Pattern }() // the log names the page
			pages.ServeHTTP(w, inside)
		})
	}
	h.mux.Handle("/docs", o.Reference)
	h.mux.Handle("/docs/", o.Reference)
	h.mux.Handle("/openapi/", o.Reference)
	h.mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "live\n") })
	h.mux.HandleFunc("GET /readyz", h.ready)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { h.notFound(w.(*exchange), r) })
	if o.MetricsToken != "" {
		h.mux.HandleFunc("GET /metrics", h.metrics)
	}
	return h
}

// mount adds a face's operations and its answers to what is none of them.
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

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.believe(r)
	x := &exchange{ResponseWriter: w, begin: time.Now(), id: requestID(r), local: h.Local, origins: r.Header["Origin"]}
	header := w.Header()
	header["X-Request-Id"] = []string{x.id}
	header["X-Content-Type-Options"] = nosniff
	header["Referrer-Policy"] = referrer
	if h.HTTPS {
		header["Strict-Transport-Security"] = hsts
	}
	x.held = held{Context: r.Context(), claim: h.Load.Begin(0)}
	defer func() { x.held.claim.End() }()
	defer h.finish(x, r)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	if h.Local != nil {
		if err := h.Local.refuses(r); err != nil {
			h.sendFailure(x, r, err, http.StatusMisdirectedRequest)
			return
		}
	}
	if !cleanPath(r) {
		h.notFound(x, r)
		return
	}
	h.mux.ServeHTTP(x, r)
}

// Values of headers that never change, made once.
var (
	nosniff  = []string{"nosniff"}
	referrer = []string{"strict-origin-when-cross-origin"}
	hsts     = []string{"max-age=31536000"}
	anybody  = []string{"*"}
	exposed  = []string{"ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-RateLimit-Limit-Minute, X-RateLimit-Remaining-Minute, X-Request-Id"}
	noStore  = []string{"no-store"}
	noCache  = []string{"no-cache"} // for caches from before Cache-Control (RFC 6749, section 5.1)
)

// cleanPath makes a double slash a single one, and tells whether the path is
// one that could be routed: the mux would redirect the others.
func cleanPath(r *http.Request) bool {
	p := r.URL.Path
	if strings.Contains(p, "//") {
		for strings.Contains(p, "//") {
			p = strings.ReplaceAll(p, "//", "/")
		}
		r.URL.Path, r.URL.RawPath = p, ""
	}
	return p != "" && p[0] == '/' && (path.Clean(p) == p || path.Clean(p)+"/" == p)
}

// dispatch takes a request of a face through credential, limit and permission
// to its operation.
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
	wait := answerTimeout
	if op, ok := to.operations[r.Method]; ok {
		wait += op.Waits
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	r = r.WithContext(ctx)
	err := h.admit(x, r, to)
	if err == nil {
		err = h.answer(x, r)
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
	header.Set("Access-Control-Allow-Headers", "apiKey, Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id")
	header.Set("Access-Control-Max-Age", "3600")
	w.WriteHeader(http.StatusNoContent)
}

// errMethod marks a method that a path does not have.
var errMethod = errors.New("method not allowed")

// admit finds the operation and decides whether the caller may ask for it. The
// limit is counted by school, or by address for who belongs to none.
func (h *handler) admit(x *exchange, r *http.Request, to *route) error {
	if to.pattern == "" {
		return h.refuse(x, r, lyceum.Errorf(lyceum.NotFound, noRoute))
	}
	op, ok := to.operations[r.Method]
	if !ok {
		return h.refuse(x, r, &lyceum.Error{
			Kind: lyceum.NotFound, Code: "method_not_allowed", Detail: "this address takes " + to.allow, Err: errMethod,
		})
	}
	x.op = op
	switch op.Credential {
	case wire.Bearer:
		return h.admitLearner(x, r, op)
	case wire.Open:
		x.who.Count = func(b access.Bucket) error { return h.count(x, b) }
		return nil
	case wire.APIKey:
	}
	return h.admitKey(x, r, op)
}

// admitKey lets a program in that shows an API key.
func (h *handler) admitKey(x *exchange, r *http.Request, op *operation) error {
	keys := r.Header["Apikey"]
	if len(keys) > 1 {
		return h.refuse(x, r, lyceum.Invalidf("the header apiKey must be given once"))
	}
	presented := ""
	if len(keys) == 1 {
		presented = keys[0]
	}
	caller, err := h.Keys.Check(r.Context(), presented)
	if err != nil {
		return h.refuse(x, r, err)
	}
	x.who.Caller = caller
	if err := h.limit(x, r); err != nil {
		return err
	}
	if !caller.Permissions.Allows(op.Needs) {
		return lyceum.Errorf(lyceum.Forbidden, "this API key has not the permission %s; it has %s", op.Needs, caller.Permissions)
	}
	return nil
}

// admitLearner lets an app in that shows an access token (RFC 6750, section
// 2.1). A token anywhere else than in the header is not looked at.
func (h *handler) admitLearner(x *exchange, r *http.Request, op *operation) error {
	headers := r.Header["Authorization"]
	if len(headers) > 1 {
		return h.refuse(x, r, lyceum.Invalidf("the header Authorization must be given once"))
	}
	token := ""
	if len(headers) == 1 {
		if scheme, rest, _ := strings.Cut(headers[0], " "); strings.EqualFold(scheme, "bearer") {
			token = strings.TrimSpace(rest)
		}
	}
	if token == "" {
		return h.refuse(x, r, access.ErrNoBearer)
	}
	learner, err := h.OAuth.Bearer(r.Context(), token)
	if err != nil {
		return h.refuse(x, r, err)
	}
	x.who.Learner = &learner
	if err := h.limit(x, r); err != nil {
		return err
	}
	return learner.May(op.Version, op.ID)
}

// refuse counts a request that is refused whatever the count says.
func (h *handler) refuse(x *exchange, r *http.Request, err error) error {
	if exceeded := h.limit(x, r); exceeded != nil {
		return exceeded
	}
	return err
}

const noRoute = "no Route matched with those values"

// limit counts the request by its school, or else by its address.
func (h *handler) limit(x *exchange, r *http.Request) error {
	if school := x.school(); school != 0 {
		return h.count(x, access.Bucket{School: school})
	}
	return h.count(x, access.BucketOf(wire.AddressOf(r)))
}

// count counts the request and puts the rate limit's headers on its answer.
func (h *handler) count(x *exchange, bucket access.Bucket) error {
	if !h.Limiter.Enabled() {
		return nil
	}
	quota := h.Limiter.Take(bucket)
	header := x.Header()
	limit, remaining := []string{strconv.FormatInt(quota.Limit, 10)}, []string{strconv.FormatInt(quota.Remaining, 10)}
	reset := []string{strconv.Itoa(quota.Reset)}
	header["Ratelimit-Limit"] = limit
	header["Ratelimit-Remaining"] = remaining
	header["Ratelimit-Reset"] = reset
	header["X-Ratelimit-Limit-Minute"] = limit
	header["X-Ratelimit-Remaining-Minute"] = remaining
	if !quota.Exceeded {
		return nil
	}
	header["Retry-After"] = reset
	return lyceum.Errorf(lyceum.RateLimited, "API rate limit exceeded")
}

func (h *handler) answer(x *exchange, r *http.Request) error {
	if x.op.Waits > 0 {
		// Where it cannot be set there is none.
		_ = http.NewResponseController(x).SetWriteDeadline(time.Now().Add(x.op.Waits + writeTimeout))
	}
	x.held.claim = h.Load.Begin(x.school())
	x.held.change = r.Method != http.MethodGet && r.Method != http.MethodHead
	x.held.turns = x.op.Heavy
	body, err := x.serve(r)
	if err != nil {
		return err
	}
	if x.op.Secret {
		x.Header()["Cache-Control"] = noStore
		x.Header()["Pragma"] = noCache
	}
	status := x.op.Success
	if status == 0 {
		status = http.StatusOK
	}
	return wire.Send(x, r, status, body)
}

// sendFailure tells the caller what may be told, in the words of the face, and
// the log the rest. A status of 0 is the face's own for the kind.
func (h *handler) sendFailure(x *exchange, r *http.Request, err error, status int) {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = lyceum.Errorf(lyceum.TooLarge, "the request body is larger than %d bytes", large.Limit)
	}
	e := lyceum.Public(err)
	switch e.Kind {
	case lyceum.Internal:
		h.Log.ErrorContext(r.Context(), "request failed", "request_id", x.id, "path", x.pattern(r), "err", err)
		e = &lyceum.Error{Kind: lyceum.Internal, Detail: "internal error; the request id in X-Request-Id finds it in the server's log"}
	case lyceum.Unavailable:
		h.Log.WarnContext(r.Context(), "request refused", "request_id", x.id, "path", x.pattern(r), "err", err)
		x.Header().Set("Retry-After", "2")
	}
	own, challenge, body := x.failure(e)
	if challenge != "" {
		x.Header().Set("WWW-Authenticate", challenge)
	}
	if status == 0 {
		status = own
	}
	if err := wire.Send(x, r, status, body); err != nil {
		h.Log.ErrorContext(r.Context(), "error could not be sent", "request_id", x.id, "err", err)
	}
}

// failure puts an error into the words of the operation, of the face, or of
// neither.
func (x *exchange) failure(e *lyceum.Error) (status int, challenge string, body wire.Body) {
	switch {
	case x.op != nil && x.op.Fail != nil:
		return x.op.Fail(e)
	case x.route != nil && x.route.fail != nil:
		return x.route.fail(e)
	case x.route != nil && x.route.face != nil:
		status, body = x.route.face.Failure(e, x.id)
		return status, "", body
	}
	status, body = plainFailure(e)
	return status, "", body
}

// plainFailure is the error of an address that belongs to no face.
func plainFailure(e *lyceum.Error) (int, wire.Body) {
	status := http.StatusInternalServerError
	if e.Kind == lyceum.NotFound {
		status = http.StatusNotFound
	}
	return status, wire.JSON{Value: map[string]string{"message": e.Detail}}
}

func (h *handler) notFound(x *exchange, r *http.Request) {
	x.Header().Add("Vary", "Accept")
	if h.Nothing != nil && web.WantsPage(r) {
		h.Nothing.ServeHTTP(x, r)
		return
	}
	h.sendFailure(x, r, lyceum.Errorf(lyceum.NotFound, noRoute), 0)
}

func (h *handler) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := h.Ready(ctx); err != nil {
		h.Log.WarnContext(ctx, "not ready", "err", err)
		w.Header().Set("Retry-After", "2")
		writeText(w, http.StatusServiceUnavailable, "not ready: "+lyceum.Public(err).Detail+"\n")
		return
	}
	writeText(w, http.StatusOK, "ready\n")
}

func (h *handler) metrics(w http.ResponseWriter, r *http.Request) {
	want := sha256.Sum256([]byte("Bearer " + h.MetricsToken))
	got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		w.Header().Set("WWW-Authenticate", `Bearer realm="metrics"`)
		writeText(w, http.StatusUnauthorized, "the metrics token is wanted as a bearer token\n")
		return
	}
	h.Metrics.Handler().ServeHTTP(w, r)
}

func writeText(w http.ResponseWriter, status int, text string) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client may have gone
}
