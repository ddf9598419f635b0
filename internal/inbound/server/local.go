package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// Local keeps a server whose secrets are known to be for programs of its own
// machine. It answers to names of this machine alone, so that no web page
// reaches it by a name of its own (DNS rebinding), and lets pages of this
// machine alone read what it answers.
type Local struct {
	names map[string]bool
}

// NewLocal makes a Local that also answers to the names given: hosts, without
// ports.
func NewLocal(names ...string) *Local {
	l := &Local{names: map[string]bool{}}
	for _, name := range names {
		l.names[hostName(name)] = true
	}
	return l
}

// IsHost tells whether a text is a name or an IP address of a host, without a
// port.
func IsHost(text string) bool {
	if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return true
	}
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_'
	})
}

// hostName gives a host as it is compared: without port, brackets and the full
// stop at its end, in small letters.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isLoopback tells whether a host means the own machine wherever it is looked
// up (RFC 6761, section 6.3).
func isLoopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// refuses gives the refusal of a request that was sent to another host. Browsers
// always say which.
func (l *Local) refuses(r *http.Request) error {
	host := hostName(r.Host)
	if r.Host == "" || isLoopback(host) || l.names[host] {
		return nil
	}
	if !IsHost(host) {
		host = "NAME"
	}
	return lyceum.Errorf(lyceum.Forbidden, "this sandbox only answers requests to its own machine, such as "+
		"localhost and 127.0.0.1, to prevent DNS rebinding; if %[1]s is yours, start it with --allow-host %[1]s", host)
}

// limitOrigin lets the answer be read by the page that asked if that is one of
// this machine, and by no other page.
func (l *Local) limitOrigin(header http.Header, origins []string) {
	const allowed = "Access-Control-Allow-Origin"
	if header.Get(allowed) == "" {
		return
	}
	header.Add("Vary", "Origin")
	if len(origins) == 1 {
		if page, err := url.Parse(origins[0]); err == nil && (page.Scheme == "http" || page.Scheme == "https") &&
			isLoopback(hostName(page.Host)) {
			header.Set(allowed, origins[0])
			return
		}
	}
	for _, name := range crossOrigin {
		delete(header, name)
	}
}

// crossOrigin are the headers that let pages of other origins read an answer.
var crossOrigin = []string{
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Allow-Methods",
	"Access-Control-Allow-Headers", "Access-Control-Max-Age",
}
