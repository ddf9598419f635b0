package sqlstore

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// view reads one school.
type view struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call that opened it
	store  *Store
	q      *session
	school lyceum.SchoolID
	// moment means that all statements see the same snapshot.
	moment bool
	marked *mark // mark of that snapshot, once it was read
}

func (s *Store) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	return seen(&view{ctx: ctx, store: s, q: s.reads.single(ctx), school: school})
}

func (s *Store) AtOnce(ctx context.Context, school lyceum.SchoolID, read func(lyceum.View) error) error {
	return s.public(s.reads.snapshot(ctx, func(q *session) error {
		return read(seen(&view{ctx: ctx, store: s, q: q, school: school, moment: true}))
	}))
}

func (s *Store) SalesAtOnce(ctx context.Context, school lyceum.SchoolID, read func(lyceum.View) error) error {
	return s.AtOnce(ctx, school, read)
}

func (v *view) School() lyceum.SchoolID { return v.school }

func (v *view) Context() context.Context { return v.ctx }

func (v *view) Session() any { return v }

// viewOf returns the view to read rows from.
func viewOf(from lyceum.Source) *view {
	if t, ok := from.Session().(*tx); ok {
		return &t.view
	}
	return from.Session().(*view)
}

// seen wraps a view for the rules.
func seen(v *view) lyceum.View { return lyceum.View{Tables: &tables, Reads: v} }

// txOf returns the change to write rows in.
func txOf(t lyceum.Tx) *tx { return t.Session().(*tx) }

// atOnce calls read with a session whose statements all see the same snapshot.
func (v *view) atOnce(read func(*session) error) error {
	if v.moment {
		return read(v.q)
	}
	return v.store.reads.snapshot(v.ctx, read)
}

// public returns the form of an error that callers see. The error of a change is converted only
// when the change ends, because it may be a reason to run the change again.
func (v *view) public(err error) error {
	if v.q.began() {
		return err
	}
	return v.store.public(err)
}
