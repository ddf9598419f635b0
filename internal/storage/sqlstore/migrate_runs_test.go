package sqlstore

import (
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// A journal from before runs continues with a run, and both parts are read as one journal.
func TestRunsAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 80,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (7, 1, 9, 'import', 'school.created', 7), "+
					"(7, 2, 9, 'import', 'coupon.created', 3)",
				"INSERT INTO counters (school_id, name, value) VALUES (7, 'journal', 2), (7, 'coupon_id', 200)")
			want := []int32{7, 3}
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error {
				for id := int32(150); id > 0; id-- {
					tx.Note(lyceum.CouponCreated, id)
					want = append(want, id)
				}
				return nil
			})
			listing, err := store.In(t.Context(), 7).FindChanges(lyceum.ChangeFilter{Limit: 1000})
			var got []int32
			for i := range listing.Changes {
				got = append(got, listing.Changes[i].ObjectID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("the feed has %v, %v", got, err)
			}
			if kept := lines(t, store, "SELECT number, last FROM journal_runs", 2); len(kept) != 1 || !slices.Equal(kept[0], []string{"3", "152"}) {
				t.Errorf("runs: %q", kept)
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check finds %v, %v", findings, err)
			}
			for _, damage := range []string{
				"UPDATE journal_runs SET last = last + 1", "UPDATE journal_runs SET number = number - 1",
				"UPDATE journal_runs SET object_ids = substr(object_ids, 2)", "DELETE FROM journal_runs",
			} {
				undo := "UPDATE journal_runs SET last = 152, number = 3"
				if _, err := store.writes.db.ExecContext(t.Context(), damage); err != nil {
					t.Fatal(err)
				}
				if findings, err := store.Check(t.Context()); err != nil || len(findings) == 0 {
					t.Errorf("after %s check finds nothing, %v", damage, err)
				}
				if _, err := store.writes.db.ExecContext(t.Context(), undo); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
