package lyceum

import "time"

// GrantID names what one learner let one app do. It is not secret.
type GrantID int32

// GrantSequence numbers a school's grants.
const GrantSequence Sequence = "grant_id"

// Grant is what one learner let one app do, by one answer on the consent page.
// Its tokens live and die with it.
type Grant struct {
	ID         GrantID
	App        OAuthAppID
	User       UserID
	Scopes     Scopes
	CreatedAt  time.Time
	LastUsedAt Opt[time.Time] // to within a few seconds
	RevokedAt  Opt[time.Time]
}

// GrantFilter narrows grants; an absent part holds always.
type GrantFilter struct {
	ID        Opt[GrantID]
	App       Opt[OAuthAppID]
	User      Opt[UserID]
	Unrevoked bool // only those that are not revoked
}

// Standing is a grant with the app it was given to and the user who gave it.
type Standing struct {
	Grant Grant
	App   OAuthApp
	User  User
}

// Good tells whether an app may act on the grant now.
func (s *Standing) Good() bool {
	return !s.Grant.RevokedAt.Present && s.App.Active() && !s.User.DisabledAt.Present
}

// Standings find a secret that an app shows together with what it stands for.
type Standings[T any] interface {
	// Get returns both whatever their state, and fails with NotFound when there is
	// no such secret. It is one statement, because every request of an app needs
	// it.
	Get(from Source, hash KeyHash) (T, Standing, error)
}
