package lyceum

import "time"

// LinkPurpose is what a one-time link allows its bearer to do.
type LinkPurpose string

// The purposes of one-time links. The first two set a password; they are limited separately, so
// that requests for emails cannot invalidate a link that an owner passed on.
const (
	SetPassword    LinkPurpose = "set_password"    // #nosec G101 -- made by an owner
	ForgotPassword LinkPurpose = "forgot_password" // #nosec G101 -- sent on request
	ConfirmEmail   LinkPurpose = "confirm_email"   // sent to the address that it confirms
	SecondStep     LinkPurpose = "second_step"     // held by the browser between the password and the second factor
	// PasskeyChallenge grants nothing: it records that a challenge was answered.
	PasskeyChallenge LinkPurpose = "passkey_challenge"
)

// Link is a one-time link for a user who cannot sign in. Only the hash of its secret is stored.
type Link struct {
	Hash      KeyHash
	User      UserID
	Purpose   LinkPurpose
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    Opt[time.Time]
	Email     Opt[string] // the address that it confirms
	MadeBy    Opt[UserID] // the member of staff who made it for somebody else; absent: nobody in particular
}

// LinkFilter narrows links; absent fields match everything. They are listed newest first.
type LinkFilter struct {
	User    Opt[UserID]
	Purpose Opt[LinkPurpose]
	MadeBy  Opt[UserID]
	Unspent bool // only links that were not used
}
