package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

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
		writeText(w, http.StatusUnauthorized, "send the metrics token as a bearer token\n")
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
