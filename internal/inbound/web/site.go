package web

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Site has the addresses at which users reach the server.
type Site struct {
	BaseURL string // of the APIs: https://school.example.com
	AuthURL string // of the pages
}

// Secure reports whether the pages are reached by https.
func (s Site) Secure() bool { return strings.HasPrefix(s.AuthURL, "https://") }

// cookie returns the name of the session cookie. With the prefix __Host-, browsers restrict it
// to https, to this host and to all its paths; it cannot be used over plain http.
func (s Site) cookie() string {
	if s.Secure() {
		return "__Host-lyceum"
	}
	return "lyceum"
}

// Session returns the session secret in the request's cookie, or "".
func (s Site) Session(r *http.Request) string {
	cookie, err := r.Cookie(s.cookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Begin sets the session cookie for the given lifetime.
func (s Site) Begin(w http.ResponseWriter, secret string, lifetime time.Duration) {
	s.set(w, secret, int(lifetime/time.Second))
}

// End deletes the session cookie.
func (s Site) End(w http.ResponseWriter) { s.set(w, "", -1) }

func (s Site) set(w http.ResponseWriter, value string, seconds int) {
	s.setNamed(w, s.cookie(), value, seconds)
}

func (s Site) setNamed(w http.ResponseWriter, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- Secure wherever the pages are reached by https
		Name: name, Value: value, Path: "/", MaxAge: seconds,
		Secure: s.Secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// deviceCookie is the name of the cookie that remembers which accounts were signed in to in
// this browser.
func (s Site) deviceCookie() string { return s.cookie() + "-device" }

// Device returns what KeepDevice stored, or "".
func (s Site) Device(r *http.Request) string {
	cookie, err := r.Cookie(s.deviceCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// KeepDevice stores which accounts were signed in to in this browser, beyond the end of the
// session.
func (s Site) KeepDevice(w http.ResponseWriter, text string, lifetime time.Duration) {
	s.setNamed(w, s.deviceCookie(), text, int(lifetime/time.Second))
}

// stepCookie is the name of the cookie of a user who has entered their password but not yet
// their second factor.
func (s Site) stepCookie() string { return s.cookie() + "-step" }

// Step returns the secret that KeepStep stored, or "".
func (s Site) Step(r *http.Request) string {
	cookie, err := r.Cookie(s.stepCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// KeepStep stores a secret between password and second factor; a negative lifetime deletes it.
func (s Site) KeepStep(w http.ResponseWriter, secret string, lifetime time.Duration) {
	seconds := int(lifetime / time.Second)
	if lifetime < 0 {
		seconds = -1
	}
	s.setNamed(w, s.stepCookie(), secret, seconds)
}

// passkeyCookie is the name of the cookie with a secret that identifies the browser that
// requested a passkey.
func (s Site) passkeyCookie() string { return s.cookie() + "-passkey" }

// PasskeyBrowser returns the secret that KeepPasskeyBrowser stored, or "".
func (s Site) PasskeyBrowser(r *http.Request) string {
	cookie, err := r.Cookie(s.passkeyCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// KeepPasskeyBrowser stores a secret that identifies the browser that requested a passkey.
func (s Site) KeepPasskeyBrowser(w http.ResponseWriter, secret string, lifetime time.Duration) {
	s.setNamed(w, s.passkeyCookie(), secret, int(lifetime/time.Second))
}

// Passkeys returns the host that passkeys are made for, and the origin of the pages as browsers
// write it. Browsers support passkeys only if the host has a name and is reached by https, or
// is localhost; otherwise ok is false.
func (s Site) Passkeys() (host, origin string, ok bool) {
	at, err := url.Parse(strings.ToLower(s.AuthURL))
	if err != nil {
		return "", "", false
	}
	host = at.Hostname()
	_, notNumber := netip.ParseAddr(host)
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if host == "" || notNumber == nil || at.Scheme != "https" && !local {
		return "", "", false
	}
	return host, originOf(at), true
}

// originOf returns the origin of an address, as browsers write it.
func originOf(at *url.URL) string {
	host := at.Host
	if at.Scheme == "https" && at.Port() == "443" || at.Scheme == "http" && at.Port() == "80" {
		host = strings.TrimSuffix(host, ":"+at.Port())
	}
	return strings.ToLower(at.Scheme + "://" + host)
}

// fromCookie is the name of the cookie that remembers the page a user came from, until the
// browser is closed.
func (s Site) fromCookie() string { return s.cookie() + "-from" }

// Remember stores the address of the page that a user came from, for the one request that they
// were redirected here with.
func (s Site) Remember(w http.ResponseWriter, from, request string) {
	s.setNamed(w, s.fromCookie(), base64.RawURLEncoding.EncodeToString([]byte(from))+"."+sumOf(request), 0)
}

func sumOf(request string) string {
	sum := sha256.Sum256([]byte(request))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Forget deletes what Remember stored.
func (s Site) Forget(w http.ResponseWriter) { s.setNamed(w, s.fromCookie(), "", -1) }

// Remembered returns the address that Remember stored for a request, or "" if there is none or
// it is not the address of a page.
func (s Site) Remembered(r *http.Request, request string) string {
	cookie, err := r.Cookie(s.fromCookie())
	if err != nil {
		return ""
	}
	address, sum, _ := strings.Cut(cookie.Value, ".")
	text, err := base64.RawURLEncoding.DecodeString(address)
	from := string(text)
	if err != nil || sum != sumOf(request) || !strings.HasPrefix(from, "https://") && !strings.HasPrefix(from, "http://") {
		return ""
	}
	return from
}

// Own reports whether an address belongs to this server.
func (s Site) Own(address string) bool {
	return strings.HasPrefix(address+"/", s.AuthURL+"/") || strings.HasPrefix(address+"/", s.BaseURL+"/")
}

// CrossOrigin rejects forms that other sites send. Pages at BaseURL and AuthURL are the
// server's own, even if a proxy passes on a different Host.
func (s Site) CrossOrigin(deny http.Handler) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(deny)
	for _, address := range []string{s.BaseURL, s.AuthURL} {
		at, err := url.Parse(address)
		if err != nil || at.Host == "" {
			continue
		}
		_ = protection.AddTrustedOrigin(originOf(at)) // fails only for an invalid origin
	}
	return protection
}
