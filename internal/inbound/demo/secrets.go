package demo

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Secrets are the raw credentials of the generated school, a function of the seed only.
// The caller formats and hashes them.
type Secrets struct {
	APIKey, V1ClientSecret, V2ClientSecret, V1ClientID, V2ClientID [32]byte

	// The passwords are three words and four digits: quick to type, and not on any list of
	// common passwords.
	OwnerPassword, LearnerPassword string
	OwnerSalt, LearnerSalt         [16]byte

	Ring [32]byte // the server's secret key
}

func (s seed) secrets() Secrets {
	rng := s.stream("secrets")
	var made Secrets
	for _, b := range [][]byte{
		made.APIKey[:], made.V1ClientSecret[:], made.V2ClientSecret[:], made.V1ClientID[:], made.V2ClientID[:],
		made.OwnerSalt[:], made.LearnerSalt[:],
	} {
		for ; len(b) > 0; b = b[8:] {
			binary.LittleEndian.PutUint64(b, rng.Uint64())
		}
	}
	made.OwnerPassword = password(rng)
	made.LearnerPassword = password(rng)
	for b := made.Ring[:]; len(b) > 0; b = b[8:] {
		binary.LittleEndian.PutUint64(b, rng.Uint64())
	}
	return made
}

var passwordWords = [...]string{
	"amber", "anvil", "bramble", "candle", "cedar", "chisel", "clover", "cobalt", "copper", "damson",
	"ember", "fennel", "ferry", "flint", "garnet", "gimlet", "hazel", "heron", "indigo", "juniper",
	"kettle", "lantern", "larch", "linen", "magpie", "mallet", "maple", "marble", "nettle", "ochre",
	"orchard", "otter", "pebble", "pewter", "plover", "quill", "quince", "raven", "russet", "saddle",
	"sorrel", "spindle", "tallow", "teasel", "thimble", "trestle", "umber", "velvet", "walnut", "willow",
}

func password(rng *rand.Rand) string {
	word := func() string { return passwordWords[rng.IntN(len(passwordWords))] }
	return fmt.Sprintf("%s-%s-%s-%04d", word(), word(), word(), rng.IntN(10_000))
}
