package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Keyring is the server's secret key, of 32 bytes, out of which the secrets of
// webhooks are made. They are kept nowhere: a database or a backup that falls
// into wrong hands signs nothing.
type Keyring []byte

// KeyringSize is the length of a Keyring in bytes.
const KeyringSize = 32

// secret makes the secret of a webhook in one of its generations.
func (k Keyring) secret(school lyceum.SchoolID, id lyceum.WebhookID, generation int32) []byte {
	mac := hmac.New(sha256.New, k)
	fmt.Fprintf(mac, "webhook %d %d %d", school, id, generation)
	return mac.Sum(nil)
}

// Secrets gives the secrets that sign for a webhook at a moment, the newest
// first.
func (k Keyring) Secrets(school lyceum.SchoolID, w *lyceum.Webhook, now time.Time) [][]byte {
	all := [][]byte{k.secret(school, w.ID, w.SecretGeneration)}
	if w.OldSecretUntil.Present && now.Before(w.OldSecretUntil.Value) && w.SecretGeneration > 0 {
		all = append(all, k.secret(school, w.ID, w.SecretGeneration-1))
	}
	return all
}
