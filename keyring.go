package lyceum

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// SecretKeySize is the length of a secret key in bytes.
const SecretKeySize = 32

// SecretKey is one of the server's secret keys. It prints as [redacted].
type SecretKey [SecretKeySize]byte

// SecretKeyID identifies a secret key without revealing anything about it. The empty id
// identifies the oldest key, which everything belongs to that was made before keys had ids.
type SecretKeyID string

// String hides the key from logs and messages.
func (SecretKey) String() string { return "[redacted]" }

// GoString hides the key as String does.
func (SecretKey) GoString() string { return "[redacted]" }

// ID returns the id of the key, which is the same in every process.
func (k SecretKey) ID() SecretKeyID { return SecretKeyID(hex.EncodeToString(k.MAC("id")[:8])) }

// MAC returns the HMAC-SHA256 of text. Each use of a key prefixes its texts with its own word.
func (k SecretKey) MAC(text string) []byte {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// Keyring holds the server's secret keys, newest first. The first key signs; all keys verify.
// It is safe for concurrent use. A nil Keyring has no keys.
type Keyring struct{ keys atomic.Pointer[[]SecretKey] }

// NewKeyring returns a keyring with the given keys, newest first.
func NewKeyring(keys ...SecretKey) *Keyring {
	r := &Keyring{}
	r.Replace(keys)
	return r
}

// Replace replaces all keys of the keyring.
func (r *Keyring) Replace(keys []SecretKey) {
	keys = slices.Clone(keys)
	r.keys.Store(&keys)
}

// Keys returns the keys, newest first. The caller must not change them.
func (r *Keyring) Keys() []SecretKey {
	if r == nil || r.keys.Load() == nil {
		return nil
	}
	return *r.keys.Load()
}

// First returns the key that signs, if there is one.
func (r *Keyring) First() (SecretKey, bool) {
	keys := r.Keys()
	if len(keys) == 0 {
		return SecretKey{}, false
	}
	return keys[0], true
}

// Find returns the key with the given id.
func (r *Keyring) Find(id SecretKeyID) (SecretKey, bool) {
	keys := r.Keys()
	if id == "" && len(keys) > 0 {
		return keys[len(keys)-1], true
	}
	for _, key := range keys {
		if key.ID() == id {
			return key, true
		}
	}
	return SecretKey{}, false
}

// Sign returns a signature of text in URL-safe base64. A signature for one purpose is not valid
// for another. If there is no key, ok is false.
func (r *Keyring) Sign(purpose, text string) (signature string, ok bool) {
	key, ok := r.First()
	if !ok {
		return "", false
	}
	return base64.RawURLEncoding.EncodeToString(key.signature(purpose, text)), true
}

// Verify reports whether Sign made the signature for this purpose and text, with any of the
// keys.
func (r *Keyring) Verify(purpose, text, signature string) bool {
	got, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	return err == nil && slices.ContainsFunc(r.Keys(), func(key SecretKey) bool {
		return hmac.Equal(got, key.signature(purpose, text))
	})
}

func (k SecretKey) signature(purpose, text string) []byte {
	return k.MAC("sign " + purpose + "\x00" + text)
}

// Seal encrypts text for storage (AES-256-GCM with a random nonce). Open requires the same
// purpose. If there is no key, ok is false.
func (r *Keyring) Seal(purpose, text string) (sealed string, ok bool) {
	key, ok := r.First()
	if !ok {
		return "", false
	}
	box := key.box(purpose).Seal(nil, nil, []byte(text), []byte(purpose)) // #nosec G407 -- it makes the nonce
	return string(key.ID()) + "." + base64.RawURLEncoding.EncodeToString(box), true
}

// Open decrypts what Seal encrypted. The error is Unavailable if the key is not in the keyring,
// and Internal if the ciphertext was modified or belongs to another purpose.
func (r *Keyring) Open(purpose, sealed string) (string, error) {
	key, ok := r.Find(SealedBy(sealed))
	if !ok {
		return "", Errorf(Unavailable, "the server does not have the secret key %s, which this secret is encrypted with",
			SealedBy(sealed))
	}
	_, encoded, _ := strings.Cut(sealed, ".")
	box, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("read what is sealed: %w", err)
	}
	text, err := key.box(purpose).Open(nil, nil, box, []byte(purpose))
	if err != nil {
		return "", fmt.Errorf("open what is sealed: %w", err)
	}
	return string(text), nil
}

// SealedBy returns the id of the key that a sealed text was encrypted with.
func SealedBy(sealed string) SecretKeyID {
	id, _, _ := strings.Cut(sealed, ".")
	return SecretKeyID(id)
}

// box returns the cipher that seals texts for a purpose. It cannot fail, because the key has
// the right size.
func (k SecretKey) box(purpose string) cipher.AEAD {
	block, err := aes.NewCipher(k.MAC("seal " + purpose))
	if err != nil {
		panic(err)
	}
	box, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return box
}
