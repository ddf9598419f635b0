package webhook

import (
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard checks the addresses of receivers. It is called with the address that is about to be
// dialed rather than a name, so that a name that resolves to a different address the second
// time gains nothing.
type guard struct {
	public  *ssrf.Guardian
	allowed []netip.Prefix // IPv4 prefixes in IPv4 form
}

// ownMachine is what Options.Loopback allows.
var ownMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// azureHost gives the machines of one cloud information about themselves. It looks public and
// is in no registry of special addresses.
var azureHost = netip.MustParsePrefix("168.63.129.16/32")

func newGuard(o Options) guard {
	var g guard
	for _, p := range o.Allow {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		g.allowed = append(g.allowed, p)
	}
	if o.Loopback {
		g.allowed = append(g.allowed, ownMachine...)
	}
	g.public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azureHost),
		ssrf.WithAllowedV4Prefixes(g.allowed...), ssrf.WithAllowedV6Prefixes(g.allowed...))
	return g
}

// allows reports whether the address is in an allowed network.
func (g guard) allows(ip netip.Addr) bool {
	ip = ip.Unmap()
	return slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// passes reports whether the address is public or in an allowed network.
func (g guard) passes(ip netip.Addr) bool { return g.public.SafeAddr(ip.Unmap()) == nil }

// dialSecure is the net.Dialer.Control for https.
func (g guard) dialSecure(network, address string, conn syscall.RawConn) error {
	if err := g.public.Safe(network, address, conn); err != nil {
		return &targetError{err}
	}
	return nil
}

// targetError is the error for an address that nothing may be sent to.
type targetError struct{ err error }

// Error implements error.
func (r *targetError) Error() string { return r.err.Error() }

// Unwrap returns the reason.
func (r *targetError) Unwrap() error { return r.err }

// dialPlain is the net.Dialer.Control for http. It permits only allowed networks, because http
// can be read on the way.
func (g guard) dialPlain(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(at.Addr()) {
		return &targetError{&net.AddrError{Err: "not in a network that is allowed", Addr: address}}
	}
	return nil
}
