package files

import "net/http"

// CORS headers for all origins: the URL itself says who may use it, and cookies are
// ignored.
const (
	allowedHeaders = "Content-Range, Content-Type, If-None-Match, If-Range, Range, Repr-Digest, X-Request-Id"
	exposedHeaders = "Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Range, Retry-After, " +
		"Upload-Complete, Upload-Offset, X-Request-Id"
)

// shared allows pages of every origin to read a response.
func shared(handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", "*")
		if r.Header.Get("Origin") != "" {
			header.Set("Access-Control-Expose-Headers", exposedHeaders)
		}
		handler(w, r)
	})
}

// preflight answers CORS preflight requests.
func preflight(methods string) http.Handler {
	return shared(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Allow", methods+", OPTIONS")
		header.Set("Access-Control-Allow-Methods", methods)
		header.Set("Access-Control-Allow-Headers", allowedHeaders)
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
	})
}
