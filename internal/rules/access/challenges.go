package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// challenges detects apps that send the same code_challenge in several requests, which defeats
// the purpose of PKCE (RFC 9700, section 2.1.1). It remembers only hashes, and only for a day.
type challenges struct {
	mu     sync.Mutex
	begin  time.Time
	seen   map[[sha256.Size]byte]bool
	reused int64
}

const (
	challengeMemory = 24 * time.Hour
	maxChallenges   = 100_000
)

func (c *challenges) see(clientID, challenge string, now time.Time) {
	key := sha256.Sum256([]byte(clientID + " " + challenge))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || now.Sub(c.begin) >= challengeMemory || len(c.seen) >= maxChallenges {
		c.begin, c.seen = now, map[[sha256.Size]byte]bool{}
	}
	if c.seen[key] {
		c.reused++
	}
	c.seen[key] = true
}

// ReusedChallenges returns how many codes were issued since the start for a code_challenge that
// the app had sent before.
func (o *OAuth) ReusedChallenges() int64 {
	o.challenges.mu.Lock()
	defer o.challenges.mu.Unlock()
	return o.challenges.reused
}
