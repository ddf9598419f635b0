package lyceum

import "time"

// OAuthAppID identifies an OAuth app. It is not its Client ID.
type OAuthAppID int32

// OAuthAppSequence numbers a school's OAuth apps.
const OAuthAppSequence Sequence = "oauth_app_id"

// InterfaceVersion is the version of the public API that an app uses; apps for one version do
// not work with the other (docs/oauth.md).
type InterfaceVersion uint8

// The versions of the public API.
const (
	V1 InterfaceVersion = 1
	V2 InterfaceVersion = 2
)

// OAuthApp is a program that the school's owner registered to act for learners.
type OAuthApp struct {
	ID                  OAuthAppID
	Name                string
	Version             InterfaceVersion
	RedirectURL         string
	ClientID            string
	SecretHash          KeyHash
	CreatedAt           time.Time
	RequirePKCE         bool
	RotateRefreshTokens bool
	OldSecretHash       Opt[KeyHash] // valid until OldSecretUntil, so that programs can be switched to the new secret
	OldSecretUntil      Opt[time.Time]
	LastUsedAt          Opt[time.Time] // accurate to a few seconds
	DisabledAt          Opt[time.Time]
	DeletedAt           Opt[time.Time] // kept for the audit trail but shown nowhere
}

// Active reports whether the app may be used at all.
func (a *OAuthApp) Active() bool { return !a.DisabledAt.Present && !a.DeletedAt.Present }

// Shown returns the fingerprint of the fields of an app that can be changed.
func (a *OAuthApp) Shown() string {
	return Fingerprint(a.Name, a.RedirectURL, a.RequirePKCE, a.RotateRefreshTokens)
}

// OAuthAppFilter narrows OAuth apps; absent fields match everything.
type OAuthAppFilter struct {
	ClientID  Opt[string]
	Undeleted bool // only those that are not deleted
}
