package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Sign returns the webhook-signature header (Standard Webhooks 1.0.0): for each secret, "v1,"
// and the base64 of the HMAC-SHA256 of "id.timestamp.body", separated by spaces. Without
// secrets it is empty.
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
