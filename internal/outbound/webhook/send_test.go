package webhook

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func receive(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	return at(t, "127.0.0.1:0", handler).URL
}

// talk is a receiver that calls converse for each connection, and closes the connections at the
// end of the test.
func talk(t *testing.T, converse func(n int, conn *net.TCPConn, requests *bufio.Reader)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	over := make(chan struct{})
	t.Cleanup(func() { listener.Close(); close(over); open.Wait() })
	open.Go(func() {
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				converse(n, conn.(*net.TCPConn), bufio.NewReader(conn))
				<-over
			})
		}
	})
	return "http://" + listener.Addr().String()
}

// takeRequest reads one whole request and returns its webhook-id.
func takeRequest(requests *bufio.Reader) string {
	r, err := http.ReadRequest(requests)
	if err != nil {
		return ""
	}
	io.Copy(io.Discard, r.Body)
	return r.Header.Get("webhook-id")
}

func TestMessageArrives(t *testing.T) {
	var got *http.Request
	var body []byte
	url := receive(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, "thank you")
	})
	m := Message{URL: url + "/hook?key=canary", ID: "evt_7", At: time.Now(), Body: []byte(`{"name":"Grüße"}`), Secrets: [][]byte{newSecret, oldSecret}}
	out := New(Options{Loopback: true}).Send(t.Context(), m)
	if !out.Delivered || out.Status != 202 || out.Problem != "" || out.RetryAfter != 0 || out.Took <= 0 || string(out.ResponseBody) != "thank you" || out.ResponseHeader.Get("X-Answer") != "yes" {
		t.Errorf("the outcome is %+v", out)
	}
	if got.Method != http.MethodPost || got.URL.RequestURI() != "/hook?key=canary" || !bytes.Equal(body, m.Body) || got.ContentLength != int64(len(m.Body)) {
		t.Errorf("%s %s with %q arrived", got.Method, got.URL, body)
	}
	want := http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Lyceum-Webhooks/1"}, "Webhook-Id": {"evt_7"},
		"Webhook-Timestamp": {fmt.Sprint(m.At.Unix())}, "Webhook-Signature": {Sign("evt_7", m.At, m.Body, newSecret, oldSecret)},
	}
	if fmt.Sprint(out.RequestHeader) != fmt.Sprint(want) {
		t.Errorf("it is told that %v was sent", out.RequestHeader)
	}
	want.Set("Content-Length", fmt.Sprint(len(m.Body)))
	if fmt.Sprint(got.Header) != fmt.Sprint(want) {
		t.Errorf("%v arrived", got.Header)
	}
	for _, secret := range m.Secrets {
		verifier, err := standardwebhooks.NewWebhookRaw(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(body, got.Header); err != nil {
			t.Error(err)
		}
	}
}

func TestR17_Responses(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		status     int
		retryAfter string
		delivered  bool
		wait       time.Duration
	}{
		{200, "", true, 0},
		{200, "60", true, 0},
		{204, "", true, 0},
		{226, "", true, 0},
		{299, "", true, 0},
		{301, "", false, 0},
		{304, "", false, 0},
		{400, "60", false, 0},
		{410, "", false, 0},
		{418, "", false, 0},
		{429, "", false, 0},
		{429, "0", false, 0},
		{429, "120", false, 2 * time.Minute},
		{429, "86400", false, 24 * time.Hour},
		{429, "86401", false, 24 * time.Hour},
		{429, "99999999999999999999999", false, 24 * time.Hour},
		{429, "-5", false, 0},
		{429, "1.5", false, 0},
		{429, "soon", false, 0},
		{429, "Sun, 01 Mar 2026 12:05:00 GMT", false, 5 * time.Minute},
		{429, "Sunday, 01-Mar-26 12:05:00 GMT", false, 5 * time.Minute},
		{429, "Sun Mar  1 12:05:00 2026", false, 5 * time.Minute},
		{429, "Sun, 01 Mar 2026 11:55:00 GMT", false, 0},
		{429, "Fri, 01 Mar 2126 12:00:00 GMT", false, 24 * time.Hour},
		{500, "60", false, 0},
		{503, "30", false, 30 * time.Second},
		{503, "Sun, 01 Mar 2026 12:00:01 GMT", false, time.Second},
		{599, "", false, 0},
		{999, "", false, 0},
	} {
		url := receive(t, func(w http.ResponseWriter, _ *http.Request) {
			if tc.retryAfter != "" {
				w.Header().Set("Retry-After", tc.retryAfter)
			}
			w.WriteHeader(tc.status)
		})
		m := message(url)
		m.At = now
		out := New(Options{Loopback: true}).Send(t.Context(), m)
		if out.Status != tc.status || out.Delivered != tc.delivered || out.RetryAfter != tc.wait || out.Problem != "" {
			t.Errorf("%d, Retry-After %q: %+v", tc.status, tc.retryAfter, out)
		}
	}
}

