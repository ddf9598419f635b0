package access

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// A secret has the form prefix_school_random. The prefix says what it is, so that scanners can
// recognize a leaked one; the school says whose rows to search; the random part has 256 bits
// and a checksum, so that a mistyped secret is rejected without querying the store. Only the
// characters [A-Za-z0-9_] occur.
const (
	keyPrefix    = "lyceum_key_"
	appPrefix    = "lyceum_app_"
	secretPrefix = "lyceum_secret_"

	codePrefix    = "lyceum_code_"
	accessPrefix  = "lyceum_at_"
	refreshPrefix = "lyceum_rt_"
	sessionPrefix = "lyceum_session_"
	linkPrefix    = "lyceum_link_"

	randomLength = 43 // of 256 bits in base 62
	sumLength    = 6  // of 32 bits in base 62
)

// Entropy is the randomness of one secret.
type Entropy [32]byte

// NewEntropy reads the system's random source.
func NewEntropy() Entropy {
	var e Entropy
	_, _ = rand.Read(e[:]) // crypto/rand.Read never fails
	return e
}

// KeyText returns a school's API key with the given randomness. It is secret: it is shown to
// its owner once and nowhere else.
func KeyText(school lyceum.SchoolID, e Entropy) string { return secretText(keyPrefix, school, e) }

// ClientID returns the client id of a school's OAuth app. It is not secret.
func ClientID(school lyceum.SchoolID, e Entropy) string { return secretText(appPrefix, school, e) }

// ClientSecret returns the client secret of a school's OAuth app. It is shown to the app's
// owner once and nowhere else.
func ClientSecret(school lyceum.SchoolID, e Entropy) string {
	return secretText(secretPrefix, school, e)
}

func secretText(prefix string, school lyceum.SchoolID, e Entropy) string {
	text := prefix + strconv.Itoa(int(school)) + "_" + base62(e[:], randomLength)
	return text + checksum(text)
}

// HashSecret returns what the store saves of a secret.
func HashSecret(text string) lyceum.KeyHash { return sha256.Sum256([]byte(text)) }

// schoolOf returns the school in a secret with the given prefix; ok is false if the text is not
// a valid secret.
func schoolOf(prefix, text string) (school lyceum.SchoolID, ok bool) {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return 0, false
	}
	number, random, ok := strings.Cut(rest, "_")
	if !ok || len(random) != randomLength+sumLength || len(number) == 0 || number[0] == '0' || number[0] == '+' {
		return 0, false
	}
	id, err := strconv.ParseInt(number, 10, 32)
	if err != nil || id < 1 {
		return 0, false
	}
	sum := len(text) - sumLength
	return lyceum.SchoolID(id), checksum(text[:sum]) == text[sum:]
}

func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	return base62([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, sumLength)
}

// base62 writes a number with digits, lowercase and uppercase letters, padded with zeros to the
// given length.
func base62(number []byte, length int) string {
	text := new(big.Int).SetBytes(number).Text(62)
	return strings.Repeat("0", length-len(text)) + text
}
