package storetest

import (
	"context"
	"errors"

	"github.com/lyceum-school/lyceum"
)

// RunsTwice is a store that runs every change twice, as an engine does when
// another transaction is in the way: the first time in a transaction that is
// taken back, after what First did in it.
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
		_ = change(tx) // what it returned is taken back as well
		return errTakenBack
	})
	if !errors.Is(err, errTakenBack) {
		return err
	}
	return s.Store.Write(ctx, stamp, change)
}
