package lyceum

import (
	"encoding/hex"
	"time"
)

// Session is a signed-in browser. Only the hash of its id is stored, and about its location
// only enough for its owner to recognize it.
type Session struct {
	Hash      KeyHash
	User      UserID
	CreatedAt time.Time
	SeenAt    time.Time
	Address   string // the network it was started from, such as 192.0.2.0/24; may be empty
	Browser   string // browser and operating system, such as Firefox on Linux; may be empty
	// ConfirmedAt is when the person last confirmed their identity in this session, with
	// password and second factor. The zero time means never.
	ConfirmedAt time.Time
}

// ID identifies the session where its secret must not appear. It reveals nothing about the
// secret, and is a UUID of version 8 (RFC 9562, section 5.8).
func (s *Session) ID() string { return uuidOf(s.Hash) }

func uuidOf(hash KeyHash) string {
	b := [16]byte(hash[:16])
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// SessionFilter narrows sessions; absent fields match everything. They are listed oldest first.
type SessionFilter struct {
	User       Opt[UserID]
	SeenAfter  Opt[time.Time] // exclusive
	BegunAfter Opt[time.Time] // exclusive
	SeenFrom   Opt[time.Time] // inclusive
	SeenUntil  Opt[time.Time] // exclusive
	LastSeen   bool           // most recently seen first
}

// EndStays ends a user's sessions and links, which let them in without their password.
func EndStays(tx Tx, user UserID) error {
	if _, err := tx.Sessions.Clear(tx, staysOf(user)); err != nil {
		return err
	}
	_, err := tx.Links.Clear(tx, unspentOf(user))
	return err
}

func staysOf(user UserID) SessionFilter { return SessionFilter{User: Some(user)} }

func unspentOf(user UserID) LinkFilter { return LinkFilter{User: Some(user), Unspent: true} }

// EndAccess ends a user's sessions and links, and revokes their grants to apps. Codes and tokens
// end with their grants.
func EndAccess(tx Tx, user UserID, now time.Time) error {
	grants := GrantFilter{User: Some(user), Unrevoked: true}
	err := tx.Ahead(FirstOf(tx.Sessions, staysOf(user)), FirstOf(tx.Links, unspentOf(user)), AllOf(tx.Grants, grants))
	if err != nil {
		return err
	}
	if err := EndStays(tx, user); err != nil {
		return err
	}
	_, err = tx.RevokeGrants(grants, 0, now)
	return err
}
