package storetest

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// FindEntries returns up to limit journal entries with numbers above after, in order.
func FindEntries(
	ctx context.Context, store lyceum.Store, school lyceum.SchoolID, after int64, limit int,
) ([]lyceum.Entry, error) {
	var entries []lyceum.Entry
	for len(entries) < limit {
		part, err := store.In(ctx, school).FindChanges(lyceum.ChangeFilter{After: after, Limit: limit - len(entries)})
		if err != nil {
			return nil, err
		}
		for i := range part.Changes {
			entries = append(entries, part.Changes[i].Entry)
		}
		if after = part.Next; !part.More {
			break
		}
	}
	return entries, nil
}

// School returns a function that returns a school of a store.
func School(store lyceum.Store) func(context.Context, lyceum.SchoolID) (lyceum.School, error) {
	return func(ctx context.Context, id lyceum.SchoolID) (lyceum.School, error) {
		return store.In(ctx, id).GetSchool()
	}
}

// FailSchool returns a view whose GetSchool fails if fail returns an error, with that error.
func FailSchool(v lyceum.View, fail func() error) lyceum.View {
	v.Reads = failing{v.Reads, fail}
	return v
}

type failing struct {
	lyceum.Reads

	fail func() error
}

func (f failing) GetSchool() (lyceum.School, error) {
	if err := f.fail(); err != nil {
		return lyceum.School{}, err
	}
	return f.Reads.GetSchool()
}
