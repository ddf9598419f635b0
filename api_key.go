package lyceum

import (
	"strings"
	"time"
)

// APIKeyID names an API key. It is not secret and is not the key.
type APIKeyID int32

// APIKeySequence numbers a school's API keys.
const APIKeySequence Sequence = "api_key_id"

// Permissions is the set of things an API key may do.
type Permissions uint8

// The permissions a key can have.
const (
	Read     Permissions = 1 << iota // ask for anything of the school
	Write                            // change anything of the school but accounts
	Accounts                         // change the email addresses, passwords and roles of users
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
	if p.Allows(Accounts) {
		names = append(names, "accounts")
	}
	return strings.Join(names, ",")
}

// PermissionsTaken says what permissions can be, worded to follow their name.
const PermissionsTaken = "must be read, write, accounts or some of them, such as read,write"

// ParsePermissions reads a comma-separated list of read, write and accounts.
func ParsePermissions(s string) (Permissions, error) {
	var p Permissions
	for name := range strings.SplitSeq(s, ",") {
		switch strings.TrimSpace(name) {
		case "read":
			p |= Read
		case "write":
			p |= Write
		case "accounts":
			p |= Accounts
		default:
			return 0, Invalidf("permissions " + PermissionsTaken)
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
	// UserID is the member of staff who made the key: it may do what they may.
	// Absent: the key is the school's.
	UserID Opt[UserID]
}

// APIKeyFilter narrows API keys; an absent part holds always.
type APIKeyFilter struct {
	Hash Opt[KeyHash]
	User Opt[UserID] // only those of this member of staff
}
