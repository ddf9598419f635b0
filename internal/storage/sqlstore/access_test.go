package sqlstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSignInsGoTogether checks that sign-ins and exchanges of codes that share a commit do not
// need their rows in the database before the others are done, that a code is spent once, and
// that a sign-in is not a change of a user.
func TestSignInsGoTogether(t *testing.T) {
	t.Parallel()
	const users = 32
	var savepoints storetest.Savepoints
	bothEngines(t, Options{Trace: savepoints.Trace}, func(t *testing.T, s *Store) {
		school := storetest.MakeSchool(t, s)
		hash := func(i int) lyceum.KeyHash { return lyceum.KeyHash{byte(i)} }
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			app := lyceum.OAuthApp{ID: 1, Name: "App", ClientID: "app", RedirectURL: "https://app.example/", CreatedAt: storetest.Begin}
			if _, err := tx.OAuthApps.Save(tx, app); err != nil {
				return err
			}
			for i := range users {
				user := lyceum.UserID(i + 1)
				_, e1 := tx.Users.Save(tx, lyceum.User{ID: user, Email: fmt.Sprintf("%d@example.com", i), CreatedAt: storetest.Begin})
				_, e2 := tx.Grants.Save(tx, lyceum.Grant{ID: lyceum.GrantID(i + 1), App: 1, User: user, CreatedAt: storetest.Begin})
				e3 := tx.AuthorizationCodes.Insert(tx, lyceum.AuthorizationCode{
					Hash: hash(i), Grant: lyceum.GrantID(i + 1), RedirectURL: app.RedirectURL, CreatedAt: storetest.Begin,
					ExpiresAt: storetest.Begin.Add(time.Minute),
				})
				if err := errors.Join(e1, e2, e3); err != nil {
					return err
				}
			}
			return nil
		})
		at, until := storetest.Begin.Add(time.Second), storetest.Begin.Add(time.Hour)
		write := func(do func(tx lyceum.Tx) error) error {
			return s.Write(t.Context(), lyceum.Stamp{School: school, At: at, Actor: "test"}, do)
		}
		savepoints.Together(t, s.Engine()+", sign-ins", users, func(i int) error {
			return write(func(tx lyceum.Tx) error { return tx.SignedIn(lyceum.UserID(i+1), "192.0.2.1", at) })
		})
		for round, want := range []bool{true, false} {
			var spent [users]bool
			savepoints.Together(t, s.Engine()+", codes", users, func(i int) error {
				return write(func(tx lyceum.Tx) (err error) {
					spent[i], err = tx.SpendCode(hash(i), at, until)
					return err
				})
			})
			for i, got := range spent {
				if got != want {
					t.Errorf("round %d: code %d was unspent: %t, want %t", round, i, got, want)
				}
			}
		}
		v := s.In(t.Context(), school)
		user, e1 := v.Users.Get(v, users)
		code, e2 := v.AuthorizationCodes.Get(v, hash(0))
		if err := errors.Join(e1, e2); err != nil {
			t.Fatal(err)
		}
		if user.LastSignInAt != lyceum.Some(at) || user.LastSignInIP != lyceum.Some("192.0.2.1") || user.UpdatedAt.Equal(at) {
			t.Errorf("signed in at %v from %v, updated at %v", user.LastSignInAt, user.LastSignInIP, user.UpdatedAt)
		}
		if code.UsedAt != lyceum.Some(at) || !code.ExpiresAt.Equal(until) {
			t.Errorf("the code was used at %v, and is kept until %v", code.UsedAt, code.ExpiresAt)
		}
		if spent, err := func() (spent bool, err error) {
			err = write(func(tx lyceum.Tx) error { spent, err = tx.SpendCode(hash(99), at, until); return err })
			return spent, err
		}(); spent || err != nil {
			t.Errorf("a code that is not there was unspent: %t, %v", spent, err)
		}
	})
}

// TestRevokingLeavesWhenAGrantWasUsed checks that PostgreSQL keeps the time a grant was used
// while a change revokes it.
func TestRevokingLeavesWhenAGrantWasUsed(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		if s.Engine() != "postgres" { // SQLite has one writer
			return
		}
		school := schoolOfDeeds(t, s)
		used := storetest.Begin.Add(time.Minute)
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			_, e1 := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ada@example.com", CreatedAt: storetest.Begin})
			app := lyceum.OAuthApp{ID: 1, Name: "App", ClientID: "app", RedirectURL: "https://app.example/", CreatedAt: storetest.Begin}
			_, e2 := tx.OAuthApps.Save(tx, app)
			_, e3 := tx.Grants.Save(tx, lyceum.Grant{ID: 1, App: 1, User: 1, CreatedAt: storetest.Begin})
			return errors.Join(e1, e2, e3)
		})
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			n, err := tx.RevokeGrants(lyceum.GrantFilter{User: lyceum.Some(lyceum.UserID(1))}, 0, used)
			if err != nil || n == 0 { // the grant has not been read yet
				return err
			}
			_, err = s.reads.db.ExecContext(t.Context(), "UPDATE grants SET last_used_at = $1 WHERE school_id = $2",
				micros(used), int64(school))
			return err
		})
		v := s.In(t.Context(), school)
		g, err := v.Grants.Get(v, 1)
		if err != nil || g.RevokedAt != lyceum.Some(used) || g.LastUsedAt != lyceum.Some(used) {
			t.Errorf("revoked at %v, used at %v, %v", g.RevokedAt, g.LastUsedAt, err)
		}
	})
}
