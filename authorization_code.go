package lyceum

import "time"

// AuthorizationCode is what an app exchanges once for tokens (RFC 6749, section 4.1.2). Only
// its hash is stored.
type AuthorizationCode struct {
	Hash        KeyHash
	Grant       GrantID
	RedirectURL string      // as registered when the code was issued
	Challenge   Opt[string] // S256 (RFC 7636, section 4.2)
	CreatedAt   time.Time
	ExpiresAt   time.Time
	UsedAt      Opt[time.Time]
}

// Expired reports whether an unused code has expired. A used code is kept until its ExpiresAt,
// so that a replay of it is detected.
func (c *AuthorizationCode) Expired(now time.Time) bool {
	return !c.UsedAt.Present && !now.Before(c.ExpiresAt)
}

// AuthorizationCodeFilter narrows authorization codes.
type AuthorizationCodeFilter struct {
	Unspent bool // only codes that were not exchanged
}
