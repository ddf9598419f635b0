package webhook

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

func FuzzCheckURL(f *testing.F) {
	for _, host := range hostsInside {
		f.Add("https://" + host + "/")
	}
	for _, form := range formsInside {
		f.Add(form)
	}
	f.Add("https://example.com:8443/hook?a=b")
	s := New(Options{})
	f.Fuzz(func(t *testing.T, text string) {
		if err := s.CheckURL(text); err != nil {
			if e := lyceum.Public(err); e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != "url" {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Fragment != "" || u.Hostname() == "" || strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("%q is taken", text)
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || ip.Is4In6() && ip.Unmap().IsPrivate()) {
			t.Errorf("%q is taken", text)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{"", "0", "120", "-1", "99999999999999999999", "1e3", "Sun, 01 Mar 2026 12:05:00 GMT", "Sunday, 01-Mar-26 12:05:00 GMT", "Sun Mar  1 12:05:00 2026", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if wait := retryAfter(text, now); wait < 0 || wait > 24*time.Hour {
			t.Errorf("%q: %v", text, wait)
		}
	})
}
