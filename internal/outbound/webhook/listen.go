package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// Listener forwards the events of a school on another server to a program on this machine, as a
// webhook would, without a URL that the server can reach.
type Listener struct {
	Server string // URL of the server, such as http://127.0.0.1:8080
	APIKey string
	Types  []string // names of events; empty: all
	To     string   // URL to send to; empty: events are only shown
	Secret []byte
	Sender *Sender
	Show   func(Heard) // called with each event
	Retry  func(error) // called when a request to the server fails and will be retried
	// Back is called with the school's last entry when the school was restored to an earlier
	// state: the numbers after it are reused by the entries that come next.
	Back func(last int64)

	client *http.Client
}

// Heard is an event and the receiver's response.
type Heard struct {
	At      time.Time
	Type    string
	ID      int32
	Resent  bool
	Sent    bool
	Outcome Outcome
}

// listening is the part of a server's response that a listener reads.
type listening struct {
	Events []struct {
		Number int64           `json:"number"`
		At     time.Time       `json:"at"`
		Resent bool            `json:"resent"`
		Type   string          `json:"type"`
		Body   json.RawMessage `json:"body"`
	} `json:"events"`
	Changes []struct {
		At time.Time `json:"at"`
	} `json:"changes"`
	Next  *int64 `json:"next"`
	Last  int64  `json:"last"`
	Clock *struct {
		Now time.Time `json:"now"`
	} `json:"clock"`
}

const (
	listenWait  = 25 // seconds that the server is asked to wait
	listenPause = 2 * time.Second
	maxResponse = 64 << 20
)

// Run forwards the events after an entry until ctx ends. It returns only errors that a retry
// cannot fix.
func (l *Listener) Run(ctx context.Context, after int64) error {
	for {
		q := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {"100"}, "wait": {strconv.Itoa(listenWait)}}
		if len(l.Types) > 0 {
			q.Set("types", strings.Join(l.Types, ","))
		}
		response, err := l.patiently(ctx, "/lyceum/v1/events", q)
		if err != nil && lyceum.Public(err).Code == events.UnknownNumber {
			if after, err = l.Now(ctx); err == nil && ctx.Err() == nil {
				l.Back(after)
				continue
			}
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
		for _, e := range response.Events {
			heard := Heard{At: e.At, Type: e.Type, Resent: e.Resent}
			var envelope struct {
				ID          int32 `json:"id"`
				HookEventID int64 `json:"hook_event_id"`
			}
			if err := json.Unmarshal(e.Body, &envelope); err != nil {
				return fmt.Errorf("read event %d: %w", e.Number, err)
			}
			heard.ID = envelope.ID
			if l.To != "" {
				heard.Sent = true
				heard.Outcome = l.Sender.Send(ctx, Message{
					URL: l.To, ID: "evt_listen_" + strconv.FormatInt(envelope.HookEventID, 10), At: time.Now(), Body: e.Body,
					Secrets: [][]byte{l.Secret},
				})
			}
			if ctx.Err() != nil {
				return nil //nolint:nilerr // stopping is not an error
			}
			l.Show(heard)
		}
		after = *response.Next
	}
}

// Now returns the number of the school's last entry.
func (l *Listener) Now(ctx context.Context) (int64, error) {
	response, err := l.patiently(ctx, "/lyceum/v1/changes", url.Values{"limit": {"1"}})
	return response.Last, err
}

// Since returns the number of the last entry before the given time. Entries are sorted by time,
// so that a few requests find it.
func (l *Listener) Since(ctx context.Context, at time.Time) (int64, error) {
	last, err := l.Now(ctx)
	n := sort.Search(int(last), func(n int) bool {
		if err != nil || ctx.Err() != nil {
			return true
		}
		var response listening
		response, err = l.patiently(ctx, "/lyceum/v1/changes", url.Values{"limit": {"1"}, "after": {strconv.Itoa(n)}})
		return len(response.Changes) == 0 || !response.Changes[0].At.Before(at)
	})
	return int64(n), err
}

