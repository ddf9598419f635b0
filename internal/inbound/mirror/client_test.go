package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
)

// patient is a clock that sleeping advances.
type patient struct {
	at    time.Time
	slept []time.Duration
}

func (p *patient) now() time.Time { return p.at }

func (p *patient) sleep(ctx context.Context, d time.Duration) error {
	p.at = p.at.Add(d)
	p.slept = append(p.slept, d)
	return ctx.Err()
}

// serve returns a client of a server that sends the responses one after the other, and then
// repeats the last.
func serve(t *testing.T, each ...func(http.ResponseWriter)) (*client, *patient, *atomic.Int32) {
	t.Helper()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1))
		if r.Header.Get("apiKey") != "key" {
			t.Errorf("the key is %q", r.Header.Get("apiKey"))
		}
		each[min(n, len(each))-1](w)
	}))
	t.Cleanup(server.Close)
	p := &patient{at: time.Unix(1_700_000_000, 0)}
	c, err := newClient(server.URL+"/", "key", p.now, p.sleep)
	if err != nil {
		t.Fatal(err)
	}
	return c, p, &requests
}

func fine(w http.ResponseWriter) { _, _ = fmt.Fprint(w, `{"a":7}`) }

func with(status int, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		if status == http.StatusOK {
			fine(w)
		}
	}
}

func broken(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "100")
	_, _ = fmt.Fprint(w, "{")
}

func large(w http.ResponseWriter) { _, _ = w.Write(make([]byte, maxResponse+1)) }

func TestClientWaitsAndRetries(t *testing.T) {
	const extra = 100 * time.Millisecond
	s := time.Second
	for name, tc := range map[string]struct {
		responses []func(http.ResponseWriter)
		slept     []time.Duration
		kind      lyceum.Kind // of the error
		fails     bool
		requests  int32 // for two calls, or for one that fails
	}{
		"nothing to wait for":                  {[]func(http.ResponseWriter){fine}, nil, 0, false, 2},
		"the last of a minute":                 {[]func(http.ResponseWriter){with(200, "RateLimit-Remaining", "0", "RateLimit-Reset", "17"), fine}, []time.Duration{17*s + extra}, 0, false, 2},
		"too many, told by RateLimit":          {[]func(http.ResponseWriter){with(429, "RateLimit-Reset", "47"), fine}, []time.Duration{s, 46*s + extra}, 0, false, 3},
		"too many, told by Retry-After":        {[]func(http.ResponseWriter){with(429, "Retry-After", "3"), fine}, []time.Duration{s, 2*s + extra}, 0, false, 3},
		"too many, until a time":               {[]func(http.ResponseWriter){with(429, "Date", "Tue, 14 Nov 2023 20:00:00 GMT", "Retry-After", "Tue, 14 Nov 2023 20:00:09 GMT"), fine}, []time.Duration{s, 8*s + extra}, 0, false, 3},
		"too many, and a reset that is a time": {[]func(http.ResponseWriter){with(429, "RateLimit-Reset", "1795000000", "Retry-After", "3"), fine}, []time.Duration{s, 2*s + extra}, 0, false, 3},
		"too many, told in no way known":       {[]func(http.ResponseWriter){with(429, "Retry-After", "soon"), fine}, []time.Duration{s}, 0, false, 3},
		"too many, until a time that is over":  {[]func(http.ResponseWriter){with(429, "Retry-After", "Tue, 14 Nov 2006 20:00:09 GMT"), fine}, []time.Duration{s}, 0, false, 3},
		"too many, for a day":                  {[]func(http.ResponseWriter){with(429, "Retry-After", "86400")}, nil, lyceum.Unavailable, true, 1},
		"busy for a while":                     {[]func(http.ResponseWriter){with(503, "Retry-After", "40"), fine}, []time.Duration{s, 39*s + extra}, 0, false, 3},
		"too many, not told how long":          {[]func(http.ResponseWriter){with(429), with(429), fine}, []time.Duration{s, 2 * s}, 0, false, 4},
		"a reset that is no number is ignored": {[]func(http.ResponseWriter){with(200, "RateLimit-Remaining", "0", "RateLimit-Reset", "soon"), fine}, nil, 0, false, 2},
		"a failure that passes":                {[]func(http.ResponseWriter){with(502), with(503), fine}, []time.Duration{s, 2 * s}, 0, false, 4},
		"a question that was too slow":         {[]func(http.ResponseWriter){with(408), fine}, []time.Duration{s}, 0, false, 3},
		"an answer that is too large":          {[]func(http.ResponseWriter){large}, nil, lyceum.Unavailable, true, 1},
		"an answer that breaks off":            {[]func(http.ResponseWriter){broken, fine}, []time.Duration{s}, 0, false, 3},
		"a failure that stays":                 {[]func(http.ResponseWriter){with(500)}, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s}, lyceum.Unavailable, true, 6},
		"a key that is not known":              {[]func(http.ResponseWriter){with(401)}, nil, lyceum.Invalid, true, 1},
		"a question that is not allowed":       {[]func(http.ResponseWriter){with(403)}, nil, lyceum.Forbidden, true, 1},
		"a question that is not taken":         {[]func(http.ResponseWriter){with(400)}, nil, lyceum.Invalid, true, 1},
		"no JSON":                              {[]func(http.ResponseWriter){func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, "<html>") }}, nil, lyceum.Invalid, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c, p, requests := serve(t, tc.responses...)
			var into struct{ A int }
			err := c.get(t.Context(), "/v1/a", nil, &into)
			if !tc.fails && err == nil {
				err = c.get(t.Context(), "/v1/b", nil, &into)
			}
			if tc.fails != (err != nil) || err != nil && lyceum.KindOf(err) != tc.kind || err == nil && into.A != 7 {
				t.Errorf("%v, %+v", err, into)
			}
			if fmt.Sprint(p.slept) != fmt.Sprint(tc.slept) || requests.Load() != tc.requests {
				t.Errorf("slept %v, want %v; asked %d times, want %d", p.slept, tc.slept, requests.Load(), tc.requests)
			}
		})
	}
	c, _, _ := serve(t, with(404))
	if err := c.get(t.Context(), "/v1/a", nil, nil); !errors.Is(err, errNotThere) {
		t.Errorf("a 404: %v", err)
	}
}

