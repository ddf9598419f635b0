package webhook

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/lyceum-school/lyceum"
)

// maxURL is the maximum length of a URL, in characters.
const maxURL = 2000

// CheckURL rejects a URL that nothing can ever be sent to, with an *lyceum.Error of kind
// Invalid for the field url. The host name of an accepted URL may still resolve to an internal
// address; Send checks that. A space in the query would break the request, and one elsewhere is a
// mistake.
//
// https is always accepted, on any port. http is accepted if the receiver can be in an allowed
// network: for an address in one, for any name if there is an allow-list, and for localhost if
// the own machine is allowed. Send checks the address that the name resolves to.
func (s *Sender) CheckURL(text string) error {
	message := s.wrong(text)
	if message == "" && strings.ContainsFunc(text, unicode.IsSpace) {
		message = "must not contain spaces"
	}
	if message != "" {
		return lyceum.InvalidFields(lyceum.FieldError{Field: "url", Message: message})
	}
	return nil
}

// wrong returns the first thing that is wrong with a URL, worded to follow the field's name.
func (s *Sender) wrong(text string) string {
	if message := lyceum.CheckText(text, 0, maxURL); message != "" {
		return message
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "" {
		return "must be a URL that begins with https://"
	}
	if u.User != nil {
		return "must not contain a user name or password"
	}
	if strings.Contains(text, "#") {
		return "must have no fragment (#)"
	}
	if _, port, found := strings.Cut(strings.TrimPrefix(u.Host, "["+u.Hostname()+"]"), ":"); found {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "must have a port from 1 to 65535, or none"
		}
	}
	return s.wrongHost(u.Hostname(), u.Scheme == "https")
}

func (s *Sender) wrongHost(host string, secure bool) string {
	const inside = "must lead to a receiver on the internet, not inside this network"
	const plain = "must begin with https://"
	ip, err := netip.ParseAddr(host)
	switch local := isLocalhost(host); {
	case err == nil && (ip.Zone() != "" || !s.guard.passes(ip)):
		return inside
	case err == nil && !secure && !s.guard.allows(ip):
		return plain
	case err == nil:
		return ""
	case !isName(host):
		return "must have a host that is a name in ASCII (such as example.com, or xn-- for other alphabets) or an address"
	case local && !s.loopback:
		return inside
	case !local && !secure && !s.allowList:
		return plain
	}
	return ""
}

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// isName reports whether a host is a name according to RFC 1123, with underscores allowed. If
// the last label is a number it is not, because some resolvers treat 127.1 and 0x7f.1 as
// addresses.
func isName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	labels := strings.Split(host, ".")
	last := strings.ToLower(labels[len(labels)-1])
	if len(host) > 253 || strings.Trim(last, "0123456789") == "" {
		return false
	}
	if digits, hex := strings.CutPrefix(last, "0x"); hex && strings.Trim(digits, "0123456789abcdef") == "" {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notInName) || strings.HasPrefix(label, "-") ||
			strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}
