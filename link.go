package lyceum

import "time"

// LinkPurpose is what a one-time link lets its bearer do.
type LinkPurpose string

// The purposes of one-time links. The first two set a password; they are bounded
// apart, so that whoever asks for letters ends no link that an owner passed on.
const (
	SetPassword    LinkPurpose = "set_password"    // #nosec G101 -- made by an owner
	ForgotPassword LinkPurpose = "forgot_password" // #nosec G101 -- sent on request
	ConfirmEmail   LinkPurpose = "confirm_email"   // sent to the address that it confirms
	SecondStep     LinkPurpose = "second_step"     // kept by the browser between password and second factor
	// PasskeyChallenge lets nobody do anything: it keeps that a challenge was answered.
	PasskeyChallenge LinkPurpose = "passkey_challenge"
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
	Email     Opt[string] // that it confirms
}

// LinkFilter narrows links; an absent part holds always. They are listed newest
// first.
type LinkFilter struct {
	User    Opt[UserID]
	Purpose Opt[LinkPurpose]
	Unspent bool // only those that nobody used
}
