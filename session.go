package lyceum

import (
	"encoding/hex"
	"time"
)

// Session is a person's stay in the browser. Only the hash of its id is kept,
// and of where it is as much as its owner recognises it by.
type Session struct {
	Hash      KeyHash
	User      UserID
	CreatedAt time.Time
	SeenAt    time.Time
	Address   string // the network it began from, such as 192.0.2.0/24; may be empty
	Browser   string // its family and system, such as Firefox on Linux; may be empty
	// ConfirmedAt is when the person last showed in it who they are: by password and
	// second factor. The zero time: never.
	ConfirmedAt time.Time
}

// ID names the session where its secret has no place. It says nothing of the
// secret, and is a UUID of a form of its own (RFC 9562, section 5.8).
func (s *Session) ID() string { return uuidOf(s.Hash) }

func uuidOf(hash KeyHash) string {
	b := [16]byte(hash[:16])
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// SessionFilter narrows sessions; an absent part holds always. They are listed
// oldest first.
type SessionFilter struct {
	User       Opt[UserID]
	SeenAfter  Opt[time.Time] // excluded
	BegunAfter Opt[time.Time] // excluded
	SeenFrom   Opt[time.Time] // included
	SeenUntil  Opt[time.Time] // excluded
	LastSeen   bool           // the last seen first
}
