package lyceum

import "time"

// Passkey is a key of a person's device or password manager, which they sign in with
// after their password or in place of it. Only its public part is kept.
type Passkey struct {
	Hash       KeyHash // of Credential
	User       UserID
	Name       string // what its owner knows it by
	Credential string // the name that the device gave it; in base64url
	PublicKey  string // in COSE, in base64url
	Uses       int64  // as the device last counted them; 0: it does not count
	Flags      uint8  // what the device last said of it (WebAuthn, section 6.1)
	CreatedAt  time.Time
	LastUsedAt Opt[time.Time]
}

// ID names the passkey in forms. It is a UUID made of the hash.
func (p *Passkey) ID() string { return uuidOf(p.Hash) }

// PasskeyFilter narrows passkeys; an absent part holds always. They are listed oldest
// first.
type PasskeyFilter struct{ User Opt[UserID] }

// The bounds of passkeys.
const (
	MaxPasskeys    = 20 // of one person
	MaxPasskeyName = 60 // characters
)

// The journal entries of passkeys. Their object is the user.
const (
	PasskeyAdded   EntryType = "user.passkey_added"
	PasskeyRemoved EntryType = "user.passkey_removed"
)
