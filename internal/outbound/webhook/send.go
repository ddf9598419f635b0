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

// patience is how long one message may take in all: finding the receiver,
// sending, and reading the answer.
const patience = 15 * time.Second

// Bounds of the connections that are kept. One receiver that answers after
// 50 ms takes 2,500 messages a second over perReceiver of them.
const (
	perReceiver = 128
	idleInAll   = 1024 // idle, to all receivers
	idle        = time.Minute
)

// maxHeader bounds the header of an answer in bytes. A longer one is no answer.
const maxHeader = 64 << 10

// What is told when there was no answer. None holds anything of the URL.
const (
	unreachable = "The receiver could not be reached."
	insecure    = "The receiver could not be reached securely: it must speak TLS 1.2 or newer and show a valid " +
		"certificate for its name."
	silent  = "The receiver did not answer in time."
	broken  = "The receiver accepted the connection but did not answer in HTTP."
	stopped = "Sending was interrupted before the receiver answered."
)

// Options are the choices of a sender. The zero value is right for real use.
type Options struct {
	Allow    []netip.Prefix // networks inside that receivers may be in, by http too
	Loopback bool           // the own machine (127.0.0.0/8 and ::1) is allowed, by http too; for the sandbox
	Timeout  time.Duration  // of one message in all; 0 is 15 s
	Resolver *net.Resolver  // nil is the system's
}

// Sender sends messages. It is safe for concurrent use, and keeps up to 128
// connections to one receiver.
type Sender struct {
	guard     guard
	allowList bool
	loopback  bool
	timeout   time.Duration
	secure    *http.Transport
	plain     *http.Transport
}

// New makes a sender.
func New(o Options) *Sender {
	s := &Sender{guard: newGuard(o), allowList: len(o.Allow) > 0, loopback: o.Loopback, timeout: o.Timeout}
	if s.timeout <= 0 {
		s.timeout = patience
	}
	s.secure = s.transport(o.Resolver, s.guard.dialSecure)
	s.plain = s.transport(o.Resolver, s.guard.dialPlain)
	return s
}

// transport has no proxy: the guard would judge the proxy's address, and not
// the receiver's. Nor does it follow redirects, which an http.Client would.
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
		// Without pings a connection whose other end is gone would be used on.
		HTTP2: &http.HTTP2Config{SendPingTimeout: s.timeout, PingTimeout: s.timeout},
	}
}

// Message is one message to one receiver.
type Message struct {
	URL     string
	ID      string    // webhook-id; the same for each try
	At      time.Time // webhook-timestamp; of this try
	Body    []byte    // JSON
	Secrets [][]byte  // keys; each makes one signature
}

// Outcome is what became of a message.
type Outcome struct {
	Delivered      bool          // the answer was a 2xx
	Refused        bool          // nothing may be sent there; to the owner it looks like any that cannot be reached
	Status         int           // of the answer; 0 if there was none
	Problem        string        // one sentence if there was no answer, and never anything of the URL
	RetryAfter     time.Duration // what a 429 or 503 asked for, up to 24 h
	Took           time.Duration
	RequestHeader  http.Header // without Host and Content-Length
	ResponseHeader http.Header // up to 50 lines and 8 KiB
	ResponseBody   []byte      // its beginning, up to 4 KiB; what is not UTF-8, and NUL, is U+FFFD
}

// Send sends a message once. It blocks until there is an answer, up to the
// timeout. Any answer but a 2xx is a failure, a redirect too. The message may
// arrive twice: one that was sent over a connection which the receiver was
// closing goes over another, once.
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

// try relies on the guard alone to stay out of the networks inside.
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
	// To net/http an empty one says that the message may be sent twice. It is
	// not sent: webhook-id tells the receiver.
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
	defer func() { _ = response.Body.Close() }() // what is left of it is not wanted
	out.read(response, m.At)
}

// problem tells why there was no answer. Whatever went wrong before there was a
// connection is the same.
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
