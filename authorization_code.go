package lyceum

import "time"

// AuthorizationCode is what an app exchanges once for tokens (RFC 6749,
// section 4.1.2). Only its hash is kept.
type AuthorizationCode struct {
	Hash        KeyHash
	Grant       GrantID
	RedirectURL string      // as registered when the code was made
	Challenge   Opt[string] // S256 (RFC 7636, section 4.2)
	CreatedAt   time.Time
	ExpiresAt   time.Time
	UsedAt      Opt[time.Time]
}

// Expired reports whether a code that nobody spent is too old to be. A spent
// one is remembered, so that its replay is noticed: its ExpiresAt is when it is
// forgotten.
func (c *AuthorizationCode) Expired(now time.Time) bool {
	return !c.UsedAt.Present && !now.Before(c.ExpiresAt)
}

// AuthorizationCodeFilter narrows codes.
type AuthorizationCodeFilter struct {
	Unspent bool // only those that nobody exchanged
}
