package server

import (
	"context"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// Options are what a handler is made of.
type Options struct {
	Faces     []wire.Face
	Keys      *access.Keys
	OAuth     *access.OAuth
	Limiter   *access.Limiter
	Failures  *access.Failures // keeps requests that failed; nil keeps none
	Load      *access.Load     // nil is the usual one
	Cache     *Cache           // nil caches nothing
	Reference http.Handler     // the pages at /docs and the documents at /openapi
	// Pages are the pages for people by the patterns of their paths.
	Pages map[string]http.Handler
	// Uploads are the largest bodies, in bytes, of the pages that read more than
	// others, by the same patterns.
	Uploads map[string]int64
	// Files are the handlers that take and send files, by the patterns of their
	// paths. They bound the size of a body and the time themselves.
	Files map[string]http.Handler
	// Nothing is the page for addresses at which there is nothing; nil answers
	// browsers as programs.
	Nothing http.Handler
	// Journal numbers what changes; nil does not.
	Journal Journal
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

// maxBody is the largest request body that is read, in bytes, unless an operation
// or a page takes more.
const maxBody = 64 << 10

// handler is what every request passes.
type handler struct {
	Options
	mux    *http.ServeMux
	routes map[string]*route // by path pattern
	hint   sync.Once         // that a proxy is not trusted
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
		h.page(pattern, func(x *exchange, r *http.Request) {
			x.limitBody(r, o.Uploads[pattern])
			until := newDeadline(r.Context(), answerTimeout)
			defer until.stop()
			inside := r.WithContext(until)
			defer func() { r.Pattern = inside.Pattern }() // the log names the page
			pages.ServeHTTP(x, inside)
		})
	}
	for pattern, files := range o.Files {
		h.page(pattern, func(x *exchange, r *http.Request) {
			r.Body = x.body
			files.ServeHTTP(x, r)
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

// page registers what answers a pattern.
func (h *handler) page(pattern string, answer func(*exchange, *http.Request)) {
	to := &route{pattern: pattern}
	if _, path, found := strings.Cut(pattern, " "); found { // a method stands before it
		to.pattern = path
	}
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange)
		x.route = to
		answer(x, r)
	})
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
	x.body = r.Body
	x.limitBody(r, maxBody)
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

// limitBody bounds how much of the body is read, in bytes; 0 leaves the bound that
// there is.
func (x *exchange) limitBody(r *http.Request, most int64) {
	if most > 0 && x.body != nil && x.body != http.NoBody {
		r.Body = http.MaxBytesReader(x.ResponseWriter, x.body, most)
	}
}

// Values of headers that never change, made once.
var (
	nosniff  = []string{"nosniff"}
	referrer = []string{"strict-origin-when-cross-origin"}
	hsts     = []string{"max-age=31536000"}
	anybody  = []string{"*"}
	exposed  = []string{"ETag, Journal-Entry, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, " +
		"WWW-Authenticate, X-RateLimit-Limit-Minute, X-RateLimit-Remaining-Minute, X-Request-Id"}
	noStore = []string{"no-store"}
	noCache = []string{"no-cache"} // for caches from before Cache-Control (RFC 6749, section 5.1)
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
