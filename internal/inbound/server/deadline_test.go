package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// patient is a face with an operation whose data never arrives.
type patient struct{ wait time.Duration }

func (patient) Name() string { return "patient" }

func (patient) Failure(e *lyceum.Error, _ string) (int, wire.Body) {
	return wire.Status(e.Kind), wire.JSON{Value: e.Detail}
}

func (p patient) Operations() []wire.Operation {
	return []wire.Operation{{
		ID: "Patient", Method: http.MethodGet, Path: "/patient/thing", Credential: wire.Open, Waits: p.wait,
		Serve: func(ctx context.Context, _ wire.Principal, _ *http.Request) (wire.Body, error) {
			<-ctx.Done()
			return nil, &lyceum.Error{Kind: lyceum.Unavailable, Detail: "waited in vain", Err: ctx.Err()}
		},
	}}
}

// An operation gives up waiting while the connection can still report it.
func TestR18_OperationsEndBeforeTheirConnection(t *testing.T) {
	for name, wait := range map[string]time.Duration{"a usual one": 0, "one that waits for news": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handler := Handler(Options{
					Faces: []wire.Face{patient{wait: wait}}, Limiter: access.NewLimiter(0, time.Now), Reference: http.NotFoundHandler(),
					Metrics: NewMetrics("v1.2.3"), Log: slog.New(slog.DiscardHandler),
				})
				begin, response := time.Now(), httptest.NewRecorder()
				handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/patient/thing", http.NoBody))
				if response.Code != http.StatusServiceUnavailable {
					t.Errorf("status %d: %s", response.Code, response.Body)
				}
				if took := time.Since(begin); took != wait+responseTimeout {
					t.Errorf("answered after %s, want %s", took, wait+responseTimeout)
				}
			})
		})
	}
}

func TestR18_Deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, leave := context.WithCancel(t.Context())
		defer leave()
		d := newDeadline(parent, time.Second)
		if at, ok := d.Deadline(); !ok || !at.Equal(time.Now().Add(time.Second)) {
			t.Errorf("ends at %s, %t", at, ok)
		}
		if d.Err() != nil || d.timed != nil {
			t.Errorf("ended or timed from the start: %v", d.Err())
		}
		time.Sleep(time.Second)
		if !errors.Is(d.Err(), context.DeadlineExceeded) {
			t.Errorf("after its time: %v", d.Err())
		}
		<-d.Done()
		d.stop()

		gone := newDeadline(parent, time.Second)
		stopped := newDeadline(parent, time.Second)
		stopped.stop()
		<-stopped.Done()
		if !errors.Is(stopped.Err(), context.Canceled) {
			t.Errorf("stopped before its time: %v", stopped.Err())
		}
		short, cancel := context.WithTimeout(parent, time.Millisecond)
		defer cancel()
		if at, _ := newDeadline(short, time.Second).Deadline(); !at.Equal(time.Now().Add(time.Millisecond)) {
			t.Errorf("within an earlier one it ends at %s", at)
		}
		leave()
		<-gone.Done()
		if !errors.Is(gone.Err(), context.Canceled) {
			t.Errorf("after the request's end: %v", gone.Err())
		}
		gone.stop()
	})
}
