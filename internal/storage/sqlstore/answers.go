package sqlstore

import (
	"crypto/sha256"
	"time"

	"github.com/lyceum-school/lyceum"
)

// keyOf is what an Idempotency-Key of an actor is kept as. No actor and no key
// has a NUL character.
func keyOf(actor, key string) []byte {
	sum := sha256.Sum256([]byte(actor + "\x00" + key))
	return sum[:]
}

// keyOfAll is what keys were kept as while all actors of a school shared them.
func keyOfAll(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// ClaimAnswer locks the key's row until this transaction ends.
func (t *tx) ClaimAnswer(a lyceum.KeptAnswer) (lyceum.KeptAnswer, bool, error) {
	// A key that was kept before they belonged to actors holds for all of them,
	// until it is swept out: a request may be repeated over an update.
	if kept, there, err := t.keptAnswer(a.Key, keyOfAll(a.Key)); err != nil || there {
		return kept, false, err
	}
	hash := keyOf(t.stamp.Actor, a.Key)
	var at time.Time
	fresh, err := t.q.one("INSERT INTO answers (school_id, hash, request, created_at) VALUES ($1, $2, $3, $4) ON "+
		"CONFLICT (school_id, hash) DO NOTHING RETURNING created_at",
		[]any{int64(t.stamp.School), hash, a.Request[:], micros(a.CreatedAt)}, scanTime(&at))
	if err != nil || fresh {
		return lyceum.KeptAnswer{}, fresh, err
	}
	kept, _, err := t.keptAnswer(a.Key, hash)
	return kept, false, err
}

func (t *tx) keptAnswer(key string, hash []byte) (kept lyceum.KeptAnswer, there bool, err error) {
	kept.Key = key
	there, err = t.q.one("SELECT request, created_at, body FROM answers WHERE school_id = $1 AND hash = $2",
		[]any{int64(t.stamp.School), hash}, scanHash(&kept.Request), scanTime(&kept.CreatedAt), scanOptText(&kept.Body))
	return kept, there, err
}

func (t *tx) KeepAnswer(key, body string) error {
	return t.q.exec("UPDATE answers SET body = $3 WHERE school_id = $1 AND hash = $2", int64(t.stamp.School),
		keyOf(t.stamp.Actor, key), body)
}
