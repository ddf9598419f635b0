package web

import (
	"encoding/base64"
	"net/http"
	"time"
)

// addressTime is how long the browser stores the email address of a user who has just chosen a
// password.
const addressTime = 10 * time.Minute

func (s Site) addressCookie() string { return s.cookie() + "-address" }

// KeepAddress stores the email address of a user who has just chosen a password, for the
// sign-in that follows. It is not put into the URL, which others may read.
func (s Site) KeepAddress(w http.ResponseWriter, email string) {
	s.setNamed(w, s.addressCookie(), base64.RawURLEncoding.EncodeToString([]byte(email)), int(addressTime/time.Second))
}

// Address returns the email address that KeepAddress stored, or "".
func (s Site) Address(r *http.Request) string {
	cookie, err := r.Cookie(s.addressCookie())
	if err != nil {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return ""
	}
	return string(text)
}
