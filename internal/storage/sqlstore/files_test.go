package sqlstore_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// lost has the ways in which an open database can lose its files; back undoes each of them
// where that is possible.
var lost = map[string]struct {
	take func(t *testing.T, dir string)
	back func(t *testing.T, dir string)
}{
	"database deleted":      {take: remove("lyceum.db")},
	"log deleted":           {take: remove("lyceum.db-wal")},
	"shared memory deleted": {take: remove("lyceum.db-shm")},
	"all deleted":           {take: remove("lyceum.db", "lyceum.db-wal", "lyceum.db-shm")},
	"folder deleted":        {take: func(t *testing.T, dir string) { ok(t, os.RemoveAll(dir)) }},
	"folder moved":          {take: move("", "-away"), back: move("-away", "")},
	"database moved":        {take: move("/lyceum.db", "/away"), back: move("/away", "/lyceum.db")},
	"log moved":             {take: move("/lyceum.db-wal", "/away"), back: move("/away", "/lyceum.db-wal")},
	"database replaced by a copy": {
		take: func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, "lyceum.db"))
			ok(t, err)
			ok(t, os.WriteFile(filepath.Join(dir, "copy"), content, 0o600))
			move("/lyceum.db", "/away")(t, dir)
			move("/copy", "/lyceum.db")(t, dir)
		},
		back: move("/away", "/lyceum.db"),
	},
	"folder made anew": {take: func(t *testing.T, dir string) {
		move("", "-away")(t, dir)
		store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
		ok(t, err)
		storetest.MakeSchool(t, store)
		ok(t, store.Close())
	}},
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func remove(names ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for _, name := range names {
			ok(t, os.Remove(filepath.Join(dir, name)))
		}
	}
}

func move(from, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		ok(t, os.Rename(dir+from, dir+to))
	}
}

// TestR27_FilesGone checks that nothing is acknowledged that would be written to files that
// nobody opens again.
func TestR27_FilesGone(t *testing.T) {
	t.Parallel()
	for name, tc := range lost {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, log := filepath.Join(t.TempDir(), "data"), &storetest.Log{}
			store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
			ok(t, err)
			defer store.Close()
			school := storetest.MakeSchool(t, store)
			storetest.Ledger(t, store, school, 5, 50)

			tc.take(t, dir)
			refused(t, "a change", tag(t, store, school), outcomeUnchanged)
			refused(t, "a change", tag(t, store, school), outcomeUnchanged)
			refused(t, "readiness", store.Ping(t.Context()), outcomeRefused)
			scan := store.ScanTransactions(t.Context(), school, func([]lyceum.Transaction) error { return nil })
			refused(t, "reading from the path", scan, outcomeRefused)
			var readers sync.WaitGroup
			for range 20 {
				readers.Go(func() {
					if _, err := store.In(t.Context(), school).GetSchool(); err != nil {
						t.Errorf("what the open files have is not read: %v", err)
					}
				})
			}
			readers.Wait()
			if n := log.Count("changes are refused"); n != 1 {
				t.Errorf("the log says it %d times, want once", n)
			}
			if tc.back == nil {
				return
			}
			tc.back(t, dir)
			ok(t, tag(t, store, school))
			ok(t, store.Ping(t.Context()))
			if n := log.Count("accepted again"); n != 1 {
				t.Errorf("the log says %d times that the files are back, want once", n)
			}
		})
	}
}

const (
	outcomeRefused   = "changes are refused"
	outcomeUnchanged = "nothing was changed"
	outcomeUnknown   = "it is unknown whether this change was saved"
)

func tag(t *testing.T, store lyceum.Store, school lyceum.SchoolID) error {
	t.Helper()
	return store.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.SetTags(1, []string{time.Now().String()})
		return err
	})
}

func refused(t *testing.T, what string, err error, outcome string) {
	t.Helper()
	e := lyceum.Public(err)
	if err == nil || e.Kind != lyceum.Unavailable || !strings.Contains(e.Detail, "moved, deleted or replaced") || !strings.Contains(e.Detail, outcome) {
		t.Errorf("%s: %v, want Unavailable that says %q", what, err, outcome)
	}
}

// TestR27_FilesGoneBeforeTheAnswer checks that a change is not acknowledged if the files
// disappeared while it was being committed.
func TestR27_FilesGoneBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	ok(t, err)
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	err = store.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
		ok(t, os.Remove(filepath.Join(dir, "lyceum.db-wal")))
		_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
		return err
	})
	refused(t, "a change", err, outcomeUnknown)
}

// TestR27_IdleServerNotices checks that missing files are logged even if nobody writes.
func TestR27_IdleServerNotices(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), &storetest.Log{}
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	ok(t, err)
	defer store.Close()
	ok(t, os.Remove(filepath.Join(dir, "lyceum.db")))
	if !storetest.Await(func() bool { return log.Count("changes are refused") > 0 }) {
		t.Fatal("the log never says it")
	}
}
