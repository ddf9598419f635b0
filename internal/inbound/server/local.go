package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// Local restricts a server whose secrets are publicly known to programs on its own machine. The
// server only responds to names of this machine, so that no web page can reach it through its
// own name (DNS rebinding), and only pages from this machine may read its responses.
type Local struct {
	names map[string]bool
}

// NewLocal returns a Local that also accepts the given host names, which have no port.
func NewLocal(names ...string) *Local {
	l := &Local{names: map[string]bool{}}
	for _, name := range names {
		l.names[hostName(name)] = true
	}
	return l
}

// IsHost reports whether text is a host name or an IP address, without a port.
func IsHost(text string) bool {
	if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return true
	}
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_'
	})
}

// hostName returns a host in the form in which hosts are compared: without port, brackets and
// trailing dot, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isLoopback reports whether a host means the local machine wherever it is resolved (RFC 6761,
// section 6.3).
func isLoopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// refuses returns an error if a request was sent to another host. Browsers always send the
// host.
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

// limitOrigin allows the requesting page to read the response if it is from this machine, and
// no other page.
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

// crossOrigin are the headers that allow pages of other origins to read a response.
var crossOrigin = []string{
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Allow-Methods",
	"Access-Control-Allow-Headers", "Access-Control-Max-Age",
}
