package lyceum

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"
)

// Once makes a change happen once, however often it is asked for with the same
// key (draft-ietf-httpapi-idempotency-key-header-07).
type Once struct {
	Key     string  // 1 to 255 characters, chosen by the caller
	Request KeyHash // of everything else that was asked
	// Render gives the answer to the change's result. It is kept with the
	// change and given again to whoever asks again.
	Render func(result any) ([]byte, error)
}

// KeptAnswer is what a change that happened once left.
type KeptAnswer struct {
	Hash      KeyHash // of the key and the actor who chose it
	Request   KeyHash
	CreatedAt time.Time
	Body      string
}

// answerHash names the answer for a key of an actor: the same key of another
// actor is another key. No actor and no key has a NUL character.
func answerHash(actor, key string) KeyHash { return sha256.Sum256([]byte(actor + "\x00" + key)) }

// sharedHash names an answer kept while all actors of a school shared their
// keys. It holds for all of them until it is swept out: a request may be
// repeated over an update.
func sharedHash(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// RepeatError is the error of a change that has happened before; Body is the
// answer it gave.
type RepeatError struct{ Body []byte }

func (*RepeatError) Error() string { return "this request was answered before" }

// Change runs a change that has a result in a transaction of the school. With
// stamp.Once a change that was made before with the key is not made again: the
// error is a *RepeatError, or Invalid with the code idempotency_key_reused when
// something else was asked then.
func Change[T any](ctx context.Context, store Store, stamp Stamp, change func(Tx) (T, error)) (T, error) {
	var result T
	err := store.Write(ctx, stamp, func(tx Tx) error {
		if stamp.Once != nil {
			if err := unanswered(tx.Tables, tx, stamp); err != nil {
				return err
			}
		}
		var err error
		if result, err = change(tx); err != nil || stamp.Once == nil {
			return err
		}
		return answer(tx, stamp, result)
	})
	return result, err
}

// answer keeps the answer to a change that happens once.
func answer(tx Tx, stamp Stamp, result any) error {
	body, err := stamp.Once.Render(result)
	if err != nil {
		return err
	}
	return tx.Answers.Insert(tx, KeptAnswer{
		Hash: answerHash(stamp.Actor, stamp.Once.Key), Request: stamp.Once.Request, CreatedAt: stamp.At, Body: string(body),
	})
}

// progressHash names how far a change in parts has come.
func progressHash(stamp Stamp) KeyHash { return answerHash(stamp.Actor, stamp.Once.Key+"\x00progress") }

// ChangeInParts runs a change that is too long for one transaction, in several, until a
// part is not followed by more, and returns how far it came. With stamp.Once that is
// kept with each part as JSON: whoever asks with the key meanwhile, or after a crash,
// goes on from there. The error is that of Change; result is what Render is given.
func ChangeInParts[P, T any](ctx context.Context, store Store, stamp Stamp,
	part func(Tx, P) (next P, more bool, err error), result func(P) T,
) (P, error) {
	var come P
	for more := true; more; {
		var next P
		err := store.Write(ctx, stamp, func(tx Tx) error {
			from := come
			if stamp.Once != nil {
				if err := resume(tx, stamp, &from); err != nil {
					return err
				}
			}
			var err error
			if next, more, err = part(tx, from); err != nil || stamp.Once == nil {
				return err
			}
			if !more {
				return answer(tx, stamp, result(next))
			}
			body, err := json.Marshal(next)
			if err != nil {
				return err
			}
			_, err = tx.Answers.Save(tx, KeptAnswer{
				Hash: progressHash(stamp), Request: stamp.Once.Request, CreatedAt: stamp.At, Body: string(body),
			})
			return err
		})
		if err != nil {
			return come, err
		}
		come = next
	}
	return come, nil
}

// resume reads how far a change in parts has come. It fails as Change would if it was
// made before.
func resume(tx Tx, stamp Stamp, come any) error {
	if err := unanswered(tx.Tables, tx, stamp); err != nil {
		return err
	}
	kept, err := tx.Answers.Find(tx, progressHash(stamp))
	progress, begun := kept[progressHash(stamp)]
	if err != nil || !begun {
		return err
	}
	if progress.Request != stamp.Once.Request {
		return errKeyReused
	}
	return json.Unmarshal([]byte(progress.Body), come)
}

var errKeyReused = &Error{
	Kind: Invalid, Code: "idempotency_key_reused",
	Detail: "this Idempotency-Key was used for a different request; use a new key for each request, and the same key " +
		"only to retry it",
}

// CheckOnce fails as Change would if the change with the key of stamp.Once, which must be
// there, was made before.
func CheckOnce(ctx context.Context, store Store, stamp Stamp) error {
	v := store.In(ctx, stamp.School)
	return unanswered(v.Tables, v, stamp)
}

// unanswered fails if an answer was kept for the change's key. None is added
// before the change ends, because the changes of a school take turns.
func unanswered(tables *Tables, from Source, stamp Stamp) error {
	shared, own := sharedHash(stamp.Once.Key), answerHash(stamp.Actor, stamp.Once.Key)
	answers, err := tables.Answers.Find(from, shared, own)
	if err != nil {
		return err
	}
	kept, found := answers[shared]
	if !found {
		kept, found = answers[own]
	}
	switch {
	case !found:
		return nil
	case kept.Request != stamp.Once.Request:
		return errKeyReused
	}
	return &RepeatError{Body: []byte(kept.Body)}
}
