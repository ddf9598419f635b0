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

// Options configure a handler.
type Options struct {
	Faces     []wire.Face
	Keys      *access.Keys
	OAuth     *access.OAuth
	Limiter   *access.Limiter
	Failures  *access.Failures // stores failed requests; nil stores none
	Load      *access.Load     // nil means the default limits
	Cache     *Cache           // nil caches nothing
	Reference http.Handler     // the pages at /docs and the documents at /openapi
	// Pages are the HTML pages by their path patterns.
	Pages map[string]http.Handler
	// Uploads are the largest bodies, in bytes, of pages that accept more than the others, by
	// the same patterns.
	Uploads map[string]int64
	// Files are the handlers that receive and send files, by their path patterns. They limit
	// the body size and the time themselves.
	Files map[string]http.Handler
	// Nothing is the page for addresses that do not exist; if it is nil, browsers get the same
	// response as programs.
	Nothing http.Handler
	// Journal numbers changes; nil disables the Journal-Entry header.
	Journal Journal
	// Ready returns an error if requests cannot be served.
	Ready   func(context.Context) error
	Metrics *Metrics
	// MetricsToken is the bearer token for /metrics; without one, /metrics is not served here.
	MetricsToken string
	// HTTPS says that the server is only reached by https.
	HTTPS bool
	// Local restricts the server to its own machine; nil serves everybody.
	Local     *Local
	Log       *slog.Logger
	AccessLog bool
	// Proxies are trusted to say where a request came from.
	Proxies Proxies
}

// maxBody is the largest request body that is read, in bytes, unless an operation or a page
// accepts more.
const maxBody = 64 << 10

// handler handles every request.
type handler struct {
	Options
	mux    *http.ServeMux
	routes map[string]*route // by path pattern
	hint   sync.Once         // warns once about an untrusted proxy
}

// Handler returns the handler of all requests to a server.
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
			until := newDeadline(r.Context(), responseTimeout)
			defer until.stop()
			inside := r.WithContext(until)
			defer func() { r.Pattern = inside.Pattern }() // so that the log names the page
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

// page registers the handler of a pattern.
func (h *handler) page(pattern string, serve func(*exchange, *http.Request)) {
	to := &route{pattern: pattern}
	if _, path, found := strings.Cut(pattern, " "); found { // without the method
		to.pattern = path
	}
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange)
		x.route = to
		serve(x, r)
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

// limitBody limits how much of the body is read, in bytes; 0 keeps the current limit.
func (x *exchange) limitBody(r *http.Request, most int64) {
	if most > 0 && x.body != nil && x.body != http.NoBody {
		r.Body = http.MaxBytesReader(x.ResponseWriter, x.body, most)
	}
}

// Header values that never change, allocated once.
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

// cleanPath turns double slashes into single ones, and reports whether the path can be routed.
// The mux would redirect other paths.
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
