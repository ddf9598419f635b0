package lyceum

import "time"

// RefreshToken is a token with which an app gets new access tokens. Only its hash is stored.
type RefreshToken struct {
	Hash       KeyHash
	Grant      GrantID
	Scopes     Scopes
	CreatedAt  time.Time
	UsedAt     time.Time      // last use; CreatedAt if never used
	ReplacedAt Opt[time.Time] // by the next token, if the app rotates them
	ReplacedBy Opt[KeyHash]   // absent if a sibling was used instead
	Parent     Opt[KeyHash]   // the token that it replaced; siblings have the same parent
	Family     time.Time      // when the first token of its line was issued
}

// RefreshTokenFilter narrows refresh tokens; absent fields match everything.
type RefreshTokenFilter struct {
	Parent Opt[KeyHash]
	// Except excludes one token, and Unused excludes those that were replaced.
	Except Opt[KeyHash]
	Unused bool
}
