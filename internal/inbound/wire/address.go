package wire

import (
	"net/http"
	"net/netip"
)

// AddressOf gives the address a request came from; the zero Addr when there is
// none.
func AddressOf(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr()
}
