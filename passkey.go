package lyceum

import "time"

// Passkey is a key of a person's device or password manager, with which they sign in after or
// instead of their password. Only its public part is stored.
type Passkey struct {
	Hash       KeyHash // of Credential
	User       UserID
	Name       string // chosen by its owner
	Credential string // credential id assigned by the device, in base64url
	PublicKey  string // in COSE, in base64url
	Uses       int64  // the device's last signature counter; 0: it does not count
	Flags      uint8  // the device's last authenticator data flags (WebAuthn, section 6.1)
	CreatedAt  time.Time
	LastUsedAt Opt[time.Time]
}

// ID returns the passkey's id in forms: a UUID derived from the hash.
func (p *Passkey) ID() string { return uuidOf(p.Hash) }

// PasskeyFilter narrows passkeys; absent fields match everything. They are listed oldest first.
type PasskeyFilter struct{ User Opt[UserID] }

// The limits of passkeys.
const (
	MaxPasskeys    = 20 // per person
	MaxPasskeyName = 60 // characters
)

// The journal entries of passkeys. Their object is the user.
const (
	PasskeyAdded   EntryType = "user.passkey_added"
	PasskeyRemoved EntryType = "user.passkey_removed"
)
