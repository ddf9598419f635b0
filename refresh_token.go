package lyceum

import "time"

// RefreshToken gets an app further access tokens. Only its hash is kept.
type RefreshToken struct {
	Hash       KeyHash
	Grant      GrantID
	Scopes     Scopes
	CreatedAt  time.Time
	UsedAt     time.Time      // last; CreatedAt when never
	ReplacedAt Opt[time.Time] // by the next one, where the app rotates them
	ReplacedBy Opt[KeyHash]   // absent when a sibling was used in its place
	Parent     Opt[KeyHash]   // the one that it replaced; siblings have one parent
	Family     time.Time      // when the first of its line was made
}

// RefreshTokenFilter narrows refresh tokens; an absent part holds always.
type RefreshTokenFilter struct {
	Parent Opt[KeyHash]
	// Except leaves one out, and Unused those that were replaced.
	Except Opt[KeyHash]
	Unused bool
}
