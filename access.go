package lyceum

import (
	"slices"
	"strings"
	"time"
)

// Ids of what lets people and programs in.
type (
	// GrantID names what one learner let one app do. It is not secret.
	GrantID int32
)

// GrantSequence numbers a school's grants.
const GrantSequence Sequence = "grant_id"

// Scope is one permission that an app can be granted (docs/oauth.md, "Scopes").
type Scope string

// Scopes is a set of scopes in ascending order without repetition; make one
// with NewScopes or ParseScopes.
type Scopes []Scope

// NewScopes makes a set.
func NewScopes(list ...Scope) Scopes {
	set := slices.Sorted(slices.Values(list))
	return slices.Compact(set)
}

// ParseScopes reads a space-separated list as RFC 6749, section 3.3, writes it.
func ParseScopes(text string) Scopes {
	var list []Scope
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' }) {
		list = append(list, Scope(name))
	}
	return NewScopes(list...)
}

// String gives the set as a space-separated list.
func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// Has tells whether the set has a scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Covers tells whether every scope of other is in the set.
func (s Scopes) Covers(other Scopes) bool {
	return !slices.ContainsFunc(other, func(scope Scope) bool { return !s.Has(scope) })
}

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
	Grant Opt[GrantID]
	App   Opt[OAuthAppID]
	User  Opt[UserID]
	Limit int // of grants at once; 0 is all
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

// AccessToken lets an app act for a learner for a while. Only its hash is kept.
type AccessToken struct {
	Hash      KeyHash
	Grant     GrantID
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt Opt[time.Time]
}

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

// Session is a person's stay in the browser. Only the hash of its id is kept,
// and of where it is as much as its owner recognises it by.
type Session struct {
	Hash      KeyHash
	User      UserID
	CreatedAt time.Time
	SeenAt    time.Time
	Address   string // the network it began from, such as 192.0.2.0/24; may be empty
	Browser   string // its family and system, such as Firefox on Linux; may be empty
}

// LinkPurpose is what a one-time link lets its bearer do.
type LinkPurpose string

// The purposes of one-time links. Both set a password; they are bounded apart,
// so that whoever asks for letters ends no link that an owner passed on.
const (
	SetPassword    LinkPurpose = "set_password"    // #nosec G101 -- made by an owner
	ForgotPassword LinkPurpose = "forgot_password" // #nosec G101 -- sent on request
)

// Link is a one-time link for a user who cannot sign in. Only the hash of its
// secret is kept.
type Link struct {
	Hash      KeyHash
	User      UserID
	Purpose   LinkPurpose
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    Opt[time.Time]
}
