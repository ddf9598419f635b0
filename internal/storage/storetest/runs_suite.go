package storetest

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
)

// runs checks that a journal with many changes of the same kind, as from imports, is read entry
// by entry, from every number and with every filter.
func runs(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	random := rand.New(rand.NewPCG(3, 4))
	made := []lyceum.Entry{{Type: lyceum.SchoolCreated, ObjectID: int32(school)}}
	write := func(hours int, actor string, entries ...lyceum.Entry) {
		t.Helper()
		by := stamp(school)
		by.At, by.Actor = Begin.Add(time.Duration(hours)*time.Hour), actor
		err := store.Write(t.Context(), by, func(tx lyceum.Tx) error {
			for _, e := range entries {
				if e.Event.Present {
					tx.Announce(e.Type, e.ObjectID, e.Event.Value, "")
				} else {
					tx.Note(e.Type, e.ObjectID)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			e.At, e.Actor = by.At, actor
			made = append(made, e)
		}
	}
	same := func(kind lyceum.EntryType, n int) (entries []lyceum.Entry) {
		for range n {
			entries = append(entries, lyceum.Entry{Type: kind, ObjectID: 1 + random.Int32N(lyceum.MaxID)})
		}
		return entries
	}
	few := []lyceum.Entry{
		{Type: lyceum.SaleCreated, ObjectID: 5, Event: lyceum.Some(lyceum.EnrollmentCreatedEvent)},
		{Type: lyceum.TransactionCreated, ObjectID: 7},
	}
	write(1, "import", slices.Concat(same(lyceum.SaleCreated, 70), same(lyceum.TransactionCreated, 130), few)...)
	write(2, "api_key:1", few...)
	write(3, "user:1", same(lyceum.TransactionUpdated, 80)...)
	write(4, "import", slices.Concat(few, same(lyceum.UserCreated, 80), same(lyceum.TransactionCreated, 63))...)
	write(5, "import", same(lyceum.SaleUpdated, 64)...)
	for i := range made {
		made[i].Number = int64(i + 1)
	}
	v := store.In(t.Context(), school)
	last := int64(len(made))
	ends, err := store.LastEntries(t.Context(), []lyceum.SchoolID{school})
	if got := ends.Last[school]; err != nil || got != made[last-1] {
		t.Errorf("the last entry is %+v, %v", got, err)
	}
	made[0].At, made[0].Actor = Begin, "test"
	for after := range last + 2 {
		for _, limit := range []int{1, 37, 1000} {
			feedOfRuns(t, v, lyceum.ChangeFilter{After: after, Limit: limit}, made)
			feedOfRuns(t, v, lyceum.ChangeFilter{
				After: after, Limit: limit, Types: []lyceum.EntryType{lyceum.TransactionCreated, lyceum.SaleUpdated},
			}, made)
			feedOfRuns(t, v, lyceum.ChangeFilter{After: after, Limit: limit, Events: true}, made)
		}
	}
	hour := func(n int) time.Time { return Begin.Add(time.Duration(n) * time.Hour) }
	for _, q := range []lyceum.EntryQuery{
		{},
		{Kind: lyceum.MoneyEntries},
		{Actor: lyceum.Some("import")},
		{Actor: lyceum.Some("user:1")},
		{Object: lyceum.Some(made[100].ObjectID)},
		{Made: lyceum.Period{After: hour(2), Until: hour(4)}},
		{Made: lyceum.Period{Until: hour(1)}},
	} {
		q.Limit = 40
		var want []lyceum.Entry
		for _, e := range made {
			if selects(&q, &e) {
				want = append(want, e)
			}
		}
		up := slices.DeleteFunc(slices.Clone(want), func(e lyceum.Entry) bool { return e.Number == 1 })
		if got := walkUp(t, v, q); !slices.Equal(got, up) {
			t.Errorf("%+v, upwards: %s", q, cmp.Diff(up, got))
		}
		slices.Reverse(want)
		if got := walkDown(t, v, q); !slices.Equal(got, want) {
			t.Errorf("%+v, downwards: %s", q, cmp.Diff(want, got))
		}
	}
}

// feedOfRuns compares a part of the feed with the entries that were made.
func feedOfRuns(t *testing.T, v lyceum.View, f lyceum.ChangeFilter, made []lyceum.Entry) {
	t.Helper()
	var want []lyceum.Entry
	for _, e := range made[min(int(f.After), len(made)):] {
		if (!f.Events || e.Event.Present) && (f.Types == nil || slices.Contains(f.Types, e.Type)) && len(want) < f.Limit {
			want = append(want, e)
		}
	}
	got, err := v.FindChanges(f)
	var entries []lyceum.Entry
	for i := range got.Changes {
		entries = append(entries, got.Changes[i].Entry)
	}
	if err != nil || !slices.Equal(entries, want) {
		t.Fatalf("%+v: %v: %s", f, err, cmp.Diff(want, entries))
	}
	before, through := lyceum.Entry{}, made[len(made)-1]
	if f.After > 0 && int(f.After) <= len(made) {
		before = made[f.After-1]
	}
	switch {
	case len(want) == f.Limit:
		through = want[len(want)-1]
	case int(f.After) >= len(made):
		through = before
	}
	if got.Before != before || got.Through != through || got.Last != int64(len(made)) {
		t.Fatalf("%+v: before %+v, through %+v, last %d", f, got.Before, got.Through, got.Last)
	}
}
