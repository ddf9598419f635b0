package lyceum

import (
	"strings"
	"time"
)

// APIKeyID identifies an API key. It is not the key and not secret.
type APIKeyID int32

// APIKeySequence numbers a school's API keys.
const APIKeySequence Sequence = "api_key_id"

// Permissions is the set of things an API key may do.
type Permissions uint8

// The permissions that a key can have.
const (
	Read     Permissions = 1 << iota // read everything in the school
	Write                            // change everything in the school except accounts
	Accounts                         // change users' email addresses, passwords and roles
)

// Allows reports whether p contains every permission in need.
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

// PermissionsTaken says which permissions are valid, worded to follow the field's name.
const PermissionsTaken = "must be read, write, accounts or some of them, such as read,write"

// ParsePermissions parses a comma-separated list of read, write and accounts.
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

// KeyHash is the SHA-256 hash of a secret. Only the hash is stored.
type KeyHash [32]byte

// APIKey is a program's credential for one school. The key itself is shown once, when it is
// created, and is not stored.
type APIKey struct {
	ID          APIKeyID
	Name        string
	Permissions Permissions
	Hash        KeyHash
	LastFour    string // the last characters of the key, to recognize it on a page
	CreatedAt   time.Time
	LastUsedAt  Opt[time.Time] // accurate to a few seconds
	RevokedAt   Opt[time.Time]
	// UserID is the member of staff who created the key: it may do what they may do. If absent,
	// the key belongs to the school.
	UserID Opt[UserID]
}

// APIKeyFilter narrows API keys; absent fields match everything.
type APIKeyFilter struct {
	Hash Opt[KeyHash]
	User Opt[UserID] // only keys of this member of staff
	// Unrevoked selects only keys that are not revoked.
	Unrevoked bool
}
