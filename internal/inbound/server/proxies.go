package server

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// Proxies are the networks of reverse proxies that are trusted to say where a request came
// from.
type Proxies []netip.Prefix

// ParseProxies parses networks, such as 10.0.0.0/8, and single addresses.
func ParseProxies(flag string, texts []string) (Proxies, error) {
	var list Proxies
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			var address netip.Addr
			if address, err = netip.ParseAddr(text); err == nil {
				network = netip.PrefixFrom(address.WithZone(""), address.BitLen())
			}
		}
		if err != nil {
			return nil, lyceum.InvalidFields(lyceum.FieldError{
				Field: flag, Message: "must be networks and addresses separated by commas, such as 127.0.0.1,10.1.0.0/16",
			})
		}
		if network.Addr().Is4In6() && network.Bits() >= 96 {
			network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
		}
		if network.Bits() == 0 {
			return nil, lyceum.InvalidFields(lyceum.FieldError{
				Field:   flag,
				Message: "must not include all addresses, or anyone could forge their address; list only your proxies",
			})
		}
		list = append(list, network.Masked())
	}
	return list, nil
}

func (p Proxies) trust(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// client returns the address that a request came from: of the addresses reported by trusted
// proxies, the last one that is not a proxy itself. Anything before it may be forged. If the
// two headers disagree, neither is trusted, because a proxy that sets one of them may pass on
// the other unchanged.
func (p Proxies) client(r *http.Request) netip.Addr {
	peer := wire.AddressOf(r).Unmap().WithZone("")
	if !p.trust(peer) {
		return peer
	}
	lists, elements := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	if len(lists)+len(elements) == 0 {
		return peer
	}
	forwarded := p.walk(peer, strings.Split(strings.Join(lists, ","), ","))
	if len(elements) == 0 {
		return forwarded
	}
	hops, ok := forwardedFor(strings.Join(elements, ","))
	if !ok {
		return peer
	}
	if other := p.walk(peer, hops); len(lists) == 0 || other == forwarded {
		return other
	}
	return peer
}

// believe replaces the address of the request by the one that trusted proxies report. A proxy
// that is not trusted is logged once.
func (h *handler) believe(r *http.Request) {
	if len(h.Proxies) > 0 {
		r.RemoteAddr = netip.AddrPortFrom(h.Proxies.client(r), 0).String()
		return
	}
	if len(r.Header["X-Forwarded-For"])+len(r.Header["Forwarded"]) == 0 {
		return
	}
	if peer := wire.AddressOf(r).Unmap(); peer.IsLoopback() || peer.IsPrivate() {
		h.hint.Do(func() {
			h.Log.WarnContext(r.Context(), "a proxy forwards requests, but its address is not trusted, so all its clients "+
				"count as one; add it to --trusted-proxies", "proxy", peer.String())
		})
	}
}

// walk goes back from the peer over the hops that proxies reported, until one that is not
// trusted.
func (p Proxies) walk(peer netip.Addr, hops []string) netip.Addr {
	at := peer
	for i := len(hops) - 1; i >= 0 && p.trust(at); i-- {
		before, ok := parseHop(hops[i])
		if !ok {
			break
		}
		at = before
	}
	return at
}

// parseHop parses an address as proxies write it: with or without a port, and an IPv6 address
// with or without brackets.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.Trim(text, " \t")
	address, err := netip.ParseAddr(text)
	if err != nil {
		var with netip.AddrPort
		with, err = netip.ParseAddrPort(text)
		address = with.Addr()
	}
	if inside, ok := strings.CutPrefix(text, "["); err != nil && ok {
		if inside, ok = strings.CutSuffix(inside, "]"); ok {
			address, err = netip.ParseAddr(inside)
		}
	}
	return address.Unmap().WithZone(""), err == nil
}

// forwardedFor returns the values of the parameter "for" in a Forwarded header (RFC 7239,
// section 4), "" for an element without it. A malformed header is not ok: if its quotes are
// unbalanced, it is impossible to say which part a proxy wrote.
func forwardedFor(header string) (hops []string, ok bool) {
	elements, ok := splitQuoted(header, ',')
	if !ok {
		return nil, false
	}
	for _, element := range elements {
		if strings.Trim(element, " \t") == "" {
			continue
		}
		pairs, _ := splitQuoted(element, ';')
		hop, there := "", false
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			if !strings.EqualFold(strings.Trim(name, " \t"), "for") {
				continue
			}
			if there {
				return nil, false
			}
			hop, there = unquote(strings.Trim(value, " \t")), true
		}
		hops = append(hops, hop)
	}
	return hops, true
}

// splitQuoted splits at separators outside of quotes.
func splitQuoted(text string, separator byte) (parts []string, ok bool) {
	quoted, begin := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:]), !quoted
}

func unquote(value string) string {
	inside, ok1 := strings.CutPrefix(value, `"`)
	inside, ok2 := strings.CutSuffix(inside, `"`)
	if !ok1 || !ok2 {
		return value
	}
	return strings.ReplaceAll(inside, `\`, "")
}
