package sqlstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestCleanErasedLeavesNoByte checks that the names of erased users are in no byte of SQLite's
// files, wherever their rows were moved while others were inserted, and that the file is intact.
func TestCleanErasedLeavesNoByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	random := rand.New(rand.NewPCG(1, 2))
	const people = 4000
	user := func(i int) lyceum.User {
		return lyceum.User{
			ID: lyceum.UserID(i + 1), Name: lyceum.Some("Zoltan"), Notes: lyceum.Some(strings.Repeat("about Zoltan ", 1+random.IntN(2)*random.IntN(800))),
			Email: fmt.Sprintf("%d.zoltan%d@example.com", random.Int32(), i), CreatedAt: storetest.Begin,
		}
	}
	order := random.Perm(people)
	for len(order) > 0 {
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			for _, i := range order[:100] {
				if err := tx.Users.Insert(tx, user(i)); err != nil {
					return err
				}
			}
			return nil
		})
		order = order[100:]
	}
	for first := 1; first <= people; first += 100 {
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			for i := range 100 {
				id := lyceum.UserID(first + i)
				if err := tx.Users.Update(tx, lyceum.User{ID: id, Email: lyceum.ErasedEmail(id), CreatedAt: storetest.Begin}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if clean, err := store.CleanErased(t.Context()); !clean || err != nil {
		t.Fatal(clean, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(bytes.ToLower(content), []byte("zoltan")); n > 0 {
			t.Errorf("%s has %d names", filepath.Base(path), n)
		}
	}
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Error(found, err)
	}
}

// TestCleanErasedFollowsMovedPages checks that no name is left in a page that is moved, while the
// files are cleaned, from a part of the file that was not read yet to one that was.
func TestCleanErasedFollowsMovedPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var store *Store
	var cleaning atomic.Bool
	var moving error
	reads := 0
	store, err := Open(t.Context(), dir, Options{Patience: storetest.Patience, Trace: func(text string) {
		if cleaning.Load() && text == pagesText && store.queue.oldest().IsZero() { // not of a change
			if reads++; reads == 7 {
				moving = store.compact(t.Context(), 0)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	const people, events = 3000, 100
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		for n := range int64(events) {
			event := lyceum.EventPayload{Number: n + 1, At: storetest.Begin, Object: noise(n, 100_000)}
			if err := tx.Payloads.Insert(tx, event); err != nil {
				return err
			}
		}
		return nil
	})
	order := rand.New(rand.NewPCG(1, 2)).Perm(people)
	for ids := range slices.Chunk(order, 100) {
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			for _, id := range ids {
				err := tx.Users.Insert(tx, lyceum.User{
					ID: lyceum.UserID(id + 1), Email: fmt.Sprintf("zoltan%d@example.com", id), CreatedAt: storetest.Begin,
					Notes: lyceum.Some(strings.Repeat("about Zoltan ", 1+id%80)),
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for ids := range slices.Chunk(order, 100) {
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			for _, id := range ids {
				user := lyceum.UserID(id + 1)
				if err := tx.Users.Update(tx, lyceum.User{ID: user, Email: lyceum.ErasedEmail(user), CreatedAt: storetest.Begin}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	storetest.Write(t, store, school, func(tx lyceum.Tx) error { return txOf(tx).q.exec("DELETE FROM event_payloads") })
	cleaning.Store(true)
	clean, err := store.CleanErased(t.Context())
	if cleaning.Store(false); !clean || err != nil || moving != nil || reads < 7 {
		t.Fatal(clean, err, moving, reads)
	}
	file, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(bytes.ToLower(file), []byte("zoltan")); n > 0 {
		t.Errorf("the file has %d names", n)
	}
}

// TestCleanErasedStops checks that it stops when its context is canceled.
func TestCleanErasedStops(t *testing.T) {
	t.Parallel()
	store := openTest(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if clean, err := store.CleanErased(ctx); clean || err == nil {
		t.Error(clean, err)
	}
}

// rowPage returns a page of 512 bytes, with some rows of two bytes at its end.
func rowPage(kind byte, rows int, unused byte) []byte {
	page := bytes.Repeat([]byte{unused}, 512)
	page[0] = kind
	binary.BigEndian.PutUint16(page[1:], 0)
	binary.BigEndian.PutUint16(page[3:], uint16(rows))
	end := len(page) - 2*rows
	binary.BigEndian.PutUint16(page[5:], uint16(end))
	page[7] = 0
	list := page[8:]
	if kind < 10 {
		list = page[12:]
	}
	for i := range rows {
		binary.BigEndian.PutUint16(list[2*i:], uint16(end+2*i))
	}
	return page
}

// TestUnusedOfAPage checks which part of a page is unused, according to its header.
func TestUnusedOfAPage(t *testing.T) {
	t.Parallel()
	plain, mapped := pageLayout{usable: 512}, pageLayout{usable: 512, mapped: true}
	first := append(make([]byte, fileHeader), rowPage(13, 2, 'x')[:512-fileHeader]...)
	binary.BigEndian.PutUint16(first[fileHeader+5:], 508)
	binary.BigEndian.PutUint16(first[fileHeader+8:], 508)
	binary.BigEndian.PutUint16(first[fileHeader+10:], 510)
	outside := rowPage(13, 2, 'x')
	binary.BigEndian.PutUint16(outside[8:], 100)
	for name, test := range map[string]struct {
		layout pageLayout
		number int64
		page   []byte
		want   int
	}{
		"a leaf of a table":         {plain, 2, rowPage(13, 2, 'x'), 512 - 8 - 4 - 4},
		"a leaf of an index":        {plain, 2, rowPage(10, 3, 'x'), 512 - 8 - 6 - 6},
		"above leaves of a table":   {plain, 2, rowPage(5, 2, 'x'), 512 - 12 - 4 - 4},
		"above leaves of an index":  {plain, 2, rowPage(2, 2, 'x'), 512 - 12 - 4 - 4},
		"without rows":              {plain, 2, rowPage(13, 0, 'x'), 512 - 8},
		"the first page":            {plain, 1, first, 512 - 100 - 8 - 4 - 4},
		"bytes at the end of pages": {pageLayout{usable: 510}, 2, rowPage(13, 0, 'x'), 0},
		"a free page":               {plain, 2, make([]byte, 512), 0},
		"a long text":               {plain, 2, bytes.Repeat([]byte{0, 0, 0, 9, 'x', 'x', 'x', 'x'}, 64), 0},
		"a text that seems to be":   {plain, 2, append([]byte{13, 0, 0}, bytes.Repeat([]byte("xy"), 255)...)[:512], 0},
		"a row outside":             {plain, 2, outside, 0},
		"the first map":             {mapped, 2, rowPage(5, 2, 'x'), 0},
		"after the first map":       {mapped, 3, rowPage(5, 2, 'x'), 512 - 12 - 4 - 4},
		"the second map":            {mapped, 2 + 103, rowPage(5, 2, 'x'), 0},
		"no map":                    {plain, 2 + 103, rowPage(5, 2, 'x'), 512 - 12 - 4 - 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.layout.unused(test.number, test.page); len(got) != test.want || strings.Trim(string(got), "x") != "" {
				t.Errorf("%d bytes %q, want %d", len(got), got, test.want)
			}
		})
	}
}

// TestMapBesideTheLockedPage checks that a pointer map is not on the lock-byte page, which is
// never used, but on the next one.
func TestMapBesideTheLockedPage(t *testing.T) {
	t.Parallel()
	const size, locked = 512, 1<<30/512 + 1
	layout := pageLayout{usable: 240, mapped: true} // every 49th page is a pointer map
	for number, want := range map[int64]bool{locked - 49: true, locked: false, locked + 1: true, locked + 49: true, locked + 50: false} {
		if got := layout.isMap(number, size); got != want {
			t.Errorf("page %d: %t", number, got)
		}
	}
}

// FuzzUnused checks that the unused part is within the page, whatever the page contains.
func FuzzUnused(f *testing.F) {
	f.Add(int64(1), true, rowPage(13, 2, 0))
	f.Add(int64(105), false, rowPage(2, 60, 1))
	f.Fuzz(func(t *testing.T, number int64, mapped bool, content []byte) {
		page := make([]byte, 512)
		copy(page, content)
		layout := layoutOf(page)
		layout.mapped = mapped
		if layout.usable > len(page) || layout.usable < len(page)-255 {
			t.Fatalf("%d bytes are usable", layout.usable)
		}
		unused := layout.unused(max(number, 1), page)
		clear(unused)
		if again := layout.unused(max(number, 1), page); len(again) != len(unused) || !blank(again) {
			t.Errorf("%d bytes and %d", len(unused), len(again))
		}
	})
}
