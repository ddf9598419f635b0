package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

const secretPrefix = "whsec_"

// A secret has 24 to 64 bytes (Standard Webhooks 1.0.0, Signature scheme).
const minSecret, maxSecret = 24, 64

// Sign gives the webhook-signature header (Standard Webhooks 1.0.0): for each
// secret "v1," and the base64 of the HMAC-SHA256 of "id.timestamp.body",
// separated by spaces. Without secrets it is empty.
func Sign(id string, at time.Time, body []byte, secrets ...[]byte) string {
	begin := []byte(id + "." + strconv.FormatInt(at.Unix(), 10) + ".")
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(begin)
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}

// SecretText writes a key as a receiver is given it: whsec_ and its base64.
func SecretText(key []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(key) }

// ParseSecret reads what SecretText writes, for keys of 24 to 64 bytes. It
// takes one spelling of each key. The error holds nothing of the text.
func ParseSecret(text string) ([]byte, error) {
	encoded, found := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(key) < minSecret || len(key) > maxSecret || SecretText(key) != text {
		return nil, lyceum.Invalidf("a secret is whsec_ and the base64 of %d to %d bytes", minSecret, maxSecret)
	}
	return key, nil
}
