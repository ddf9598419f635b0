package lyceum

import "time"

// OAuthAppID names a registered OAuth application. It is not its client id.
type OAuthAppID int32

// OAuthAppSequence numbers a school's OAuth apps.
const OAuthAppSequence Sequence = "oauth_app_id"

// InterfaceVersion is the version of the public interface an app speaks; apps
// of one version do not work on the other (docs/oauth.md).
type InterfaceVersion uint8

// The versions of the public interface.
const (
	V1 InterfaceVersion = 1
	V2 InterfaceVersion = 2
)

// OAuthApp is a program registered by the school's owner to act for learners.
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
	OldSecretHash       Opt[KeyHash] // good until OldSecretUntil, so that a program can be changed over
	OldSecretUntil      Opt[time.Time]
	LastUsedAt          Opt[time.Time] // to within a few seconds
	DisabledAt          Opt[time.Time]
	DeletedAt           Opt[time.Time] // it stays for the audit trail and is shown nowhere
}

// Active tells whether the app may be used at all.
func (a *OAuthApp) Active() bool { return !a.DisabledAt.Present && !a.DeletedAt.Present }

// Shown is the fingerprint of what can be changed of an app.
func (a *OAuthApp) Shown() string {
	return Fingerprint(a.Name, a.RedirectURL, a.RequirePKCE, a.RotateRefreshTokens)
}

// OAuthAppFilter narrows OAuth apps; an absent part holds always.
type OAuthAppFilter struct {
	ClientID  Opt[string]
	Undeleted bool // only those that are not deleted
}
