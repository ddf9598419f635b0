package access

import (
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a password hash: argon2id with 19 MiB, two passes, one thread.
const (
	hashMemory  = 19 << 10 // KiB
	hashPasses  = 2
	hashThreads = 1
	hashLength  = 32

	maxHashMemory = 256 << 10 // KiB, the most that verifying a stored hash may take
)

// outdated reports whether a hash has other parameters than those created now.
func outdated(kept string) bool {
	return !strings.HasPrefix(kept, fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, hashMemory, hashPasses,
		hashThreads))
}

// HashPassword returns the argon2id hash of a password as a PHC string, which includes its
// cost, so that the cost can be raised later.
func HashPassword(password string, salt [16]byte) string {
	return hashText(salt, argon2.IDKey([]byte(password), salt[:], hashPasses, hashMemory, hashThreads, hashLength))
}

// hashText returns the PHC string of a hash with the current cost.
func hashText(salt [16]byte, hash []byte) string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashPasses, hashThreads,
		encode(salt[:]), encode(hash))
}