// TestR17_BadReceivers would hang until the test run times out if a sender waited for one of
// them.
func TestR17_BadReceivers(t *testing.T) {
	say := func(text string) func(int, *net.TCPConn, *bufio.Reader) {
		return func(_ int, conn *net.TCPConn, requests *bufio.Reader) {
			takeRequest(requests)
			io.WriteString(conn, text)
		}
	}
	endless := func(begin, more string) func(int, *net.TCPConn, *bufio.Reader) {
		return func(_ int, conn *net.TCPConn, requests *bufio.Reader) {
			takeRequest(requests)
			for text := begin; ; text = strings.Repeat(more, 1000) {
				if _, err := io.WriteString(conn, text); err != nil {
					return
				}
			}
		}
	}
	reset := func(text string) func(int, *net.TCPConn, *bufio.Reader) {
		return func(_ int, conn *net.TCPConn, requests *bufio.Reader) {
			takeRequest(requests)
			io.WriteString(conn, text)
			conn.SetLinger(0)
			conn.Close()
		}
	}
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin"
	for _, tc := range []struct {
		name     string
		converse func(int, *net.TCPConn, *bufio.Reader)
		status   int
		problem  string
	}{
		{"says nothing", say(""), 0, silent},
		{"reads nothing", func(int, *net.TCPConn, *bufio.Reader) {}, 0, silent},
		{"stops in the header", say("HTTP/1.1 200 OK\r\nA: "), 0, silent},
		{"stops in the body", say(ok), 200, ""},
		{"stops in a chunk", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\nffff\r\n"), 200, ""},
		{"stops in the body of an error", say("HTTP/1.1 500 No\r\n\r\nbegin"), 500, ""},
		{"resets at once", reset(""), 0, broken},
		{"resets in the header", reset("HTTP/1.1 200 OK\r\nA: "), 0, broken},
		{"endless header", endless("HTTP/1.1 200 OK\r\n", "A: b\r\n"), 0, broken},
		{"endless line", endless("HTTP/1.1 200 OK\r\nA: ", "b"), 0, broken},
		{"endless status", endless("HTTP/1.1 200 ", "O"), 0, broken},
		{"endless 100", endless("", "HTTP/1.1 100 Continue\r\n\r\n"), 0, broken},
		{"endless 103", endless("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), 0, broken},
		{"endless body", endless("HTTP/1.1 200 OK\r\n\r\nbegin", "a"), 200, ""},
		{"endless chunk header", endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n", "0"), 200, ""},
		{"another protocol", say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), 0, broken},
		{"another protocol that is not named", say("HTTP/1.1 101 Switching Protocols\r\n\r\n"), 0, broken},
		{"status 000", say("HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n"), 0, broken},
		{"status 099", say("HTTP/1.1 099 Nothing\r\nContent-Length: 0\r\n\r\n"), 0, broken},
		{"status -20", say("HTTP/1.1 -20 Nothing\r\n\r\n"), 0, broken},
		{"speaks first and SSH", say("SSH-2.0-OpenSSH_9.2\r\n"), 0, broken},
		{"HTTP/0.9", say("<html>"), 0, silent},
		{"two lengths", say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 0, broken},
		{"length below zero", say("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), 0, broken},
		{"NUL in the header", say("HTTP/1.1 200 OK\r\nA: \x00\r\n\r\n"), 0, broken},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out Outcome
			// On a busy machine, even an immediate response can arrive after a short limit, so
			// only the result with a long limit counts.
			for _, limit := range []time.Duration{500 * time.Millisecond, 5 * time.Second, time.Minute} {
				s := New(Options{Loopback: true, Timeout: limit})
				if out = s.Send(t.Context(), message(talk(t, tc.converse))); out.Status == tc.status && out.Problem == tc.problem {
					break
				}
			}
			if out.Status != tc.status || out.Problem != tc.problem || out.Delivered != (tc.status == 200) || out.Took <= 0 {
				t.Errorf("the outcome is %+v", out)
			}
			if tc.status != 0 && !bytes.HasPrefix(out.ResponseBody, []byte("begin")) || tc.status == 0 && (out.ResponseBody != nil || out.ResponseHeader != nil) {
				t.Errorf("%d bytes are kept: %.9q", len(out.ResponseBody), out.ResponseBody)
			}
		})
	}
}

// TestR17_EndlessResponseIsNotRead offers a response of 10 GB.
func TestR17_EndlessResponseIsNotRead(t *testing.T) {
	const size, bound = 10 << 30, 64 << 20 // the system's buffers are smaller than the bound
	for _, secure := range []bool{false, true} {
		written := make(chan int64, 1)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(size))
			chunk, sum := bytes.Repeat([]byte("a"), 1<<16), int64(0)
			for sum < size {
				n, err := w.Write(chunk)
				sum += int64(n)
				if err != nil {
					break
				}
			}
			written <- sum
		}))
		s := New(Options{Loopback: true})
		if secure {
			server.EnableHTTP2 = true
			server.StartTLS()
			s.trust(server)
		} else {
			server.Start()
		}
		out := s.Send(t.Context(), message(server.URL))
		if !out.Delivered || len(out.ResponseBody) != 4096 {
			t.Errorf("secure %v: %d bytes of a %d are kept", secure, len(out.ResponseBody), out.Status)
		}
		if sum := <-written; sum > bound {
			t.Errorf("secure %v: %d bytes were taken", secure, sum)
		}
		server.Close()
	}
}

