package webhook

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestR44_ListenKeepsItsKeyFromRedirects checks that the target of a redirect gets neither the
// key nor a request, and that the error names the target.
func TestR44_ListenKeepsItsKeyFromRedirects(t *testing.T) {
	t.Parallel()
	stranger := receive(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a request came to where the redirect leads, with the key %q", r.Header.Get("apiKey"))
	})
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := receive(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", strings.Replace(stranger, "http://", "http://user:canary@", 1)+"/else?token=canary#canary")
			w.WriteHeader(status)
		})
		l := &Listener{Server: server, APIKey: "lyceum_key_canary", Retry: func(err error) { t.Errorf("asked again after %v", err) }}
		_, err := l.Now(t.Context())
		detail := lyceum.Public(err).Detail
		if lyceum.KindOf(err) != lyceum.Invalid || !strings.Contains(detail, stranger+"/else, and the API key is not sent there") || strings.Contains(detail, "canary") {
			t.Errorf("%d: %v", status, err)
		}
	}
	lost := receive(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	if _, err := (&Listener{Server: lost}).Now(t.Context()); !strings.Contains(lyceum.Public(err).Detail, "redirects (302 Found) without a location") {
		t.Error(err)
	}
}

// TestListenAfterAReset checks that a listener receives the events that happen after a school
// was restored to an earlier state.
func TestListenAfterAReset(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := receive(t, func(w http.ResponseWriter, r *http.Request) {
		switch after := r.URL.Query().Get("after"); {
		case strings.HasSuffix(r.URL.Path, "/changes"):
			_, _ = w.Write([]byte(`{"changes":[],"next":1,"last":4}`))
		case after == "9":
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"code":"unknown_number","message":"no change has the number 9 yet","errors":[]}`))
		case after == "4":
			_, _ = w.Write([]byte(`{"events":[{"number":5,"type":"Sale.created","body":{"id":1,"hook_event_id":5}}],"next":5,"last":5}`))
		default:
			_, _ = w.Write([]byte(`{"events":[],"next":5,"last":5}`))
			cancel()
		}
	})
	var seen []string
	l := &Listener{
		Server: server, APIKey: "key",
		Show: func(h Heard) { seen = append(seen, h.Type) },
		Back: func(last int64) { seen = append(seen, "back to "+strconv.Itoa(int(last))) },
	}
	if err := l.Run(ctx, 9); err != nil {
		t.Fatal(err)
	}
	if want := []string{"back to 4", "Sale.created"}; !slices.Equal(seen, want) {
		t.Errorf("%v, want %v", seen, want)
	}
}

// TestListenRefusesAnotherServersAnswer checks that a response from another kind of server is
// an error; otherwise it would seem that no events ever happen.
func TestListenRefusesAnotherServersResponse(t *testing.T) {
	t.Parallel()
	for _, response := range []string{`{}`, `null`, `[]`, `<html>`, `{"status":"ok"}`} {
		server := receive(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(response)) })
		l := &Listener{Server: server + "/", APIKey: "key", Retry: func(err error) { t.Errorf("asked again after %v", err) }}
		_, now := l.Now(t.Context())
		for path, err := range map[string]error{"changes": now, "events": l.Run(t.Context(), 7)} {
			want := "the answer of " + server + "/lyceum/v1/" + path + " is not from Lyceum; set --server to the address of a Lyceum server"
			if lyceum.KindOf(err) != lyceum.Invalid || lyceum.Public(err).Detail != want {
				t.Errorf("%s: %v", response, err)
			}
		}
	}
}
