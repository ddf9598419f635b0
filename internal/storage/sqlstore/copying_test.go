package sqlstore

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestCopied checks that PostgreSQL reads copied values unchanged.
func TestCopied(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE TEMP TABLE anything (school_id bigint, a text, b bytea, c double precision, d boolean)"); err != nil {
		t.Fatal(err)
	}
	rows := [][]any{
		{int64(math.MinInt64), "", []byte{}, 0.1, true},
		{int64(math.MaxInt64), `\N`, []byte{0, 255, '\n', '\\'}, -math.MaxFloat64, false},
		{nil, "a\tb\nc\rd\\e\\.\n\\.\n'é 😀\v\b", []byte("a"), math.SmallestNonzeroFloat64, nil},
		{int64(0), nil, nil, nil, nil},
		{int64(1), "NULL", []byte(nil), 1e21, nil},
	}
	p := &pipeline{ctx: t.Context(), conn: conn, trace: func(string) {}, queue: &pgx.Batch{}}
	if err := errors.Join(p.copyIn("anything", "a, b, c, d", len(rows), slices.Concat(rows...)), p.copying.wait()); err != nil {
		t.Fatal(err)
	}
	found, err := conn.Query(t.Context(), "SELECT * FROM anything")
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(found, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	if err != nil {
		t.Fatal(err)
	}
	rows[4][2] = nil
	if d := cmp.Diff(rows, got); d != "" {
		t.Errorf("the rows came back otherwise (-sent +read):\n%s", d)
	}
}

// TestManyRows checks that changes of many rows, some of which violate a unique key, are each
// kept or rejected as a whole, alone and together.
func TestManyRows(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		type many struct {
			first   lyceum.UserID
			emails  string
			refused bool
		}
		var kept int64
		for _, group := range [][]many{
			{{1000, "a", false}},
			{{2000, "a", true}},
			{{3000, "b", false}, {4000, "a", true}, {5000, "c", false}},
			{{6000, "b", true}, {7000, "d", false}, {8000, "c", true}, {9000, "e", false}},
			{{1000, "f", true}, {11000, "g", false}},
		} {
			var deeds []*deed
			for _, m := range group {
				deeds = append(deeds, &deed{do: func(tx lyceum.Tx, found func(string, ...any)) error {
					for n := range lyceum.UserID(leastCopied) {
						u := lyceum.User{ID: m.first + n, Email: fmt.Sprintf("%s%d@example.com", m.emails, n), CreatedAt: storetest.Begin}
						if err := tx.Users.Insert(tx, u); err != nil {
							return err
						}
					}
					u, err := tx.Users.Get(tx, m.first)
					found("%s", u.Email)
					return err
				}})
			}
			together(s, deeds, school)
			for i, m := range group {
				if d := deeds[i]; d.failed != m.refused || !d.failed && !slices.Equal(d.found, []string{m.emails + "0@example.com"}) {
					t.Fatalf("users from %d on: %q, failed %t: %v", m.first, d.found, d.failed, d.reason)
				}
				if !m.refused {
					kept += leastCopied
				}
			}
		}
		v := s.In(t.Context(), school)
		page, err := v.Users.List(v, lyceum.UserFilter{}, lyceum.Page{Number: 1, Size: 1})
		if err != nil || page.Total != kept {
			t.Errorf("%d users, %v, want %d", page.Total, err, kept)
		}
		state(t, s, school) // also checks the database
	})
}

// TestChangesThatFailBesideRows checks that a change that fails while its rows are being
// inserted keeps none of them, whether they are rejected or not, and that the next change gets
// its turn.
func TestChangesThatFailBesideRows(t *testing.T) {
	t.Parallel()
	own := errors.New("the change's own")
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		before := state(t, s, school)
		for _, addresses := range []int{maxUnwritten, maxUnwritten / 2} { // for as many users
			err := s.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
				for n := range maxUnwritten {
					email := fmt.Sprintf("new%d@example.com", n%addresses)
					err := tx.Users.Insert(tx, lyceum.User{ID: lyceum.UserID(1000 + n), Email: email, CreatedAt: storetest.Begin})
					if err != nil {
						return err
					}
				}
				return own
			})
			if !errors.Is(err, own) {
				t.Errorf("a change of users with %d addresses: %v; want %v", addresses, err, own)
			}
			if after := state(t, s, school); !reflect.DeepEqual(before, after) {
				t.Errorf("a change of users with %d addresses left %v", addresses, after)
			}
		}
		if err := addUser(s, school, 1000); err != nil {
			t.Error(err)
		}
	})
}
