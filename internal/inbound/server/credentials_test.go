package server_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// The messages for rejected keys.
const (
	noKey   = "No API key found in request"
	badKey  = "Invalid authentication credentials"
	noRoute = "no Route matched with those values"
)

func TestF8APIKey(t *testing.T) {
	s := newSite(t)
	writeOnly, both := s.issue(t, s.ours, lyceum.Write), s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	revoked := s.issue(t, s.ours, lyceum.Read)
	keys, err := s.options.Keys.List(t.Context(), lyceum.By{School: s.ours, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.options.Keys.Revoke(t.Context(), lyceum.By{School: s.ours, Actor: "test"}, keys[len(keys)-1].ID); err != nil {
		t.Fatal(err)
	}
	flipped := strings.NewReplacer("0", "1", "1", "0").Replace(s.key[len(s.key)-6:])
	if flipped == s.key[len(s.key)-6:] {
		flipped = "000000"
	}
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
		message string
	}{
		{"good", []string{"apiKey: " + s.key}, 200, ""},
		{"good, to read and write", []string{"apiKey: " + both}, 200, ""},
		{"none", nil, 401, noKey},
		{"empty", []string{"apiKey: "}, 401, noKey},
		{"wrong prefix", []string{"apiKey: sk_live_" + strings.TrimPrefix(s.key, "lyceum_key_")}, 401, badKey},
		{"bad checksum", []string{"apiKey: " + s.key[:len(s.key)-6] + flipped}, 401, badKey},
		{"unknown", []string{"apiKey: " + access.KeyText(s.ours, access.NewEntropy())}, 401, badKey},
		{"of a school there is not", []string{"apiKey: " + access.KeyText(999, access.NewEntropy())}, 401, badKey},
		{"revoked", []string{"apiKey: " + revoked}, 401, badKey},
		{"any word", []string{"apiKey: secret"}, 401, badKey},
		{"two keys in one header", []string{"apiKey: " + s.key + ", " + s.key}, 401, badKey},
		{"the same twice", []string{"apiKey: " + s.key, "apiKey: " + s.key}, 400, "the header apiKey must be sent once"},
		{"two", []string{"apiKey: " + s.key, "APIKEY: " + both}, 400, "the header apiKey must be sent once"},
		{"a bad one and a good one", []string{"apiKey: secret", "apiKey: " + s.key}, 400, "the header apiKey must be sent once"},
		{"as a bearer", []string{"Authorization: Bearer " + s.key}, 401, noKey},
		{"as Basic", []string{"Authorization: Basic " + s.key}, 401, noKey},
		{"under another name", []string{"X-Api-Key: " + s.key}, 401, noKey},
		{"beside a bearer", []string{"apiKey: " + s.key, "Authorization: Bearer x"}, 200, ""},
		{"that may only write", []string{"apiKey: " + writeOnly}, 403, "this API key does not have read permission (it has: write)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := s.call(t, http.MethodGet, "/v1/transactions", tc.headers...)
			if tc.status == http.StatusOK {
				if total := totalOf(t, w); total != ourSales {
					t.Errorf("%d sales, want %d", total, ourSales)
				}
				return
			}
			wantMessage(t, w, tc.status, tc.message)
		})
	}
	t.Run("in the query", func(t *testing.T) {
		wantMessage(t, s.call(t, http.MethodGet, "/v1/transactions?apiKey="+s.key), 401, noKey)
	})
}

// TestF8BearerKey checks that version 2 also accepts the key in the Authorization header.
func TestF8BearerKey(t *testing.T) {
	c := newCampus(t)
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
		says    string
	}{
		{"good", []string{"Authorization: Bearer " + c.ours.key}, 200, `"total_count"`},
		{"in lower case", []string{"Authorization: bearer " + c.ours.key}, 200, `"total_count"`},
		{"beside a good key", []string{"apiKey: " + c.ours.key, "Authorization: Bearer secret"}, 200, `"total_count"`},
		{"beside a bad key", []string{"apiKey: secret", "Authorization: Bearer " + c.ours.key}, 401, badKey},
		{"none", []string{"Authorization: Bearer "}, 401, noKey},
		{"as Basic", []string{"Authorization: Basic " + c.ours.key}, 401, noKey},
		{"any word", []string{"Authorization: Bearer secret"}, 401, badKey},
		{"an access token", []string{"Authorization: Bearer " + c.tokens(t, c.ours, lyceum.V2).AccessToken}, 401, badKey},
		{"twice", []string{"Authorization: Bearer " + c.ours.key, "Authorization: Bearer " + c.ours.key}, 400, "the header Authorization must be sent once"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := c.do(request(http.MethodGet, "/v2/users", nil, tc.headers...))
			wantStatus(t, w, tc.status)
			if !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("%s does not say %s", w.Body, tc.says)
			}
		})
	}
}

// TestF8HeaderNameInAnyCase sends the header name exactly as it is spelled here.
func TestF8HeaderNameInAnyCase(t *testing.T) {
	s := newSite(t)
	listening := httptest.NewServer(s)
	defer listening.Close()
	for _, name := range []string{"apiKey", "apikey", "ApiKey", "APIKEY", "Apikey", "aPIkEY"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, listening.URL+"/v1/transactions", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header[name] = []string{s.key}
		response, err := listening.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", name, response.Status)
		}
	}
}

func TestF9SchoolsSeeTheirOwn(t *testing.T) {
	s := newSite(t)
	their := s.issue(t, s.theirs, lyceum.Read)
	for name, tc := range map[string]struct {
		key  string
		want int
	}{"ours": {s.key, ourSales}, "theirs": {their, theirSales}} {
		if got := totalOf(t, s.list(t, tc.key)); got != tc.want {
			t.Errorf("%s: %d sales, want %d", name, got, tc.want)
		}
	}
	// Responses of the other school are not treated as ours, not even by their ETag.
	tag := s.list(t, s.key).Header().Get("ETag")
	wantStatus(t, s.call(t, http.MethodGet, "/v1/transactions", "apiKey: "+s.key, "If-None-Match: "+tag), http.StatusNotModified)
	wantStatus(t, s.call(t, http.MethodGet, "/v1/transactions", "apiKey: "+their, "If-None-Match: "+tag), http.StatusOK)
	// A client without a key learns nothing.
	wantMessage(t, s.call(t, http.MethodGet, "/v1/transactions", "If-None-Match: "+tag), http.StatusUnauthorized, noKey)
	wantMessage(t, s.call(t, http.MethodGet, "/v1/transactions?page=x"), http.StatusUnauthorized, noKey)
}

func TestCallerReachesTheOperation(t *testing.T) {
	var got lyceum.By
	s := newSite(t, with("who", http.MethodGet, func(_ context.Context, who wire.Principal, _ *http.Request) (wire.Body, error) {
		got = who.By
		return wire.JSON{}, nil
	}))
	wantStatus(t, s.do(request(http.MethodGet, "/test/who", nil, "apiKey: "+s.key)), http.StatusOK)
	if want := (lyceum.By{School: s.ours, Actor: "api_key:1", Key: 1, Permissions: lyceum.Read, V2: true}); got != want {
		t.Errorf("the caller is %+v, want %+v", got, want)
	}
}
