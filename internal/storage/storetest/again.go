package storetest

import (
	"context"
	"errors"

	"github.com/lyceum-school/lyceum"
)

// RunsTwice is a store that runs every change twice, as an engine does when it conflicts with
// another transaction: the first time in a transaction that is rolled back, after First did
// something in it.
type RunsTwice struct {
	lyceum.Store

	First func(lyceum.Tx) error
}

var errTakenBack = errors.New("taken back")

func (s *RunsTwice) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	err := s.Store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		if s.First != nil {
			if err := s.First(tx); err != nil {
				return err
			}
		}
		_ = change(tx) // its result is discarded, too
		return errTakenBack
	})
	if !errors.Is(err, errTakenBack) {
		return err
	}
	return s.Store.Write(ctx, stamp, change)
}
