package lyceum

import "time"

// AccessToken lets an app act for a learner for a while. Only its hash is kept.
type AccessToken struct {
	Hash      KeyHash
	Grant     GrantID
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt Opt[time.Time]
}
