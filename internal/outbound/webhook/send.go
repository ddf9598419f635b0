package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long one message may take in total: resolving the receiver, sending, and
// reading the response.
const patience = 15 * time.Second

// Limits of the connections that are kept open. One receiver that responds after 50 ms can
// receive 2,500 messages a second over perReceiver of them.
const (
	perReceiver = 128
	idleInAll   = 1024 // idle connections to all receivers
	idle        = time.Minute
)

// maxHeader is the maximum size of response headers in bytes. Longer ones are treated as no
// response.
const maxHeader = 64 << 10

// The problems reported if there was no response. None of them contains any part of the URL.
const (
	unreachable = "The receiver could not be reached."
	insecure    = "The receiver could not be reached securely: it must speak TLS 1.2 or newer and show a valid " +
		"certificate for its name."
	silent  = "The receiver did not answer in time."
	broken  = "The receiver accepted the connection but did not answer in HTTP."
	stopped = "Sending was interrupted before the receiver answered."
)

// Options are the options of a Sender. The zero value is right for production.
type Options struct {
	Allow    []netip.Prefix // internal networks that receivers may be in, also with http
	Loopback bool           // the own machine (127.0.0.0/8 and ::1) is allowed, also with http; for the sandbox
	Timeout  time.Duration  // per message in total; 0: 15 s
	Resolver *net.Resolver  // nil: the system's
}

// Sender sends messages. It is safe for concurrent use, and uses up to 128 connections per
// receiver.
type Sender struct {
	guard     guard
	allowList bool
	loopback  bool
	timeout   time.Duration
	secure    *http.Transport
	plain     *http.Transport
}

// New returns a Sender.
func New(o Options) *Sender {
	s := &Sender{guard: newGuard(o), allowList: len(o.Allow) > 0, loopback: o.Loopback, timeout: o.Timeout}
	if s.timeout <= 0 {
		s.timeout = patience
	}
	s.secure = s.transport(o.Resolver, s.guard.dialSecure)
	s.plain = s.transport(o.Resolver, s.guard.dialPlain)
	return s
}

// transport returns a transport without a proxy, because the guard would check the proxy's
// address instead of the receiver's. Unlike an http.Client, it does not follow redirects.
func (s *Sender) transport(
	resolver *net.Resolver, control func(string, string, syscall.RawConn) error,
) *http.Transport {
	dialer := &net.Dialer{Timeout: s.timeout, Resolver: resolver, Control: control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    s.timeout,
		DisableCompression:     true,
		MaxIdleConns:           idleInAll,
		MaxIdleConnsPerHost:    perReceiver,
		MaxConnsPerHost:        perReceiver,
		IdleConnTimeout:        idle,
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		// Without pings, a connection whose other end is gone would continue to be used.
		HTTP2: &http.HTTP2Config{SendPingTimeout: s.timeout, PingTimeout: s.timeout},
	}
}

// Message is one message to one receiver.
type Message struct {
	URL     string
	ID      string    // webhook-id; the same for each attempt
	At      time.Time // webhook-timestamp; of this attempt
	Body    []byte    // JSON
	Secrets [][]byte  // signing keys; one signature is made with each
}

// Outcome is the result of sending a message.
type Outcome struct {
	Delivered      bool          // the response was a 2xx
	Refused        bool          // the target is forbidden; to the owner it looks like an unreachable receiver
	Status         int           // of the response; 0 if there was none
	Problem        string        // one sentence if there was no response; contains no part of the URL
	RetryAfter     time.Duration // as requested by a 429 or 503, up to 24 h
	Took           time.Duration
	RequestHeader  http.Header // without Host and Content-Length
	ResponseHeader http.Header // up to 50 lines and 8 KiB
	ResponseBody   []byte      // up to 4 KiB; invalid UTF-8 and NUL are replaced by U+FFFD
}

// Send sends a message once. It blocks until there is a response, up to the timeout. Any
// response other than a 2xx is a failure, including redirects. The message may arrive twice: if
// it was sent over a connection that the receiver was closing, it is sent again over another
// one, once.
func (s *Sender) Send(ctx context.Context, m Message) Outcome {
	begin := time.Now()
	out := Outcome{RequestHeader: header(m), Problem: unreachable}
	if s.wrong(m.URL) == "" {
		s.try(ctx, m, &out)
	} else {
		out.Refused = true
	}
	out.Took = time.Since(begin)
	return out
}

func header(m Message) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "Lyceum-Webhooks/1")
	h.Set("Webhook-Id", m.ID)
	h.Set("Webhook-Timestamp", strconv.FormatInt(m.At.Unix(), 10))
	h.Set("Webhook-Signature", Sign(m.ID, m.At, m.Body, m.Secrets...))
	return h
}

// try relies only on the guard to stay out of internal networks.
func (s *Sender) try(ctx context.Context, m Message, out *Outcome) {
	patient, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var connected atomic.Bool
	patient = httptrace.WithClientTrace(patient, &httptrace.ClientTrace{
		GetConn: func(string) { connected.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	request, err := http.NewRequestWithContext(patient, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		out.Problem = unreachable
		return
	}
	request.Header = out.RequestHeader.Clone()
	// An empty value tells net/http that the message may be sent twice. The header itself is
	// not sent: receivers use webhook-id.
	request.Header["Idempotency-Key"] = nil
	transport := s.secure
	if request.URL.Scheme == "http" {
		transport = s.plain
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		out.Problem = problem(ctx, err, connected.Load())
		_, out.Refused = errors.AsType[*targetError](err)
		return
	}
	defer func() { _ = response.Body.Close() }() // the rest of the body is not needed
	out.read(response, m.At)
}

// problem returns why there was no response. All failures before there was a connection have
// the same problem.
func problem(ctx context.Context, err error, connected bool) string {
	if ctx.Err() != nil {
		return stopped
	}
	if _, refused := errors.AsType[*tls.CertificateVerificationError](err); refused {
		return insecure
	}
	if _, refused := errors.AsType[tls.RecordHeaderError](err); refused {
		return insecure
	}
	step, _ := errors.AsType[*net.OpError](err)
	switch {
	case step != nil && step.Op == "remote error": // a TLS alert
		return insecure
	case !connected, step != nil && step.Op == "dial":
		return unreachable
	case errors.Is(err, context.DeadlineExceeded):
		return silent
	}
	return broken
}
