package lyceum

import (
	"strings"
	"time"
)

// School is one tenant of a server. Everything else belongs to exactly one.
type School struct {
	ID        SchoolID
	Name      string
	CreatedAt time.Time
	// V2Disabled: the second version of the interface, which is in beta, is
	// not for this school.
	V2Disabled bool
	Policy     SalePolicy
	TimeZone   TimeZone // in which its days begin and end
}

// Permissions is the set of things an API key may do.
type Permissions uint8

// The permissions a key can have.
const (
	Read  Permissions = 1 << iota // ask for anything of the school
	Write                         // change anything of the school
)

// Allows tells whether every permission of need is among p.
func (p Permissions) Allows(need Permissions) bool { return p&need == need }

func (p Permissions) String() string {
	var names []string
	if p.Allows(Read) {
		names = append(names, "read")
	}
	if p.Allows(Write) {
		names = append(names, "write")
	}
	return strings.Join(names, ",")
}

// ParsePermissions reads a comma-separated list of read and write.
func ParsePermissions(s string) (Permissions, error) {
	var p Permissions
	for name := range strings.SplitSeq(s, ",") {
		switch strings.TrimSpace(name) {
		case "read":
			p |= Read
		case "write":
			p |= Write
		default:
			return 0, Invalidf("permissions must be read, write or read,write")
		}
	}
	return p, nil
}

// KeyHash is the SHA-256 of a secret. Only the hash is kept.
type KeyHash [32]byte

// APIKey is a credential of a program for one school. The key itself is shown
// once when it is made and is not in here.
type APIKey struct {
	ID          APIKeyID
	Name        string
	Permissions Permissions
	Hash        KeyHash
	LastFour    string // the key's end, to tell one from another on a screen
	CreatedAt   time.Time
	LastUsedAt  Opt[time.Time] // to within a few seconds
	RevokedAt   Opt[time.Time]
}

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
