package sqlstore

import (
	"errors"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSnapshotSurvivesLostConnections: what reads does not notice that the database was started
// again, as long as nothing has been read.
func TestSnapshotSurvivesLostConnections(t *testing.T) {
	t.Parallel()
	s, err := OpenPostgres(t.Context(), storetest.Postgres(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	school := storetest.MakeSchool(t, s)
	read := func(v lyceum.View) error {
		_, err := v.Users.List(v, lyceum.UserFilter{}, lyceum.Page{Number: 1, Size: 1})
		return err
	}
	for range 2 { // a connection that has been idle for long, or is used for the second time, is tried before
		var open, done sync.WaitGroup
		open.Add(postgresReaders)
		for range postgresReaders {
			done.Go(func() {
				err := s.AtOnce(t.Context(), school, func(v lyceum.View) error {
					err := read(v)
					open.Done()
					open.Wait()
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
	}
	end := func() {
		t.Helper()
		if _, err := s.writes.db.ExecContext(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "+
			"WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Fatal(err)
		}
	}
	end()
	if err := s.AtOnce(t.Context(), school, read); err != nil {
		t.Errorf("on connections that are lost: %v", err)
	}
	times := 0
	err = s.AtOnce(t.Context(), school, func(v lyceum.View) error {
		times++
		err := read(v)
		end()
		return errors.Join(err, read(v))
	})
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Unavailable || times != 1 {
		t.Errorf("the connection was lost in the middle: read %d times, %v", times, err)
	}
}
