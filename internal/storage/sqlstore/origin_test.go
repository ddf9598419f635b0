package sqlstore_test

import (
	"regexp"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestOriginOfAJournal checks that a journal reports its origin and its last entry, and that a
// query of it reports the entries between which it read.
func TestOriginOfAJournal(t *testing.T) {
	t.Parallel()
	for engine, tc := range map[string]struct {
		open   storetest.Opener
		origin string
	}{
		"sqlite":   {openSQLite, `^$`},
		"postgres": {openPostgres, `^[0-9]+/[0-9A-F]{8}$`}, // system identifier and timeline
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			store := tc.open(t).(*sqlstore.Store)
			school := storetest.MakeSchool(t, store)
			storetest.Ledger(t, store, school, 5, 20)
			all, err := storetest.FindEntries(t.Context(), store, school, 0, 1000)
			ok(t, err)
			last := all[len(all)-1]

			ends, err := store.LastEntries(t.Context(), []lyceum.SchoolID{school, school + 1})
			ok(t, err)
			if !regexp.MustCompile(tc.origin).MatchString(ends.Origin) || len(ends.Last) != 1 || ends.Last[school] != last {
				t.Errorf("%+v, want the last entry %+v", ends, last)
			}
			for _, row := range []struct {
				after           int64
				limit           int
				before, through lyceum.Entry
			}{
				{0, 1000, lyceum.Entry{}, last},
				{0, 3, lyceum.Entry{}, all[2]},
				{3, 2, all[2], all[4]},
				{last.Number, 3, last, last},
				{last.Number + 1, 3, lyceum.Entry{}, lyceum.Entry{}},
			} {
				got, err := store.In(t.Context(), school).FindChanges(lyceum.ChangeFilter{After: row.after, Limit: row.limit})
				ok(t, err)
				if got.Origin != ends.Origin || got.Before != row.before || got.Through != row.through || got.Last != last.Number {
					t.Errorf("after %d, %d entries: %+v, %+v, %q", row.after, row.limit, got.Before, got.Through, got.Origin)
				}
			}
			only := lyceum.ChangeFilter{Limit: 1000, Types: []lyceum.EntryType{lyceum.CourseCreated}}
			if got, err := store.In(t.Context(), school).FindChanges(only); err != nil || got.Through != last {
				t.Errorf("what is passed over: %+v %v, want %+v", got.Through, err, last)
			}
			if _, err := store.In(t.Context(), school+1).FindChanges(only); err != nil {
				t.Errorf("a school that is not there: %v", err)
			}
		})
	}
}
