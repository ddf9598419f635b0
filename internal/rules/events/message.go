package events

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// envelope returns the body of a message: the event around its object, with the id of the
// delivery. With asArray, it is an array with one element. A test is not livemode.
func envelope(p *lyceum.EventPayload, delivery lyceum.WebhookEventID, asArray bool) []byte {
	b := make([]byte, 0, len(p.Object)+160)
	if asArray {
		b = append(b, '[')
	}
	b = append(append(b, `{"type":"`...), p.Event...)
	b = strconv.AppendBool(append(b, `","livemode":`...), p.Number >= 0) // numbers below 0 are those of tests
	b = strconv.AppendInt(append(b, `,"id":`...), int64(p.ObjectID), 10)
	b = append(append(b, `,"created":"`...), p.At.UTC().Format(envelopeTime)...)
	b = strconv.AppendInt(append(b, `","hook_event_id":`...), int64(delivery), 10)
	b = append(append(append(b, `,"object":`...), p.Object...), '}')
	if asArray {
		b = append(b, ']')
	}
	return b
}

// envelopeTime is the layout of the envelope's time; all other times end in Z.
const envelopeTime = "2006-01-02T15:04:05+00:00"

// MessageID returns the webhook-id of a delivery, which is the same for each attempt.
func MessageID(school lyceum.SchoolID, id lyceum.WebhookEventID) string {
	return fmt.Sprintf("evt_%d_%d", school, id)
}

const secretPrefix = "whsec_"

// A secret has 24 to 64 bytes (Standard Webhooks 1.0.0, Signature scheme).
const minSecret, maxSecret = 24, 64

// SecretText formats a key as receivers get it: whsec_ and its base64.
func SecretText(key []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(key) }

// ParseSecret parses the output of SecretText, for keys of 24 to 64 bytes. It accepts only one
// spelling of each key. The error contains nothing of the text.
func ParseSecret(text string) ([]byte, error) {
	encoded, found := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(key) < minSecret || len(key) > maxSecret || SecretText(key) != text {
		return nil, lyceum.Invalidf("a secret is whsec_ and the base64 of %d to %d bytes", minSecret, maxSecret)
	}
	return key, nil
}
