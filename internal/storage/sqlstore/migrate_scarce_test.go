package sqlstore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// The audit log finds the scarce entries from before they were marked, of every type, and newer
// ones.
func TestScarceEntriesAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	kinds := slices.DeleteFunc(lyceum.EntryKinds(), func(kind lyceum.EntryKind) bool { return !kind.Scarce() })
	statements := []string{"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Oak', 0)"}
	number := 0
	for _, kind := range append(kinds, lyceum.PeopleEntries) {
		for _, of := range kind.Types() {
			number++
			statements = append(statements, fmt.Sprintf("INSERT INTO journal (school_id, number, at, actor, type, object_id) "+
				"VALUES (7, %d, 9, 'key:1', '%s', 1)", number, of))
		}
	}
	statements = append(statements, fmt.Sprintf("INSERT INTO counters (school_id, name, value) VALUES (7, 'journal', %d)", number))
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 82, statements...)
			for range 2 {
				storetest.Write(t, store, 7, func(tx lyceum.Tx) error {
					for _, kind := range kinds {
						for _, of := range kind.Types() {
							tx.Note(of, 1)
						}
					}
					tx.Note(lyceum.UserCreated, 1)
					return nil
				})
			}
			v := store.In(t.Context(), 7)
			for _, kind := range kinds {
				listed, err := v.FindEntries(lyceum.EntryQuery{Kind: kind, Limit: 1000})
				found := map[lyceum.EntryType]int{}
				for _, e := range listed.Entries {
					found[e.Type]++
				}
				for _, of := range kind.Types() {
					if found[of] != 3 {
						t.Errorf("%s: %d entries of type %s, %v", kind, found[of], of, err)
					}
				}
				if len(listed.Entries) != 3*len(kind.Types()) {
					t.Errorf("%s: %d entries", kind, len(listed.Entries))
				}
			}
			marked := lines(t, store, "SELECT count(*) FROM journal WHERE scarce IS NOT NULL AND type IN ('user.created', 'enrollment.created')", 1)
			if marked[0][0] != "0" {
				t.Errorf("%s entries are marked that are not scarce", marked[0][0])
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check finds %v, %v", findings, err)
			}
		})
	}
}