// trust makes the sender trust the certificate of a test server.
func (s *Sender) trust(server *httptest.Server) {
	s.secure.TLSClientConfig.RootCAs = x509.NewCertPool()
	s.secure.TLSClientConfig.RootCAs.AddCert(server.Certificate())
}

func TestR17_StoppedByTheCaller(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	url := talk(t, func(_ int, _ *net.TCPConn, requests *bufio.Reader) {
		takeRequest(requests)
		stop()
	})
	if out := New(Options{Loopback: true}).Send(ctx, message(url)); out.Problem != stopped || out.Status != 0 {
		t.Errorf("the outcome is %+v", out)
	}
}

// TestR17_SecondConnection has the receiver close a kept connection just when the next message
// is sent on it.
func TestR17_SecondConnection(t *testing.T) {
	ids := make(chan string, 10)
	url := talk(t, func(n int, conn *net.TCPConn, requests *bufio.Reader) {
		ids <- takeRequest(requests)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		if n == 1 {
			ids <- takeRequest(requests)
			conn.Close()
		}
	})
	s := New(Options{Loopback: true})
	for range 2 {
		if out := s.Send(t.Context(), message(url)); !out.Delivered {
			t.Errorf("the outcome is %+v", out)
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d messages came, want 3", len(ids))
	}
	for range len(ids) {
		if id := <-ids; id != "evt_1" {
			t.Errorf("webhook-id is %q", id)
		}
	}
}

func TestConnectionsAreKept(t *testing.T) {
	for _, size := range []int{0, 4096} {
		var opened atomic.Int64
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write(bytes.Repeat([]byte("a"), size))
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		server.Start()
		s := New(Options{Loopback: true})
		for range 20 {
			if out := s.Send(t.Context(), message(server.URL)); !out.Delivered || len(out.ResponseBody) != size {
				t.Fatalf("the outcome is %+v", out)
			}
		}
		if n := opened.Load(); n != 1 {
			t.Errorf("%d connections for 20 messages with answers of %d bytes", n, size)
		}
		opened.Store(0)
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if out := s.Send(t.Context(), message(server.URL)); !out.Delivered {
					t.Errorf("the outcome is %+v", out)
				}
			})
		}
		all.Wait()
		if n := opened.Load(); n > perReceiver {
			t.Errorf("%d connections at once", n)
		}
		server.Close()
	}
}

