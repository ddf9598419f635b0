package mirror

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// maxResponse is the maximum size of a response, in bytes.
	maxResponse = 32 << 20
	// attempts is how often a request is sent that fails for a temporary reason.
	attempts = 6
	// mostWait is the longest Retry-After or rate limit reset that is honored.
	mostWait = time.Hour
)

// client calls the other server. It waits when its rate limit is exhausted, and retries
// temporary failures.
type client struct {
	base  string
	key   string
	http  *http.Client
	sleep func(context.Context, time.Duration) error

	mu    sync.Mutex
	until time.Time // no requests before
	now   func() time.Time
}

// newClient returns a client for a server's address, to which the paths of the contract
// are appended.
func newClient(
	base, key string, now func() time.Time, sleep func(context.Context, time.Duration) error,
) (*client, error) {
	address, err := url.Parse(base)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" ||
		address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return nil, lyceum.Invalidf("--from must be an address such as https://school.example.com, without " +
			"user, query and fragment")
	}
	return &client{
		base: strings.TrimRight(base, "/"), key: key, sleep: sleep, now: now,
		http: &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}, nil
}

// errNotThere is a 404 response.
var errNotThere = errors.New("404 Not Found")

// get requests a path and decodes the response into a value.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	pause := time.Second
	for attempt := 1; ; attempt++ {
		if err := c.wait(ctx); err != nil {
			return err
		}
		retry, err := c.once(ctx, path, into)
		if err == nil || !retry || attempt == attempts {
			return err
		}
		if err := c.sleep(ctx, pause); err != nil {
			return err
		}
		pause *= 2
	}
}

// wait waits for the rate limit.
func (c *client) wait(ctx context.Context) error {
	c.mu.Lock()
	left := c.until.Sub(c.now())
	c.mu.Unlock()
	if left <= 0 {
		return ctx.Err()
	}
	return c.sleep(ctx, left)
}

// once sends one request, and reports whether it should be retried.
func (c *client) once(ctx context.Context, path string, into any) (retry bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return false, lyceum.Invalidf("the address %s%s cannot be requested", c.base, path)
	}
	request.Header.Set("apiKey", c.key)
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if untrusted, is := errors.AsType[*tls.CertificateVerificationError](err); is {
			return false, &lyceum.Error{
				Kind: lyceum.Invalid, Detail: c.base + " has a certificate that is not trusted here", Err: untrusted,
			}
		}
		return true, &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: c.base + " does not answer; repeat the command to resume",
			Err: err,
		}
	}
	defer response.Body.Close() // only read, so an error does not matter
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil {
		return true, &lyceum.Error{
			Kind: lyceum.Unavailable, Err: err,
			Detail: "the response from " + c.base + path + " ended early; repeat the command to resume",
		}
	}
	if len(body) > maxResponse {
		return false, lyceum.Errorf(lyceum.Unavailable, "the response from %s%s is larger than %d bytes", c.base, path,
			maxResponse)
	}
	if wait := c.heed(response); wait > mostWait {
		return false, lyceum.Errorf(lyceum.Unavailable, "%s answers %s with %d and asks to wait for %s; repeat the command "+
			"then to resume", c.base, path, response.StatusCode, wait.Round(time.Second))
	}
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		if err := json.Unmarshal(body, into); err != nil {
			return false, &lyceum.Error{
				Kind: lyceum.Invalid, Detail: "the response from " + c.base + path + " is not version 1's", Err: err,
			}
		}
		if name := missing(body, reflect.TypeOf(into).Elem()); name != "" {
			return false, lyceum.Invalidf("the response from %s%s is not version 1's: it has no %s", c.base, path, name)
		}
		return false, nil
	case code == http.StatusNotFound:
		return false, &lyceum.Error{
			Kind: lyceum.NotFound,
			Detail: c.base + " has nothing at " + path + "; --from must be the address before the paths of version 1, such as " +
				"https://school.example.com",
			Err: errNotThere,
		}
	case code == http.StatusUnauthorized:
		return false, lyceum.Invalidf("%s does not accept the API key; put a valid one into the file", c.base)
	case code == http.StatusForbidden:
		return false, lyceum.Errorf(lyceum.Forbidden, "%s does not allow this API key to request %s", c.base, path)
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500:
		return true, lyceum.Errorf(lyceum.Unavailable, "%s answers %s with %d; repeat the command to resume",
			c.base, path, code)
	case code >= 300 && code < 400:
		return false, c.redirected(response)
	default:
		return false, lyceum.Invalidf("%s answers %s with %d", c.base, path, code)
	}
}

// missing returns the name of a member that a response of the type must have and lacks: a list or
// an object that would otherwise look empty, or the number of pages. It returns "" if there is none.
func missing(response []byte, of reflect.Type) string {
	var has map[string]json.RawMessage
	_ = json.Unmarshal(response, &has) // anything but an object has no members
	for i := range of.NumField() {
		field := of.Field(i)
		name := field.Tag.Get("json")
		if kind := field.Type.Kind(); kind != reflect.Slice && kind != reflect.Struct {
			continue
		}
		if len(has[name]) == 0 || string(has[name]) == "null" {
			return name
		}
		var meta struct {
			V1 *int32 `json:"number_of_pages"`
			V2 *int32 `json:"total_pages"`
		}
		if name == "meta" && (json.Unmarshal(has[name], &meta) != nil || meta.V1 == nil && meta.V2 == nil) {
			return "number of pages in its meta"
		}
	}
	return ""
}

// redirected rejects a redirect, which would send the API key to its target. The error
// names the target without any secrets in it.
func (c *client) redirected(response *http.Response) error {
	to, err := response.Location()
	if err != nil {
		return lyceum.Invalidf("%s redirects (%s) without a location; set --from to the other server's own URL",
			c.base, response.Status)
	}
	shown := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}
	return lyceum.Invalidf("%s redirects to %s, and the API key is not sent there; if that is the school, set "+
		"--from to it", c.base, shown.String())
}

// heed returns how long a response asks to wait. Unless that is longer than mostWait, it delays
// the next request accordingly.
func (c *client) heed(response *http.Response) (wait time.Duration) {
	refused := response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable
	if refused {
		wait = c.retryAfter(response.Header)
	}
	// RateLimit-Reset is the number of seconds until the next minute. On some servers it is a
	// time instead.
	reset, err := strconv.Atoi(response.Header.Get("RateLimit-Reset"))
	usedUp := response.StatusCode == http.StatusTooManyRequests || response.Header.Get("RateLimit-Remaining") == "0"
	if wait <= 0 && usedUp && err == nil && reset >= 0 && reset <= int(mostWait.Seconds()) {
		wait = time.Duration(reset) * time.Second
	} else if wait <= 0 {
		return 0
	}
	if wait <= mostWait {
		c.mu.Lock()
		defer c.mu.Unlock()
		if until := c.now().Add(wait + 100*time.Millisecond); until.After(c.until) {
			c.until = until
		}
	}
	return wait
}

// retryAfter parses a Retry-After header: seconds, or a time by the other server's clock.
// It returns 0 for anything else.
func (c *client) retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = c.now()
	}
	return at.Sub(now)
}

// together calls do for 0 to n-1, a limited number at a time, and returns the first error.
func together(ctx context.Context, n, atOnce int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	places := make(chan int)
	var workers sync.WaitGroup
	for range min(atOnce, n) {
		workers.Go(func() {
			for i := range places {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case places <- i:
		case <-ctx.Done():
		}
	}
	close(places)
	workers.Wait()
	return context.Cause(ctx)
}
