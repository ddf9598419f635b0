package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
)

// entries checks that queries of the journal find the same entries as filtering all of it, page
// by page in both directions.
func entries(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	random := rand.New(rand.NewPCG(1, 2))
	actors := []string{"user:1", "user:12", "api_key:1", "import"}
	types := lyceum.EntryTypes()
	for i := range 120 {
		by := stamp(school)
		by.At, by.Actor = Begin.Add(time.Duration(i)*time.Hour), actors[random.IntN(len(actors))]
		err := store.Write(t.Context(), by, func(tx lyceum.Tx) error {
			for range 1 + random.IntN(4) {
				kind, id := types[random.IntN(len(types))], int32(1+random.IntN(3))
				if kind == lyceum.SignedIn {
					tx.NoteDetail(kind, id, `{"second_factor":"app"}`)
					continue
				}
				tx.Note(kind, id)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	v := store.In(t.Context(), school)
	all, err := v.FindChanges(lyceum.ChangeFilter{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	hour := func(n int) time.Time { return Begin.Add(time.Duration(n) * time.Hour) }
	periods := []lyceum.Period{{}, {After: hour(30).Add(-time.Second), Until: hour(60)}, {After: hour(200)}}
	for _, kind := range append(lyceum.EntryKinds(), "") {
		for _, actor := range []lyceum.Opt[string]{
			{}, lyceum.Some("user:1"), lyceum.Some("api_key:1"), lyceum.Some("nobody"),
		} {
			for _, object := range []lyceum.Opt[int32]{{}, lyceum.Some(int32(2))} {
				for _, made := range periods {
					q := lyceum.EntryQuery{Kind: kind, Actor: actor, Object: object, Made: made, Limit: 40}
					var want []lyceum.Entry
					for i := range all.Changes {
						if e := all.Changes[i].Entry; selects(&q, &e) {
							want = append(want, e)
						}
					}
					name := fmt.Sprintf("%s of %v about %v in %v", kind, actor, object, made)
					up := slices.DeleteFunc(slices.Clone(want), func(e lyceum.Entry) bool { return e.Number == 1 })
					if got := walkUp(t, v, q); !slices.Equal(got, up) {
						t.Errorf("%s, upwards: %s", name, cmp.Diff(up, got))
					}
					slices.Reverse(want)
					if got := walkDown(t, v, q); !slices.Equal(got, want) {
						t.Errorf("%s, downwards: %s", name, cmp.Diff(want, got))
					}
				}
			}
		}
	}
}

func selects(q *lyceum.EntryQuery, e *lyceum.Entry) bool {
	at := lyceum.Second(e.At)
	return (q.Kind == "" || slices.Contains(q.Kind.Types(), e.Type)) && (!q.Actor.Present || q.Actor.Value == e.Actor) &&
		(!q.Object.Present || q.Object.Value == e.ObjectID) && (q.Made.After.IsZero() || at.After(q.Made.After)) &&
		(q.Made.Until.IsZero() || !at.After(q.Made.Until))
}

func walkDown(t *testing.T, v lyceum.View, q lyceum.EntryQuery) (found []lyceum.Entry) {
	for {
		part, err := v.FindEntries(q)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, part.Entries...)
		if !part.More {
			return found
		}
		q.Before = part.Through
	}
}

func walkUp(t *testing.T, v lyceum.View, q lyceum.EntryQuery) (found []lyceum.Entry) {
	for q.After = 1; ; {
		part, err := v.FindEntries(q)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(part.Entries)
		found = append(found, part.Entries...)
		if !part.More {
			return found
		}
		q.After = part.Through
	}
}

// clearedBlocks checks that the deletions of one statement are noted in order of id, regardless
// of the order in which the rows are found.
func clearedBlocks(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	var want []int32
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, user(1))
		for id := lyceum.BlockID(1); id <= 5 && err == nil; id++ {
			want = append(want[:id-1], int32(id))
			product := lyceum.CourseID(9 - id).Product()
			_, err = tx.Blocks.Save(tx, lyceum.Block{ID: id, User: 1, Product: product, CreatedAt: Begin})
		}
		return err
	})
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Blocks.Clear(tx, lyceum.BlockFilter{User: lyceum.Some(lyceum.UserID(1))})
		return err
	})
	entries, err := FindEntries(t.Context(), store, school, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for _, e := range entries {
		if e.Type == lyceum.BlockDeleted {
			got = append(got, e.ObjectID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deleted blocks (-want +got):\n%s", diff)
	}
}