func TestTLS(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(*httptest.Server)
		trusted bool
		host    string // instead of the server's host
		version int    // HTTP version
		problem string
	}{
		{"HTTP/2", func(s *httptest.Server) { s.EnableHTTP2 = true }, true, "", 2, ""},
		{"HTTP/1.1", func(*httptest.Server) {}, true, "", 1, ""},
		{"TLS 1.2", func(s *httptest.Server) { s.TLS = &tls.Config{MaxVersion: tls.VersionTLS12} }, true, "", 1, ""},
		{"TLS 1.1", func(s *httptest.Server) {
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		}, true, "", 0, insecure},
		{"a certificate of nobody", func(*httptest.Server) {}, false, "", 0, insecure},
		{"a certificate of another name", func(*httptest.Server) {}, true, "127.0.0.2", 0, insecure},
	} {
		t.Run(tc.name, func(t *testing.T) {
			version := 0
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { version = r.ProtoMajor }))
			server.Listener.Close()
			var err error
			if server.Listener, err = net.Listen("tcp", cmp.Or(tc.host, "127.0.0.1")+":0"); err != nil {
				t.Fatal(err)
			}
			tc.change(server)
			server.Config.ErrorLog = quiet()
			server.StartTLS()
			defer server.Close()
			s := New(Options{Loopback: true})
			if tc.trusted {
				s.trust(server)
			}
			out := s.Send(t.Context(), message(server.URL))
			if out.Problem != tc.problem || out.Delivered != (tc.problem == "") || version != tc.version {
				t.Errorf("HTTP/%d: %+v", version, out)
			}
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		url := receive(t, func(http.ResponseWriter, *http.Request) { t.Error("a request came") })
		if out := New(Options{Loopback: true}).Send(t.Context(), message(strings.Replace(url, "http:", "https:", 1))); out.Problem != insecure {
			t.Errorf("the outcome is %+v", out)
		}
	})
}

func TestHeaderThatCannotBeSent(t *testing.T) {
	url := receive(t, func(http.ResponseWriter, *http.Request) { t.Error("a request came") })
	for _, id := range []string{"a\r\nX: b", "a\x00", "a\n"} {
		m := message(url)
		m.ID = id
		if out := New(Options{Loopback: true}).Send(t.Context(), m); out.Problem != unreachable || out.Delivered {
			t.Errorf("%q: %+v", id, out)
		}
	}
}

func TestResponseIsBounded(t *testing.T) {
	url := receive(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/lines":
			for i := range 200 {
				w.Header().Set(fmt.Sprintf("A-%03d", i), "b")
			}
		case "/bytes":
			for i := range 20 {
				w.Header().Set(fmt.Sprintf("A-%03d", i), strings.Repeat("b", 1000))
			}
		case "/same":
			for range 200 {
				w.Header().Add("A", "b")
			}
		case "/latin":
			w.Header().Set("A", "Gr\xfc\xdfe")
		}
	})
	for path, want := range map[string]int{"/lines": 50, "/bytes": 8, "/same": 50} {
		out := New(Options{Loopback: true}).Send(t.Context(), message(url+path))
		lines, size := 0, 0
		for name, values := range maps.All(out.ResponseHeader) {
			for _, value := range values {
				lines++
				size += len(name) + len(value)
			}
		}
		if !out.Delivered || lines != want || size > 8192 {
			t.Errorf("%s: %d lines of %d bytes", path, lines, size)
		}
	}
	if out := New(Options{Loopback: true}).Send(t.Context(), message(url+"/latin")); out.ResponseHeader.Get("A") != "Gr\uFFFDe" {
		t.Errorf("the header is %q", out.ResponseHeader)
	}
}

func TestResponseIsReadable(t *testing.T) {
	gzip := "\x1f\x8b\x08\x00"
	for name, tc := range map[string]struct{ sent, kept string }{
		"nothing":                  {"", ""},
		"text":                     {"Grüße", "Grüße"},
		"NUL":                      {"a\x00b", "a\uFFFDb"},
		"no UTF-8":                 {"a\xff\xfeb", "a\uFFFDb"},
		"cut":                      {strings.Repeat("a", 5000), strings.Repeat("a", 4096)},
		"cut in a letter":          {strings.Repeat("a", 4095) + "ü", strings.Repeat("a", 4095)},
		"cut after growing":        {strings.Repeat("a\xff", 2048), strings.Repeat("a\uFFFD", 1024)},
		"cut after growing by NUL": {strings.Repeat("\x00", 4096), strings.Repeat("\uFFFD", 1365)},
		"compressed":               {gzip, "\x1f\uFFFD\b\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			url := receive(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "" {
					t.Error("a compressed answer is asked for")
				}
				if tc.sent == gzip {
					w.Header().Set("Content-Encoding", "gzip")
				}
				io.WriteString(w, tc.sent)
			})
			out := New(Options{Loopback: true}).Send(t.Context(), message(url))
			if string(out.ResponseBody) != tc.kept || !utf8.Valid(out.ResponseBody) {
				t.Errorf("%d bytes are kept: %.40q", len(out.ResponseBody), out.ResponseBody)
			}
		})
	}
}
