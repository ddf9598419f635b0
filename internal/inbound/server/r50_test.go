package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lyceum-school/lyceum/internal/inbound/server"
)

// door is a server in a bubble that accepts two connections at a time. A request to /slow is
// answered when it is told to continue.
type door struct {
	*network
	limited *server.Connections
	log     *logbook
	goOn    chan struct{}
	stop    func()
	served  chan error
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{network: newNetwork(), log: new(logbook), goOn: make(chan struct{})}
	log := slog.New(slog.NewJSONHandler(d.log, nil))
	d.limited = server.LimitConnections(d.network, 2, log)
	ctx, stop := context.WithCancel(t.Context())
	d.stop, d.served = stop, make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-d.goOn
		}
		_, _ = io.WriteString(w, "live\n")
	})
	go func() { d.served <- server.Serve(ctx, d.limited, handler, nil, log) }()
	return d
}

func (d *door) end(t *testing.T) {
	t.Helper()
	d.stop()
	if err := <-d.served; err != nil {
		t.Error(err)
	}
	synctest.Wait()
	if n := d.limited.Open(); n != 0 {
		t.Errorf("%d connections are open at the end", n)
	}
}

// visitor is a client with one connection.
type visitor struct {
	net.Conn
	responses *bufio.Reader
}

func (d *door) visit(t *testing.T) *visitor {
	t.Helper()
	conn := d.dial(t)
	return &visitor{conn, bufio.NewReader(conn)}
}

func (v *visitor) send(t *testing.T, path string) {
	t.Helper()
	write(t, v, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
}

func (v *visitor) wantResponse(t *testing.T) {
	t.Helper()
	response, err := http.ReadResponse(v.responses, nil)
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s, %v", response.Status, err)
	}
}

func (v *visitor) wantEnd(t *testing.T) {
	t.Helper()
	if text, err := io.ReadAll(v.responses); len(text) > 0 || err != nil {
		t.Errorf("the connection is open: %q, %v", text, err)
	}
}

// A new connection replaces the one that has been idle longest, if all are in use.
func TestR50_NewConnectionsTakeThePlaceOfIdleOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		first, second := d.visit(t), d.visit(t)
		for _, v := range []*visitor{first, second, first} { // so second has been idle longest
			v.send(t, "/")
			v.wantResponse(t)
			synctest.Wait()
		}
		third := d.visit(t)
		third.send(t, "/livez")
		third.wantResponse(t)
		second.wantEnd(t)
		first.send(t, "/")
		first.wantResponse(t)
		synctest.Wait()
		if open, full := d.limited.Open(), d.limited.Full(); open != 2 || full != 1 {
			t.Errorf("%d connections are open, %d found the bound reached", open, full)
		}
		d.visit(t).send(t, "/")
		if lines := d.log.lines(t, fullMessage); len(lines) != 1 || lines[0]["connections"] != 2.0 || lines[0]["setting"] != "--max-connections" {
			t.Errorf("the log says %v", lines)
		}
		<-time.After(time.Minute)
		for range 3 {
			d.visit(t).send(t, "/")
		}
		if lines := d.log.lines(t, fullMessage); len(lines) != 2 {
			t.Errorf("a minute later the log says %v", lines)
		}
		d.end(t)
	})
}

const fullMessage = "all connections are in use: idle ones are closed for new ones, which wait while none is idle"

// If none is idle, a new connection waits until one ends or gets its response.
func TestR50_NewConnectionsWaitWhileNoneIsIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		begin := time.Now()
		var busy sync.WaitGroup
		for range 2 {
			v := d.visit(t)
			v.send(t, "/slow")
			busy.Go(func() { v.wantResponse(t) })
		}
		waiting := d.visit(t)
		sent := make(chan struct{})
		go func() { waiting.send(t, "/livez"); close(sent) }()
		synctest.Wait()
		select {
		case <-sent:
			t.Fatal("a third connection is served while two are in use")
		default:
		}
		d.goOn <- struct{}{} // one of the two
		waiting.wantResponse(t)
		if took := time.Since(begin); took != 0 {
			t.Errorf("answered after %v, want as soon as one is idle", took)
		}
		close(d.goOn)
		busy.Wait()
		d.end(t)
	})
}

// Connections without a request last no longer than a slow client may take to send a header.
func TestR50_SilentConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		begin := time.Now()
		d.visit(t)
		d.visit(t)
		third := d.visit(t)
		third.send(t, "/livez")
		third.wantResponse(t)
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("answered after %v, want the 5 s of a header", took)
		}
		d.end(t)
	})
}

// A server can stop even if a connection is waiting.
func TestR50_StopWhileAConnectionWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for range 2 {
			d.visit(t).send(t, "/slow")
		}
		waiting := d.visit(t)
		synctest.Wait()
		d.stop()
		waiting.wantEnd(t)
		close(d.goOn)
		d.end(t)
	})
}

// With TLS and HTTP/2, idle connections are replaced, too.
func TestR50_IdleTLSConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	certFile, keyFile, roots := certificate(t, "lyceum")
	secure, err := server.LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := server.Listen(t.Context(), "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := server.LimitConnections(listener, 1, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "live\n") })
		if err := server.Serve(ctx, limited, handler, secure, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	})
	for n, http2 := range []bool{true, false, true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: http2}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get("https://" + listener.Addr().String() + "/livez")
		if err != nil {
			t.Fatalf("client %d: %v", n, err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || (response.ProtoMajor == 2) != http2 {
			t.Errorf("client %d: %s, %v", n, response.Proto, err)
		}
		_ = response.Body.Close()
	}
	if open, full := limited.Open(), limited.Full(); open != 1 || full != 2 {
		t.Errorf("%d connections are open, %d found the bound reached", open, full)
	}
	stop()
	serving.Wait()
}
