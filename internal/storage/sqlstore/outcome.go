package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// commitError is an error of the commit itself; everything before it succeeded.
type commitError struct{ err error }

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// outcome is public for a write: the error also says whether nothing was changed or the outcome
// is unknown.
func (s *Store) outcome(err error) error {
	if commit, ok := errors.AsType[*commitError](err); ok && !s.dialect.undone(commit.err) {
		return &lyceum.Error{Kind: lyceum.Unavailable, Code: lyceum.OutcomeUnknown, Err: err, Detail: "the database " +
			"did not confirm the change, so it is unknown whether it was saved; check before you retry, or retry with the " +
			"same Idempotency-Key so that it happens only once"}
	}
	return s.public(err, outcomeUnchanged)
}

// public turns an error that a caller can do something about into an *lyceum.Error, whose detail
// says what is wrong, the consequences and what to do. It returns every other error as it is.
func (s *Store) public(err error, follows ...string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*lyceum.Error](err); ok {
		return err
	}
	if moved, is := errors.AsType[*movedError](err); is {
		return moved.public(cmp.Or(strings.Join(follows, ""), outcomeRefused))
	}

	refuse := func(wrong string, todo ...string) error {
		parts := append(append([]string{wrong}, follows...), todo...)
		return &lyceum.Error{Kind: lyceum.Unavailable, Detail: strings.Join(parts, "; "), Err: err}
	}
	const again = "try again"
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return refuse("the answer took too long", again)
	}
	switch s.dialect.fault(err) {
	case faultRetry, faultBusy:
		return refuse("the database is busy", again)
	case faultDown:
		return refuse("the database cannot be reached", again)
	case faultFull:
		return refuse(full)
	case faultReadOnly:
		return refuse("the database is read-only")
	case faultBarred:
		return refuse(barred)
	case faultDamaged:
		s.noteDamage()
		return refuse(damaged, damagedTodo)
	case faultConflict:
		return &lyceum.Error{Kind: lyceum.Conflict, Detail: "one with the same key already exists", Err: err}
	}
	select {
	case <-s.closing: // the pools are closed, too; database/sql reports that with its own errors
		return &lyceum.Error{Kind: lyceum.Unavailable, Detail: errClosed.Detail, Err: err}
	default:
		return err
	}
}

// public is Store.public for use without a store.
func (d *dialect) public(err error) error { return (&Store{dialect: d}).public(err) }
