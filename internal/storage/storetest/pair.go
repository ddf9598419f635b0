package storetest

import (
	"context"
	"sync/atomic"

	"github.com/lyceum-school/lyceum"
)

// pair is two processes on one database: reads and writes go to one and the other in turn.
type pair struct {
	lyceum.Store

	other lyceum.Store
	turn  atomic.Uint64
}

// Pair combines the stores of two processes on one database into one.
func Pair(one, other lyceum.Store) lyceum.Store { return &pair{Store: one, other: other} }

func (p *pair) next() lyceum.Store {
	if p.turn.Add(1)%2 == 0 {
		return p.other
	}
	return p.Store
}

// In implements lyceum.Store.
func (p *pair) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	return p.next().In(ctx, school)
}

// AtOnce implements lyceum.Store.
func (p *pair) AtOnce(ctx context.Context, school lyceum.SchoolID, read func(lyceum.View) error) error {
	return p.next().AtOnce(ctx, school, read)
}

// SalesAtOnce implements lyceum.Store.
func (p *pair) SalesAtOnce(ctx context.Context, school lyceum.SchoolID, read func(lyceum.View) error) error {
	return p.next().SalesAtOnce(ctx, school, read)
}

// Write implements lyceum.Store.
func (p *pair) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	return p.next().Write(ctx, stamp, change)
}
