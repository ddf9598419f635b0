package lyceum

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"
)

// Once makes a change happen only once, however often it is requested with the same key
// (draft-ietf-httpapi-idempotency-key-header-07).
type Once struct {
	Key     string  // 1 to 255 characters, chosen by the caller
	Request KeyHash // of everything else in the request
	// Render renders the response for the result of the change. The response is stored with the
	// change and returned again when the request is repeated.
	Render func(result any) ([]byte, error)
}

// KeptAnswer is the stored response of a change that happened once.
type KeptAnswer struct {
	Hash      KeyHash // of the key and the actor that chose it
	Request   KeyHash
	CreatedAt time.Time
	Body      string
}

// answerHash identifies the response for a key of an actor: the same key of another actor is a
// different key. Neither actors nor keys contain NUL characters.
func answerHash(actor, key string) KeyHash { return sha256.Sum256([]byte(actor + "\x00" + key)) }

// sharedHash identifies a response that was stored when all actors of a school still shared
// their keys. It is valid for all of them until it is swept, because a request may be repeated
// across an update of the program.
func sharedHash(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// RepeatError is the error for a change that has already happened. Body is the original
// response.
type RepeatError struct{ Body []byte }

func (*RepeatError) Error() string { return "this request was answered before" }

// Change runs a change with a result in a transaction of the school. If stamp.Once is set and a
// change with the same key was already made, it is not made again: the error is a *RepeatError,
// or Invalid with the code idempotency_key_reused if the key was used for a different request.
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

// answer stores the response of a change that happens once.
func answer(tx Tx, stamp Stamp, result any) error {
	body, err := stamp.Once.Render(result)
	if err != nil {
		return err
	}
	return tx.Answers.Insert(tx, KeptAnswer{
		Hash: answerHash(stamp.Actor, stamp.Once.Key), Request: stamp.Once.Request, CreatedAt: stamp.At, Body: string(body),
	})
}

// progressHash identifies the stored progress of a change in parts.
func progressHash(stamp Stamp) KeyHash { return answerHash(stamp.Actor, stamp.Once.Key+"\x00progress") }

// ChangeInParts runs a change that is too long for one transaction in several transactions,
// until a part reports that there are no more, and returns the progress. With stamp.Once,
// progress is stored with each part as JSON: a request that repeats the key meanwhile, or after
// a crash, resumes from there. Errors are those of Change; result returns the argument of
// Render.
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

// resume reads the progress of a change in parts. It fails as Change would if the change was
// already made.
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

// CheckOnce fails as Change would if the change with the key of stamp.Once, which must not be
// nil, was already made.
func CheckOnce(ctx context.Context, store Store, stamp Stamp) error {
	v := store.In(ctx, stamp.School)
	return unanswered(v.Tables, v, stamp)
}

// unanswered fails if a response is stored for the change's key. None can be added before the
// change ends, because the changes of a school take turns.
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
