package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/server"
)

// TestFiguresOfOneStateAreReadTogether checks that, for a state that changes with each reading,
// all figures in one scrape are from the same reading.
func TestFiguresOfOneStateAreReadTogether(t *testing.T) {
	t.Parallel()
	m := server.NewMetrics("v1.2.3")
	read := int64(0)
	same := func(n int64) int64 { return n }
	server.Measure(m, func() int64 { read++; return read }, []server.Figure[int64]{
		{Name: "lyceum_a", Help: "A gauge.", Value: same},
		{Name: "lyceum_b_total", Help: "A counter.", Rises: true, Value: same},
		{Name: "lyceum_c", Help: "Another gauge.", Value: func(n int64) int64 { return n * 10 }},
	})
	for scrape, want := range []string{
		"# HELP lyceum_a A gauge.\n# TYPE lyceum_a gauge\nlyceum_a 1\n" +
			"# HELP lyceum_b_total A counter.\n# TYPE lyceum_b_total counter\nlyceum_b_total 1\n",
		"# TYPE lyceum_c gauge\nlyceum_c 20\n",
	} {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, request(http.MethodGet, "/metrics", nil))
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("scrape %d has not\n%s\nin\n%s", scrape+1, want, w.Body)
		}
	}
}
