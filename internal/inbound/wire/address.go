package wire

import (
	"net/http"
	"net/netip"
)

// AddressOf returns the address that a request came from, or the zero Addr if it has none.
func AddressOf(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr()
}
