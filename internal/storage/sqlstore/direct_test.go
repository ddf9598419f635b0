package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"zombiezen.com/go/sqlite"
)

// anything is a scan destination that stores whatever it receives.
type anything struct{ value any }

func (k *anything) Scan(src any) error {
	k.value = src
	return nil
}

// TestDirectReadsAsTheDriverDoes checks that values are the same whether they are read
// directly or through the driver.
func TestDirectReadsAsTheDriverDoes(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const text = "SELECT $2 - $1, -9223372036854775807, 1.5, 'ä', '', x'00ff', NULL WHERE $1 < $2"
	read := func(q reading) (got []any) {
		t.Helper()
		var dest []any
		for range 7 {
			dest = append(dest, &anything{})
		}
		for range 2 { // the second time with the statement kept from the first
			got = nil
			err := q.each(text, []any{int64(1), int64(3)}, dest, func() error {
				for _, d := range dest {
					got = append(got, d.(*anything).value)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return got
	}
	want := read(store.reads.single(t.Context()))
	err = store.reading(t.Context(), func(q reading) error {
		if _, is := q.(*direct); !is {
			t.Errorf("a file is read by %T", q)
		}
		if got := read(q); !reflect.DeepEqual(got, want) || len(got) != 7 {
			t.Errorf("got %#v, the driver gives %#v", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDirectFaults(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		path string
		want fault
	}{
		{"no file", filepath.Join(dir, "missing"), faultDown},
		{"no database", garbage, faultDamaged},
	} {
		t.Run(test.name, func(t *testing.T) {
			q, err := openDirect(&files{path: test.path}, func(string) {}, sqlite.OpenReadOnly)
			if err == nil {
				defer q.close()
				err = q.each("SELECT count(*) FROM schools", nil, []any{&sql.NullInt64{}}, func() error { return nil })
			}
			if got := sqliteFault(err); got != test.want {
				t.Errorf("%v is fault %d, want %d", err, got, test.want)
			}
		})
	}
}

// TestDirectEndsMidway checks that reading stops when the caller no longer waits.
func TestDirectEndsMidway(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err = store.reading(ctx, func(q reading) error {
		return q.each("WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", nil, []any{&anything{}}, func() error {
			cancel()
			return nil
		})
	})
	if err == nil {
		t.Error("a query without an end ended by itself")
	}
}

// TestReadersVisitWithTheSameQuery checks that visit can run the query that it is visiting,
// both inside and outside a snapshot.
func TestReadersVisitWithTheSameQuery(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const text = "WITH n (i) AS (VALUES (1), (2), (3)) SELECT i FROM n WHERE i > $1 ORDER BY i"
	pairs := func(q *session) (got []int) {
		t.Helper()
		var outer, inner int32
		err := q.each(text, []any{int64(0)}, []any{scanInt(&outer)}, func() error {
			return q.each(text, []any{int64(outer)}, []any{scanInt(&inner)}, func() error {
				got = append(got, int(10*outer+inner))
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := []int{12, 13, 23}
	for range 2 {
		if got := pairs(store.reads.single(t.Context())); !slices.Equal(got, want) {
			t.Errorf("outside of a snapshot: %v, want %v", got, want)
		}
		err = store.reads.snapshot(t.Context(), func(q *session) error {
			if got := pairs(q); !slices.Equal(got, want) {
				t.Errorf("in a snapshot: %v, want %v", got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadersAfterAPanic checks that a connection whose reader panicked is released, and is no
// longer in the snapshot that it read.
func TestReadersAfterAPanic(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for range 2 * mostReaders {
		func() {
			defer func() { _ = recover() }()
			_ = store.reads.snapshot(t.Context(), func(*session) error { panic("a bug") })
			t.Error("a panic was swallowed")
		}()
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestReadersClose checks that callers waiting for a connection when the database is closed
// are told so, and that connections returned afterwards are closed.
func TestReadersClose(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var taken []*readConn
	for range mostReaders {
		d, err := store.reads.direct.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, d)
	}
	waited := make(chan error)
	go func() {
		_, err := store.reads.direct.take(context.Background())
		waited <- err
	}()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, errClosed) {
		t.Errorf("who waited is told %v", err)
	}
	for _, d := range taken {
		store.reads.direct.give(d)
	}
	if n := len(store.reads.direct.idle); n > 0 {
		t.Errorf("%d connections are open", n)
	}
}

// TestCache checks that read connections and the write connection have caches of the requested
// sizes.
func TestCache(t *testing.T) {
	for _, o := range []Options{{}, {Cache: 4096, ReadCache: 1024}} {
		want := map[string]int64{"writer": -int64(cmp.Or(o.Cache, 32768)), "reader": -int64(cmp.Or(o.ReadCache, 32768))}
		store, err := Open(t.Context(), t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		written, err := store.writes.writer.open(store.writes.trace)
		if err != nil {
			t.Fatal(err)
		}
		read, err := store.reads.direct.open()
		if err != nil {
			t.Fatal(err)
		}
		defer read.close()
		for name, d := range map[string]*direct{"writer": written, "reader": read} {
			var got anything
			if err := d.each("PRAGMA cache_size", nil, []any{&got}, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			if got.value != want[name] {
				t.Errorf("%d and %d: the %s has %v, want %d", o.Cache, o.ReadCache, name, got.value, want[name])
			}
		}
	}
}

// TestKeptStatementsHaveABound checks that a connection keeps statements, but not one for
// every text it has ever run, and that the statement that is being read stays usable.
func TestKeptStatementsHaveABound(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.reading(t.Context(), func(q reading) error {
		d, rows := q.(*direct), 0
		var n int64
		err := d.each("SELECT 1 UNION ALL SELECT 2", nil, []any{scanInt(&n)}, func() error {
			rows++
			for text := range 2 * maxKept {
				err := d.each(fmt.Sprintf("SELECT %d", text), nil, []any{scanInt(&n)}, func() error {
					if n != int64(text) {
						t.Errorf("SELECT %d gave %d", text, n)
					}
					return nil
				})
				if err != nil {
					return err
				}
				if len(d.kept) > maxKept {
					return fmt.Errorf("%d statements are kept", len(d.kept))
				}
			}
			return nil
		})
		if rows != 2 {
			t.Errorf("%d rows", rows)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