// TestR44_MirrorKeepsItsKeyFromRedirects checks that the target of a redirect receives neither
// the key nor a request, and that the error names the target.
func TestR44_MirrorKeepsItsKeyFromRedirects(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a request came to where the redirect leads, with the key %q", r.Header.Get("apiKey"))
	}))
	defer stranger.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c, _, requests := serve(t, with(status, "Location", stranger.URL+"/else?token=canary"))
		err := c.get(t.Context(), "/v1/a", nil, nil)
		want := "redirects to " + stranger.URL + "/else, and the API key is not sent there"
		if detail := lyceum.Public(err).Detail; lyceum.KindOf(err) != lyceum.Invalid || !strings.Contains(detail, want) || requests.Load() != 1 {
			t.Errorf("%d: %v, asked %d times", status, err, requests.Load())
		}
	}
	c, _, _ := serve(t, with(http.StatusFound))
	if err := c.get(t.Context(), "/v1/a", nil, nil); !strings.Contains(lyceum.Public(err).Detail, "redirects (302 Found) without a location") {
		t.Error(err)
	}
}

func TestTogether(t *testing.T) {
	var sum atomic.Int64
	if err := together(t.Context(), 1000, 7, func(_ context.Context, i int) error { sum.Add(int64(i)); return nil }); err != nil || sum.Load() != 499_500 {
		t.Errorf("%d, %v", sum.Load(), err)
	}
	if err := together(t.Context(), 0, 7, nil); err != nil {
		t.Error(err)
	}
	wrong := errors.New("wrong")
	var begun atomic.Int64
	err := together(t.Context(), 1_000_000, 3, func(_ context.Context, i int) error {
		begun.Add(1)
		if i == 5 {
			return wrong
		}
		return nil
	})
	if !errors.Is(err, wrong) || begun.Load() > 900_000 {
		t.Errorf("%v after %d", err, begun.Load())
	}
}

