package lyceum

import "time"

// AccessToken allows an app to act for a learner for a limited time. Only its hash is stored.
type AccessToken struct {
	Hash      KeyHash
	Grant     GrantID
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt Opt[time.Time]
}