// Clock returns the time of a sandbox's clock. Other servers have no such clock.
func (l *Listener) Clock(ctx context.Context) (now time.Time, there bool, err error) {
	response, err := l.patiently(ctx, "/lyceum/v1/clock", nil)
	switch {
	case err != nil && lyceum.KindOf(err) != lyceum.NotFound:
		return now, false, err
	case response.Clock == nil:
		return now, false, nil
	}
	return response.Clock.Now, true, nil
}

// patiently retries requests while the server is unreachable or overloaded.
func (l *Listener) patiently(ctx context.Context, path string, q url.Values) (listening, error) {
	for {
		response, err := l.get(ctx, path, q)
		if err == nil || ctx.Err() != nil {
			return response, nil //nolint:nilerr // stopping is not an error
		}
		if lyceum.KindOf(err) != lyceum.Unavailable {
			return response, err
		}
		l.Retry(err)
		select {
		case <-time.After(listenPause):
		case <-ctx.Done():
		}
	}
}

func (l *Listener) get(ctx context.Context, path string, q url.Values) (listening, error) {
	if l.client == nil {
		l.client = &http.Client{Timeout: (listenWait + 20) * time.Second, CheckRedirect: stay}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(l.Server, "/")+path+"?"+q.Encode(), nil)
	if err != nil {
		return listening{}, lyceum.Invalidf("the server's URL is invalid; it must be like http://127.0.0.1:8080")
	}
	r.Header.Set("apiKey", l.APIKey)
	response, err := l.client.Do(r)
	if err != nil {
		return listening{}, unreached(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return listening{}, &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the server's answer ended early", Err: err}
	}
	switch {
	case response.StatusCode == http.StatusOK:
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return listening{}, redirected(response)
	case response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests:
		return listening{}, lyceum.Errorf(lyceum.Unavailable, "the server answered %s", response.Status)
	default:
		var refusal struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}
		_ = json.Unmarshal(text, &refusal) // a server other than Lyceum's says something else
		kind := lyceum.Invalid
		if response.StatusCode == http.StatusNotFound {
			kind = lyceum.NotFound
		}
		return listening{}, &lyceum.Error{
			Kind: kind, Code: refusal.Code,
			Detail: "the server refused: " + strings.TrimSpace(response.Status+" "+refusal.Message),
		}
	}
	var read listening
	if err := json.Unmarshal(text, &read); err != nil || read.Next == nil && read.Clock == nil {
		return listening{}, lyceum.Invalidf("the answer of %s%s is not from Lyceum; set --server to the address of a "+
			"Lyceum server", strings.TrimRight(l.Server, "/"), path)
	}
	return read, nil
}

// stay follows no redirects, because the API key would be sent to their target.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// redirected returns an error that names the target of a redirect, without parts of the URL
// that may be secret.
func redirected(response *http.Response) error {
	to, err := response.Location()
	if err != nil {
		return lyceum.Errorf(lyceum.Invalid, "the server redirects (%s) without a location; set --server to its own "+
			"URL", response.Status)
	}
	shown := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}
	return lyceum.Errorf(lyceum.Invalid, "the server redirects to %s, and the API key is not sent there; if that is "+
		"your school, set --server to it", shown.String())
}

// unreached distinguishes servers that may come back from errors that are permanent.
func unreached(err error) *lyceum.Error {
	e := &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the server cannot be reached", Err: errors.Unwrap(err)}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case untrusted:
		e.Kind, e.Detail = lyceum.Invalid, "the server's certificate is not one that this machine trusts for its address; "+
			"correct the address, or let the machine trust the certificate"
	case noTLS || errors.Is(err, http.ErrSchemeMismatch):
		e.Kind, e.Detail = lyceum.Invalid, "the server does not speak https; use http://"
	}
	return e
}