// TestClientSaysWhatIsWrong checks the errors for responses that cannot be used.
func TestClientSaysWhatIsWrong(t *testing.T) {
	for says, response := range map[string]func(http.ResponseWriter){
		"/v1/a ended early; repeat the command to resume":                                         broken,
		"/v1/a is larger than 33554432 bytes":                                                     large,
		" answers /v1/a with 429 and asks to wait for 24h0m0s; repeat the command then to resume": with(429, "Retry-After", "86400"),
	} {
		c, _, _ := serve(t, response)
		var into struct{}
		if err := c.get(t.Context(), "/v1/a", nil, &into); !strings.HasSuffix(lyceum.Public(err).Detail, says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// TestClientTrustsNoOtherCertificate checks that an untrusted certificate is an error, which is
// not retried.
func TestClientTrustsNoOtherCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	p := &patient{at: time.Unix(1_700_000_000, 0)}
	c, err := newClient(server.URL, "key", p.now, p.sleep)
	if err != nil {
		t.Fatal(err)
	}
	err = c.get(t.Context(), "/v1/a", nil, nil)
	want := server.URL + " has a certificate that is not trusted here"
	if e := lyceum.Public(err); e.Kind != lyceum.Invalid || e.Detail != want || e.Err == nil || len(p.slept) > 0 {
		t.Errorf("%v after %v", err, p.slept)
	}
}

// TestPages checks that lists are read to the end although they change meanwhile, and that
// nonsensical ones are errors.
func TestPages(t *testing.T) {
	for name, tc := range map[string]struct {
		responses string // total, page, number_of_pages, rows of each; the last is repeated
		requests  int32
		fails     bool
	}{
		"no rows":                       {"0 1 0 0", 1, false},
		"one page":                      {"5 1 1 5", 1, false},
		"three pages":                   {"250 1 3 100, 250 2 3 100, 250 3 3 50", 3, false},
		"pages without numbers":         {"250 0 3 100", 3, false},
		"a row less":                    {"250 1 3 100, 249 2 3 100, 249 1 3 100, 249 2 3 100, 249 3 3 49", 5, false},
		"a page less":                   {"201 1 3 100, 201 2 3 100, 200 3 2 0, 200 2 2 100", 4, false},
		"rows of several pages less":    {"350 1 4 100, 350 2 4 100, 150 3 2 0, 150 1 2 100, 150 2 2 50", 5, false},
		"rows more":                     {"150 1 2 100, 250 2 3 100, 250 3 3 50", 3, false},
		"a total that goes up and down": {strings.Repeat("150 1 2 100, 149 2 2 49, ", 3) + "150 1 2 100, 149 2 2 49", 8, false},
		"ever more pages without rows":  {"5 1 2 5, 5 2 3 0, 5 3 4 0", 2, false},
		"the same page again and again": {"250 1 3 100", 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			var each []func(http.ResponseWriter)
			for response := range strings.SplitSeq(tc.responses, ", ") {
				var total, page, last, rows int
				_, _ = fmt.Sscan(response, &total, &page, &last, &rows)
				text := fmt.Sprintf(`{"courses":[%s],"meta":{"total":%d,"page":%d,"number_of_pages":%d}}`,
					strings.TrimSuffix(strings.Repeat("{},", rows), ","), total, page, last)
				each = append(each, func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, text) })
			}
			c, _, requests := serve(t, each...)
			err := pages(t.Context(), c, "/v1/courses", nil, func(list *gen.CourseList) (*gen.PaginationMeta, int, error) {
				if requests.Load() > 9 {
					return nil, 0, errors.New("there is no end")
				}
				return &list.Meta, len(list.Courses), nil
			})
			if (err != nil) != tc.fails || requests.Load() != tc.requests {
				t.Errorf("%v after %d pages, want %d", err, requests.Load(), tc.requests)
			}
		})
	}
}

// TestClientRefusesWhatLacksItsParts checks that a response without its list or meta is an error:
// the list would seem to be empty, and the school to be copied.
func TestClientRefusesWhatLacksItsParts(t *testing.T) {
	for response, lacks := range map[string]string{
		`{}`:                             "users",
		`null`:                           "users",
		`{"users":null,"meta":{}}`:       "users",
		`{"users":[]}`:                   "meta",
		`{"users":[],"meta":null}`:       "meta",
		`{"users":[],"meta":{"page":1}}`: "number of pages in its meta",
		`{"users":[],"meta":{"number_of_pages":0}}`: "",
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, response) })
		want := ""
		if lacks != "" {
			want = "the response from " + c.base + "/v1/users is not version 1's: it has no " + lacks
		}
		err := c.get(t.Context(), "/v1/users", nil, new(gen.UserList))
		if (err != nil) != (want != "") || err != nil && lyceum.Public(err).Detail != want {
			t.Errorf("%s: %v, want %q", response, err, want)
		}
	}
}
