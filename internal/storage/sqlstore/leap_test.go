package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestLeap checks that after a restore no id and no journal number is assigned that the lost
// database may have assigned, but that receipt numbers continue and ids do not run out.
func TestLeap(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		dir, address := t.TempDir(), ""
		if postgres {
			address = storetest.Postgres(t)
		}
		open := func() *Store {
			s, err := Open(t.Context(), dir, Options{})
			if postgres {
				s, err = OpenPostgres(t.Context(), address, Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := open()
		school, err := s.CreateSchool(t.Context(), lyceum.School{ID: 1, Name: "Fernwood"}, "test")
		if err != nil {
			t.Fatal(err)
		}
		const high = 2_147_000_000
		by := lyceum.Stamp{School: school.ID, At: upgradeTime, Actor: "test"}
		given := map[string]int64{}
		give := func(tx lyceum.Tx) error {
			users, err := tx.Users.NextID(tx)
			if err != nil {
				return err
			}
			deliveries, err := tx.Deliveries.NextID(tx)
			if err != nil {
				return err
			}
			receipts, err := tx.Receipts.NextID(tx)
			if err != nil {
				return err
			}
			last, err := tx.LastEntry()
			tx.Note(lyceum.SchoolRestored, int32(school.ID))
			given = map[string]int64{
				"users": int64(users), "deliveries": int64(deliveries), "receipts": int64(receipts), "entries": last + 1,
			}
			return err
		}
		err = s.Write(t.Context(), by, func(tx lyceum.Tx) error {
			if err := tx.Reserve(high, lyceum.WebhookEventSequence); err != nil {
				return err
			}
			return give(tx)
		})
		if err != nil {
			t.Fatal(err)
		}
		before := given
		for range 2 { // a restore that was interrupted is repeated
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open()
			if err := s.leap(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		defer s.Close()
		if err := s.Write(t.Context(), by, give); err != nil {
			t.Fatal(err)
		}
		left := int64(lyceum.MaxID - high)
		left -= left / 1000
		want := map[string]int64{
			"users": before["users"] + 2_000_001, "deliveries": lyceum.MaxID - (left - left/1000) + 1,
			"receipts": before["receipts"] + 1, "entries": before["entries"] + 2_000_001,
		}
		if d := cmp.Diff(want, given); d != "" {
			t.Error(d)
		}
		findings, err := s.Check(t.Context())
		if err != nil || len(findings) > 0 {
			t.Errorf("%v, %v", findings, err)
		}
		// A search across the skipped numbers finds what it looks for immediately.
		v := s.In(t.Context(), school.ID)
		for name, q := range map[string]lyceum.EntryQuery{
			"downwards":   {Actor: lyceum.Some("test"), Before: given["entries"]},
			"upwards":     {Actor: lyceum.Some("test"), After: before["entries"]},
			"of a period": {Made: lyceum.Period{After: upgradeTime.Add(-time.Hour)}, Before: given["entries"]},
		} {
			q.Limit = 10
			want := map[string]int{"downwards": 2, "upwards": 1, "of a period": 1}[name]
			if listing, err := v.FindEntries(q); err != nil || len(listing.Entries) != want || listing.More || listing.Span != int64(want) {
				t.Errorf("%s: %+v, %v", name, listing, err)
			}
		}
	})
}
