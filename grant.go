package lyceum

import "time"

// GrantID identifies a grant. It is not secret.
type GrantID int32

// GrantSequence numbers a school's grants.
const GrantSequence Sequence = "grant_id"

// Grant is what a learner allowed an app to do, by one answer on the consent page. Its tokens
// are valid only as long as the grant.
type Grant struct {
	ID         GrantID
	App        OAuthAppID
	User       UserID
	Scopes     Scopes
	CreatedAt  time.Time
	LastUsedAt Opt[time.Time] // accurate to a few seconds
	RevokedAt  Opt[time.Time]
}

// GrantFilter narrows grants; absent fields match everything.
type GrantFilter struct {
	ID        Opt[GrantID]
	App       Opt[OAuthAppID]
	User      Opt[UserID]
	Unrevoked bool // only those that are not revoked
}

// Standing is a grant with its app and its user.
type Standing struct {
	Grant Grant
	App   OAuthApp
	User  User
}

// Good reports whether the app may act on the grant now.
func (s *Standing) Good() bool {
	return !s.Grant.RevokedAt.Present && s.App.Active() && !s.User.DisabledAt.Present && !s.User.Erased()
}

// Standings finds a secret that an app sent, together with its grant.
type Standings[T any] interface {
	// Get returns both in any state, and fails with NotFound if there is no such secret. It is
	// a single statement, because every request of an app needs it.
	Get(from Source, hash KeyHash) (T, Standing, error)
}
