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

// Site says how people reach the server.
type Site struct {
	BaseURL string // of the interface: https://school.example.com
	AuthURL string // of the pages
}

// Secure tells whether the pages are reached by https.
func (s Site) Secure() bool { return strings.HasPrefix(s.AuthURL, "https://") }

// cookie gives the name of the session's cookie. The prefix __Host- makes a
// browser hold it to https, to this host and to all its paths; it cannot be
// had over plain http.
func (s Site) cookie() string {
	if s.Secure() {
		return "__Host-lyceum"
	}
	return "lyceum"
}

// Session gives the secret of the session that a request bears, or nothing.
func (s Site) Session(r *http.Request) string {
	cookie, err := r.Cookie(s.cookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Begin gives the browser the secret of a session for as long as lifetime.
func (s Site) Begin(w http.ResponseWriter, secret string, lifetime time.Duration) {
	s.set(w, secret, int(lifetime/time.Second))
}

// End takes the secret of a session away from the browser.
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

// deviceCookie holds what is known of the accounts that were signed in to in
// the browser.
func (s Site) deviceCookie() string { return s.cookie() + "-device" }

// Device gives what KeepDevice kept, or nothing.
func (s Site) Device(r *http.Request) string {
	cookie, err := r.Cookie(s.deviceCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// KeepDevice keeps what is known of the accounts that were signed in to in the
// browser, beyond the end of the session.
func (s Site) KeepDevice(w http.ResponseWriter, text string, lifetime time.Duration) {
	s.setNamed(w, s.deviceCookie(), text, int(lifetime/time.Second))
}

// stepCookie holds that somebody showed their password and not yet their second factor.
func (s Site) stepCookie() string { return s.cookie() + "-step" }

// Step gives what KeepStep kept, or nothing.
func (s Site) Step(r *http.Request) string {
	cookie, err := r.Cookie(s.stepCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// KeepStep keeps a secret between password and second factor; a lifetime below 0 drops it.
func (s Site) KeepStep(w http.ResponseWriter, secret string, lifetime time.Duration) {
	seconds := int(lifetime / time.Second)
	if lifetime < 0 {
		seconds = -1
	}
	s.setNamed(w, s.stepCookie(), secret, seconds)
}

// passkeyCookie holds a secret that says which browser asked for a passkey.
func (s Site) passkeyCookie() string { return s.cookie() + "-passkey" }

// PasskeyBrowser gives what KeepPasskeyBrowser kept, or nothing.
func (s Site) PasskeyBrowser(r *http.Request) string {
	cookie, err := r.Cookie(s.passkeyCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// KeepPasskeyBrowser keeps a secret that says which browser asked for a passkey.
func (s Site) KeepPasskeyBrowser(w http.ResponseWriter, secret string, lifetime time.Duration) {
	s.setNamed(w, s.passkeyCookie(), secret, int(lifetime/time.Second))
}

// Passkeys gives the host that passkeys are made for, and the origin of the pages, as
// browsers write it. Browsers have passkeys only where a host has a name and is reached
// by https, or is localhost; elsewhere ok is false.
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

// originOf gives the origin of an address, as browsers write it.
func originOf(at *url.URL) string {
	host := at.Host
	if at.Scheme == "https" && at.Port() == "443" || at.Scheme == "http" && at.Port() == "80" {
		host = strings.TrimSuffix(host, ":"+at.Port())
	}
	return strings.ToLower(at.Scheme + "://" + host)
}

// fromCookie holds the page that a person came from, while the browser is open.
func (s Site) fromCookie() string { return s.cookie() + "-from" }

// Remember keeps the address of the page that a person came from, for one
// request that they were led here with.
func (s Site) Remember(w http.ResponseWriter, from, request string) {
	s.setNamed(w, s.fromCookie(), base64.RawURLEncoding.EncodeToString([]byte(from))+"."+sumOf(request), 0)
}

func sumOf(request string) string {
	sum := sha256.Sum256([]byte(request))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Forget drops what Remember kept.
func (s Site) Forget(w http.ResponseWriter) { s.setNamed(w, s.fromCookie(), "", -1) }

// Remembered gives what Remember kept for a request, if it is the address of a
// page.
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

// Own tells whether an address is one of this server's.
func (s Site) Own(address string) bool {
	return strings.HasPrefix(address+"/", s.AuthURL+"/") || strings.HasPrefix(address+"/", s.BaseURL+"/")
}

// CrossOrigin refuses forms that other sites send. Pages of the addresses by
// which people reach the server are its own, also where a proxy passes another
// Host on.
func (s Site) CrossOrigin(deny http.Handler) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(deny)
	for _, address := range []string{s.BaseURL, s.AuthURL} {
		at, err := url.Parse(address)
		if err != nil || at.Host == "" {
			continue
		}
		_ = protection.AddTrustedOrigin(originOf(at)) // fails for what no origin equals
	}
	return protection
}
