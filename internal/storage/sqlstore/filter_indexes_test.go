package sqlstore

import (
	"slices"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestFilterIndexesComeAndGo checks that a database gets the filter indexes, keeps them and
// loses them, that its lists stay the same, and that an index that PostgreSQL was interrupted
// in creating is created again.
func TestFilterIndexesComeAndGo(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, store *Store) {
		school, sold := soldBefore(t, store, 300)
		step := func(keep bool, want int) {
			t.Helper()
			if err := store.KeepFilterIndexes(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			for i := range filterIndexes {
				var state int
				text := store.dialect.rebind(store.dialect.ddl.state)
				if err := store.writes.db.QueryRowContext(t.Context(), text, filterIndexes[i].name).Scan(&state); err != nil || state != want {
					t.Errorf("with %t, %s is in state %d, %v; want %d", keep, filterIndexes[i].name, state, err, want)
				}
			}
			for id := range int32(4) {
				wantSales(t, store, school, sold, id)
			}
		}
		step(false, indexMissing)
		step(true, indexWhole)
		step(true, indexWhole)
		if store.dialect.name == "postgres" {
			_, err := store.writes.db.ExecContext(t.Context(),
				"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'transactions_plan'::regclass")
			if err != nil {
				t.Fatal(err)
			}
			step(true, indexWhole)
		}
		step(false, indexMissing)
	})
}

// wantSales checks the sales of the plan with an id, and of its course, its author and its
// affiliate, which have the same id.
func wantSales(t *testing.T, store *Store, school lyceum.SchoolID, sold []lyceum.Transaction, id int32) {
	t.Helper()
	var want []lyceum.TransactionID
	for i := range sold {
		if int32(sold[i].PricingPlanID) == id {
			want = append(want, sold[i].ID)
		}
	}
	for of, f := range map[string]lyceum.TransactionFilter{
		"plan":      {PricingPlanID: lyceum.Some(lyceum.PricingPlanID(id))},
		"course":    {CourseID: lyceum.Some(lyceum.CourseID(id))},
		"affiliate": {AffiliateID: lyceum.Some(lyceum.AffiliateID(id))},
		"author":    {AuthorID: lyceum.Some(lyceum.AuthorID(id))},
	} {
		page, err := store.FindTransactions(t.Context(), school, f, lyceum.OldestFirst, lyceum.Page{Number: 1, Size: int32(len(sold))})
		var got []lyceum.TransactionID
		for _, row := range page.All() {
			got = append(got, row.ID)
		}
		if err != nil || !slices.Equal(got, want) || int(page.Total) != len(want) {
			t.Errorf("of %s %d: %v of %d, %v; want %v", of, id, got, page.Total, err, want)
		}
	}
}

// TestFilterIndexesAreMadeTogether checks that servers that start at the same time create the
// filter indexes once, and that none of them fails.
func TestFilterIndexesAreMadeTogether(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	var stores []*Store
	for range 3 {
		store, err := OpenPostgres(t.Context(), address, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		stores = append(stores, store)
	}
	soldBefore(t, stores[0], 2000)
	for _, keep := range []bool{true, false, true} {
		var work sync.WaitGroup
		for _, store := range stores {
			work.Go(func() {
				if err := store.KeepFilterIndexes(t.Context(), keep); err != nil {
					t.Errorf("with %t: %v", keep, err)
				}
			})
		}
		work.Wait()
		want := indexMissing
		if keep {
			want = indexWhole
		}
		for i := range filterIndexes {
			var state int
			err := stores[0].writes.db.QueryRowContext(t.Context(), postgresDDL.state, filterIndexes[i].name).Scan(&state)
			if err != nil || state != want {
				t.Errorf("with %t, %s is in state %d, %v", keep, filterIndexes[i].name, state, err)
			}
		}
	}
}
