package webhook

import (
	"io"
	"log"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestCheckURL(t *testing.T) {
	var (
		real    = Options{}
		sandbox = Options{Loopback: true}
		listed  = Options{Allow: prefixes("10.1.0.0/16", "fd00:1::/32")}
	)
	long := func(n int) string { return "https://example.com/" + strings.Repeat("a", n-20) }
	const (
		inside = "inside this network"
		https  = "begin"
		name   = "in ASCII"
		port   = "port from 1 to 65535"
		space  = "must not contain spaces"
	)
	for _, tc := range []struct {
		options Options
		url     string
		message string // part of the message; empty: accepted
	}{
		{real, "https://example.com", ""},
		{real, "https://example.com/hook?a=b&c=%20", ""},
		{real, "HTTPS://Example.COM:8443/", ""},
		{real, "https://example.com.:443/", ""},
		{real, "https://hook", ""},
		{real, "https://a_b.example.com/", ""},
		{real, "https://xn--bcher-kva.example/", ""},
		{real, "https://example.com/Grüße", ""},
		{real, "https://8.8.8.8:1/", ""},
		{real, "https://[2606:4700::1111]:65535/", ""},
		{real, long(2000), ""},
		{real, "https://example.com/" + strings.Repeat("ü", 1980), ""},

		{real, long(2001), "must be at most 2000 characters long"},
		{real, "https://example.com/\xff", "must be UTF-8 text without NUL characters"},
		{real, "https://example.com/\x00", "must be UTF-8 text without NUL characters"},
		{real, "", https},
		{real, "example.com", https},
		{real, "//example.com", https},
		{real, "ftp://example.com", https},
		{real, "https:example.com", https},
		{real, "http://example.com", https},
		{real, "http://8.8.8.8", https},
		{real, "https://exa mple.com", https},
		{real, "https://example.com/\n", https},
		{real, "https:///hook", name},
		{real, "https://bücher.example", name},
		{real, "https://example。com", name},
		{real, "https://a..b", name},
		{real, "https://.example.com", name},
		{real, "https://-a.example.com", name},
		{real, "https://a-.example.com", name},
		{real, "https://a,b.example.com", name},
		{real, "https://example.com..", name},
		{real, "https://" + strings.Repeat("a", 64) + ".example.com", name},
		{real, "https://" + strings.Repeat("a.", 127) + "com", name},
		{real, "https://example.123", name},
		{real, "https://example.0x1F", name},
		{real, "https://user@example.com", "user name"},
		{real, "https://user:canary@example.com", "user name"},
		{real, "https://@example.com", "user name"},
		{real, "https://example.com/#a", "fragment"},
		{real, "https://example.com/#", "fragment"},
		{real, "https://example.com:", port},
		{real, "https://example.com:0", port},
		{real, "https://example.com:65536", port},
		{real, "https://[2606:4700::1111]:0", port},
		{real, "https://example.com/my hook", space},
		{real, "https://example.com/hook ", space},
		{real, "https://example.com/hook?name=a b", space},
		{real, "https://example.com/hook\u00a0", space},
		{real, "https://10.1.0.1", inside},
		{real, "https://localhost", inside},
		{real, "https://a.LOCALHOST.", inside},
		{real, "https://[2606:4700::1111%25lo]", inside},

		{sandbox, "http://localhost:8000/hook", ""},
		{sandbox, "https://a.localhost", ""},
		{sandbox, "http://127.0.0.1:8000", ""},
		{sandbox, "http://127.8.8.8", ""},
		{sandbox, "http://[::1]:8000", ""},
		{sandbox, "https://example.com", ""},
		{sandbox, "http://example.com", https},
		{sandbox, "http://0.0.0.0", inside},
		{sandbox, "http://10.1.0.1", inside},

		{listed, "http://10.1.0.1:8000", ""},
		{listed, "https://10.1.0.1", ""},
		{listed, "http://[fd00:1::1]:8000", ""},
		{listed, "http://[::ffff:10.1.0.1]:8000", ""},
		{listed, "http://receiver:8000", ""},
		{listed, "http://10.2.0.1:8000", inside},
		{listed, "http://8.8.8.8", https},
		{listed, "https://localhost", inside},
		{listed, "https://127.0.0.1", inside},
	} {
		err := New(tc.options).CheckURL(tc.url)
		if tc.message == "" {
			if err != nil {
				t.Errorf("%q: %v", tc.url, err)
			}
			continue
		}
		e := lyceum.Public(err)
		if e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != "url" || !strings.Contains(e.Fields[0].Message, tc.message) || strings.Contains(e.Error(), "canary") {
			t.Errorf("%q: %v, want %q", tc.url, err, tc.message)
		}
	}
}
