package server

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func proxies(t testing.TB, texts ...string) Proxies {
	t.Helper()
	list, err := ParseProxies("--trusted-proxies", texts)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestR32_WhereARequestComesFrom checks that the rightmost address that is not of a trusted
// proxy counts, whatever clients write before it.
func TestR32_WhereARequestComesFrom(t *testing.T) {
	ours := proxies(t, "127.0.0.1", "10.0.0.0/8", "2001:db8:aaaa::/48", "::ffff:192.168.7.0/120")
	for _, tc := range []struct {
		name, peer string
		headers    []string
		want       string
	}{
		{"no headers", "127.0.0.1:4000", nil, "127.0.0.1"},
		{"no trusted peer", "203.0.113.9:4000", []string{"X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1"}, "203.0.113.9"},
		{"one hop", "127.0.0.1:4000", []string{"X-Forwarded-For: 203.0.113.1"}, "203.0.113.1"},
		{"forged before it", "127.0.0.1:4000", []string{"X-Forwarded-For: 192.0.2.1, 198.51.100.7, 203.0.113.1"}, "203.0.113.1"},
		{"two proxies", "127.0.0.1:4000", []string{"X-Forwarded-For: 192.0.2.1, 203.0.113.1, 10.1.2.3"}, "203.0.113.1"},
		{"a forged proxy", "127.0.0.1:4000", []string{"X-Forwarded-For: 192.0.2.1, 10.0.0.1, 203.0.113.1"}, "203.0.113.1"},
		{"all are proxies", "127.0.0.1:4000", []string{"X-Forwarded-For: 10.0.0.9, 10.0.0.1"}, "10.0.0.9"},
		{"several lines", "127.0.0.1:4000", []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 203.0.113.1"}, "203.0.113.1"},
		{"fifty hops", "127.0.0.1:4000", []string{"X-Forwarded-For: 203.0.113.1" + strings.Repeat(", 10.0.0.1", 49)}, "203.0.113.1"},
		{"fifty forged hops", "127.0.0.1:4000", []string{"X-Forwarded-For: " + strings.Repeat("10.0.0.1, ", 50) + "203.0.113.1"}, "203.0.113.1"},
		{"with a port", "127.0.0.1:4000", []string{"X-Forwarded-For: 203.0.113.1:5678"}, "203.0.113.1"},
		{"IPv6", "127.0.0.1:4000", []string{"X-Forwarded-For: 2001:db8::7"}, "2001:db8::7"},
		{"IPv6 in brackets", "127.0.0.1:4000", []string{"X-Forwarded-For: [2001:db8::7]"}, "2001:db8::7"},
		{"IPv6 with a port", "127.0.0.1:4000", []string{"X-Forwarded-For: [2001:db8::7]:443"}, "2001:db8::7"},
		{"IPv6 with a zone", "127.0.0.1:4000", []string{"X-Forwarded-For: fe80::1%eth0"}, "fe80::1"},
		{"IPv4 in IPv6", "127.0.0.1:4000", []string{"X-Forwarded-For: ::ffff:203.0.113.1"}, "203.0.113.1"},
		{"an IPv4 proxy in IPv6", "[::ffff:127.0.0.1]:4000", []string{"X-Forwarded-For: 203.0.113.1, ::ffff:10.1.1.1"}, "203.0.113.1"},
		{"a network given as IPv4 in IPv6", "192.168.7.4:4000", []string{"X-Forwarded-For: 203.0.113.1"}, "203.0.113.1"},
		{"an IPv6 proxy", "[2001:db8:aaaa::1]:4000", []string{"X-Forwarded-For: 2001:db8:bbbb::1"}, "2001:db8:bbbb::1"},
		{"garbage", "127.0.0.1:4000", []string{"X-Forwarded-For: unknown"}, "127.0.0.1"},
		{"garbage before a proxy", "127.0.0.1:4000", []string{"X-Forwarded-For: 203.0.113.1, <script>, 10.0.0.1"}, "10.0.0.1"},
		{"garbage before a client", "127.0.0.1:4000", []string{`X-Forwarded-For: ", 203.0.113.1`}, "203.0.113.1"},
		{"empty", "127.0.0.1:4000", []string{"X-Forwarded-For: "}, "127.0.0.1"},

		{"Forwarded", "127.0.0.1:4000", []string{"Forwarded: for=203.0.113.1;proto=https;by=10.0.0.1"}, "203.0.113.1"},
		{"Forwarded, forged before it", "127.0.0.1:4000", []string{"Forwarded: for=192.0.2.1, For=203.0.113.1, for=10.0.0.1"}, "203.0.113.1"},
		{"Forwarded, quoted", "127.0.0.1:4000", []string{`Forwarded: for="[2001:db8:cafe::17]:4711"`}, "2001:db8:cafe::17"},
		{"Forwarded, quoted with a backslash", "127.0.0.1:4000", []string{`Forwarded: for="203.0.113\.1"`}, "203.0.113.1"},
		{"Forwarded, a comma in quotes", "127.0.0.1:4000", []string{`Forwarded: for="192.0.2.1, for=10.0.0.1";host="a;b", for=203.0.113.1`}, "203.0.113.1"},
		{"Forwarded, fifty hops", "127.0.0.1:4000", []string{"Forwarded: for=203.0.113.1" + strings.Repeat(", for=10.0.0.1", 49)}, "203.0.113.1"},
		{"Forwarded, IPv4 in IPv6", "127.0.0.1:4000", []string{`Forwarded: for="[::ffff:203.0.113.1]"`}, "203.0.113.1"},
		{"Forwarded, quotes that do not close", "127.0.0.1:4000", []string{`Forwarded: for="192.0.2.1, for=203.0.113.1`}, "127.0.0.1"},
		{"Forwarded, a hidden client", "127.0.0.1:4000", []string{"Forwarded: for=_hidden, for=10.0.0.1"}, "10.0.0.1"},
		{"Forwarded, unknown", "127.0.0.1:4000", []string{"Forwarded: for=unknown"}, "127.0.0.1"},
		{"Forwarded, twice in one element", "127.0.0.1:4000", []string{"Forwarded: for=192.0.2.1;for=203.0.113.1"}, "127.0.0.1"},
		{"Forwarded, without for", "127.0.0.1:4000", []string{"Forwarded: proto=https"}, "127.0.0.1"},

		{"both agree", "127.0.0.1:4000", []string{"X-Forwarded-For: 192.0.2.1, 203.0.113.1", "Forwarded: for=203.0.113.1"}, "203.0.113.1"},
		{"a forged Forwarded beside it", "127.0.0.1:4000", []string{"X-Forwarded-For: 203.0.113.1", "Forwarded: for=192.0.2.1"}, "127.0.0.1"},
		{"a forged X-Forwarded-For beside it", "127.0.0.1:4000", []string{"X-Forwarded-For: 192.0.2.1", "Forwarded: for=203.0.113.1"}, "127.0.0.1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tc.peer, Header: http.Header{}}
			for _, header := range tc.headers {
				name, value, _ := strings.Cut(header, ": ")
				r.Header.Add(name, value)
			}
			if got := ours.client(r); got != netip.MustParseAddr(tc.want) {
				t.Errorf("it comes from %s, want %s", got, tc.want)
			}
		})
	}
}

func TestProxiesThatAreRefused(t *testing.T) {
	for _, text := range []string{"0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96", "10.0.0.0/33", "example.com", "", "10.0.0.1:80"} {
		if list, err := ParseProxies("--trusted-proxies", []string{text}); lyceum.KindOf(err) != lyceum.Invalid || err == nil {
			t.Errorf("%q gives %v, %v", text, list, err)
		}
	}
}

func FuzzForwarded(f *testing.F) {
	f.Add(`for=192.0.2.1;by="a", for="[2001:db8::1]:80"`)
	f.Add(`for="`)
	f.Add(`,;=,"\"`)
	ours := proxies(f, "127.0.0.1")
	f.Fuzz(func(t *testing.T, header string) {
		r := &http.Request{RemoteAddr: "127.0.0.1:1", Header: http.Header{"Forwarded": {header}, "X-Forwarded-For": {"203.0.113.1"}}}
		if got := ours.client(r); got != netip.MustParseAddr("203.0.113.1") && got != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("%q makes it come from %s", header, got)
		}
	})
}
