package oauth

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// wantDecent checks that what a parser accepted is valid in parameters.
func wantDecent(t *testing.T, p parameters) {
	t.Helper()
	for name, value := range p.values {
		if !utf8.ValidString(name+value) || strings.ContainsRune(name+value, 0) {
			t.Errorf("%q=%q is taken", name, value)
		}
	}
}

func FuzzAuthorizeQuery(f *testing.F) {
	for _, seed := range []string{
		"", "client_id=a&response_type=code&required_scopes=name:read%20email:read&state=x", "state=a&state=b", "a;b=1", "%zz", "a=%00", "a=%ff", "=&==&&", "+=+",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := parseForm(raw)
		if err != nil {
			return
		}
		wantDecent(t, p)
		strict, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatalf("%q is taken: %v", raw, err)
		}
		for name, values := range strict {
			if p.get(name) != values[0] || p.repeated[name] != (len(values) > 1) {
				t.Errorf("%q: %q is %q, repeated %t", raw, name, p.get(name), p.repeated[name])
			}
		}
		if next := local(raw); next != "" && (!strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n")) {
			t.Errorf("%q leads away", next)
		}
	})
}

func FuzzTokenForm(f *testing.F) {
	f.Add("grant_type=authorization_code&code=x&client_id=a&client_secret=b")
	f.Add("grant_type=a&grant_type=b")
	f.Add("client%5Fid=%61")
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if p, err := readBody(r); err == nil {
			wantDecent(t, p)
			if len(p.repeated) > 0 {
				t.Errorf("%q is taken with %v twice", body, p.repeated)
			}
		}
	})
}

func FuzzTokenJSON(f *testing.F) {
	for _, seed := range []string{
		`{"grant_type":"refresh_token","refresh_token":"x"}`, `{}`, `{"a":1}`, `{"a":"b","A":"c"}`, `{"a":"b"}x`, `[`, `{"a":{"b":"c"}}`, "{\"a\":\"\\u0000\"}", `{"a":"\ud800"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		p, err := parseJSON([]byte(body))
		if err != nil {
			return
		}
		wantDecent(t, p)
		var plain map[string]string
		if err := json.Unmarshal([]byte(body), &plain); err != nil {
			t.Fatalf("%q is taken: %v", body, err)
		}
		for name, value := range plain {
			if p.get(name) != value {
				t.Errorf("%q: %q is %q, want %q", body, name, p.get(name), value)
			}
		}
	})
}

func FuzzBasicHeader(f *testing.F) {
	for _, seed := range []string{"", "Basic YTpi", "basic YTpi", "Basic", "Basic %", "Bearer x", "Basic " + base64.StdEncoding.EncodeToString([]byte("a%5Fb:%zz"))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r := &http.Request{Header: http.Header{"Authorization": {header}}}
		id, secret, there, err := basic(r)
		if err == nil && !there {
			t.Errorf("%q is as good as no header", header)
		}
		if !utf8.ValidString(id+secret) || strings.ContainsRune(id+secret, 0) {
			t.Errorf("%q gives %q and %q", header, id, secret)
		}
	})
}
