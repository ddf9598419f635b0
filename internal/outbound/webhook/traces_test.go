package webhook

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestR36_RefusedTargets checks that a webhook with an internal target is reported to the
// server's operator and in the school's journal, while its owner sees an unreachable receiver.
func TestR36_RefusedTargets(t *testing.T) {
	t.Parallel()
	to := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is sent") }))
	defer to.Close()
	p := newPost(t, openStore(t))
	p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
	p.courier.Sender = New(Options{Timeout: time.Minute}) // the allowed networks were removed again
	p.courier.Traces = access.NewTraces(p.store, p.clock.Now)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { p.courier.Run(ctx); close(ended) }()
	p.sell(t)
	if !storetest.Await(func() bool { return p.courier.Traces.Count(access.TargetRefused) > 0 }) {
		t.Error("a refused target leaves no trace")
	}
	stop()
	<-ended
	if err := p.courier.Traces.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := storetest.FindEntries(t.Context(), p.store, p.school, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	noted := 0
	for _, e := range entries {
		if e.Type == lyceum.TargetRefused && e.ObjectID == 1 {
			noted++
		}
	}
	if noted != 1 {
		t.Errorf("the journal has %d entries of it, want 1", noted)
	}
}

func TestRefusedDiffersFromUnreachable(t *testing.T) {
	t.Parallel()
	const closed = "http://127.0.0.1:1/" // a port assigned by the system could belong to another test
	for name, tc := range map[string]struct {
		sender *Sender
		url    string
		want   bool
	}{
		"inside":            {New(Options{Timeout: time.Minute}), closed, true},
		"inside, by https":  {New(Options{Timeout: time.Minute}), "https://127.0.0.1/", true},
		"allowed, and gone": {New(Options{Timeout: time.Minute, Loopback: true}), closed, false},
	} {
		o := tc.sender.Send(t.Context(), Message{ID: "x", At: time.Now(), URL: tc.url})
		if o.Refused != tc.want || o.Problem != unreachable {
			t.Errorf("%s: refused is %v, and %q", name, o.Refused, o.Problem)
		}
	}
}
