package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// unkeyed is a SQLite store with a school that has courses 1 to 3, user 1 and pricing plan 1.
type unkeyed struct {
	*Store

	dir    string
	school lyceum.SchoolID
	other  *sql.DB
	ran    ranTexts
}

func openUnkeyed(t *testing.T) *unkeyed {
	t.Helper()
	u := &unkeyed{dir: t.TempDir()}
	s, err := Open(t.Context(), u.dir, Options{Trace: u.ran.note})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	u.Store, u.school = s, schoolOfDeeds(t, s)
	if u.other, err = sql.Open("sqlite", sqliteDSN(filepath.Join(u.dir, FileName), Full, "")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.other.Close() })
	storetest.Write(t, s, u.school, func(tx lyceum.Tx) error {
		_, plans := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 1, Name: "Plan", Currency: "EUR", Frequency: lyceum.OneTimePayment})
		return errors.Join(plans, tx.Users.Insert(tx, lyceum.User{ID: 1, Email: "user1@example.com", Role: lyceum.Student}))
	})
	return u
}

// write runs a change of many rows.
func (u *unkeyed) write(ctx context.Context, of lyceum.SchoolID, do func(lyceum.Tx) error) error {
	return u.Write(ctx, lyceum.Stamp{School: of, At: storetest.Begin, Actor: "import", Many: true}, do)
}

func transactionOf(id lyceum.TransactionID, user lyceum.UserID, plan lyceum.PricingPlanID) lyceum.Transaction {
	return lyceum.Transaction{
		ID: id, SaleID: lyceum.SaleID(id), UserID: user, PricingPlanID: plan, Currency: "EUR", CreatedAt: storetest.Begin,
		PurchasedAt: storetest.Begin,
	}
}

// TestManyRowsReferToOthers checks that a change of a great many rows is rejected for the same
// reasons, and in the same words, as SQLite rejects any other, and that nothing of it is kept.
func TestManyRowsReferToOthers(t *testing.T) {
	t.Parallel()
	u := openUnkeyed(t)
	transaction := func(x lyceum.Transaction) func(lyceum.Tx) error {
		return func(tx lyceum.Tx) error { return tx.Transactions.Insert(tx, x) }
	}
	enrollment := func(user lyceum.UserID, course lyceum.CourseID) func(lyceum.Tx) error {
		return func(tx lyceum.Tx) error {
			return tx.Enrollments.Insert(tx, lyceum.Enrollment{ID: 1, User: user, Course: course, EnrolledAt: storetest.Begin})
		}
	}
	plan := func(course lyceum.CourseID) func(lyceum.Tx) error {
		return func(tx lyceum.Tx) error {
			p, err := tx.PricingPlans.Get(tx, 1)
			p.CourseID = lyceum.Some(course)
			return errors.Join(err, tx.PricingPlans.Update(tx, p))
		}
	}
	for name, c := range map[string]struct {
		school   lyceum.SchoolID
		do       func(lyceum.Tx) error
		accepted bool
	}{
		"user and plan":         {u.school, transaction(transactionOf(1, 1, 1)), true},
		"no user":               {u.school, transaction(transactionOf(2, 2, 1)), false},
		"no plan":               {u.school, transaction(transactionOf(2, 1, 2)), false},
		"user and course":       {u.school, enrollment(1, 3), true},
		"no course":             {u.school, enrollment(1, 4), false},
		"a plan's course":       {u.school, plan(2), true},
		"a plan without course": {u.school, func(tx lyceum.Tx) error { return tx.PricingPlans.Insert(tx, lyceum.PricingPlan{ID: 3}) }, true},
		"a plan's lost course":  {u.school, plan(4), false},
		"no school":             {u.school + 9, func(tx lyceum.Tx) error { return tx.Authors.Insert(tx, lyceum.AuthorProfile{ID: 1}) }, false},
		"its own parent": {u.school, func(tx lyceum.Tx) error {
			err := tx.Transactions.Insert(tx, transactionOf(5, 5, 1))
			return errors.Join(err, tx.Users.Insert(tx, lyceum.User{ID: 5, Email: "user5@example.com", Role: lyceum.Student}))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := u.rows(t)
			err := u.write(t.Context(), c.school, c.do)
			if (err == nil) != c.accepted {
				t.Fatalf("%v, accepted should be %t", err, c.accepted)
			}
			if c.accepted {
				return
			}
			if after := u.rows(t); after != before {
				t.Errorf("%d rows more", after-before)
			}
			keyed := u.Write(t.Context(), lyceum.Stamp{School: c.school, At: storetest.Begin, Actor: "other"}, c.do)
			if keyed == nil || err.Error() != keyed.Error() {
				t.Errorf("%v, otherwise %v", err, keyed)
			}
		})
	}
	if u.rows(t) == 0 {
		t.Error("nothing was kept")
	}
	err := u.Store.write(t.Context(), u.school, func(q *session) error { return q.exec("DELETE FROM users WHERE user_id = 1") })
	if err == nil || !strings.Contains(err.Error(), "FOREIGN KEY") {
		t.Errorf("afterwards a user with transactions is deleted: %v", err)
	}
}

// rows counts what the cases write.
func (u *unkeyed) rows(t *testing.T) (n int) {
	t.Helper()
	err := u.other.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM transactions) + (SELECT count(*) FROM enrollments)"+
		" + (SELECT count(*) FROM users) + (SELECT count(*) FROM authors) + (SELECT count(*) FROM pricing_plans)").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestManyRowsReferToOthersNoLonger checks that rows that were found are looked up again once
// they may be gone.
func TestManyRowsReferToOthersNoLonger(t *testing.T) {
	t.Parallel()
	gone := []string{"DELETE FROM progress", "DELETE FROM users WHERE user_id = 2"}
	for name, drop := range map[string]func(*testing.T, *unkeyed) error{
		"by another process": func(t *testing.T, u *unkeyed) error {
			t.Helper()
			_, err := u.other.ExecContext(t.Context(), strings.Join(gone, "; "))
			return err
		},
		"by a change": func(t *testing.T, u *unkeyed) error {
			t.Helper()
			return u.Store.write(t.Context(), u.school, func(q *session) error {
				return errors.Join(q.exec(gone[0]), q.exec(gone[1]))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openUnkeyed(t)
			err := u.write(t.Context(), u.school, func(tx lyceum.Tx) error {
				return tx.Users.Insert(tx, lyceum.User{ID: 2, Email: "user2@example.com", Role: lyceum.Student})
			})
			if err == nil {
				err = u.write(t.Context(), u.school, func(tx lyceum.Tx) error {
					return tx.Progress.Insert(tx, lyceum.Progress{ID: 1, User: 2, Course: 1})
				})
			}
			if err == nil {
				err = drop(t, u)
			}
			if err != nil {
				t.Fatal(err)
			}
			err = u.write(t.Context(), u.school, func(tx lyceum.Tx) error {
				return tx.Transactions.Insert(tx, transactionOf(1, 2, 1))
			})
			if err == nil || !strings.Contains(err.Error(), "FOREIGN KEY") {
				t.Errorf("a transaction of a user who is gone: %v", err)
			}
		})
	}
}

// TestManyRowsReferToWhatFailed checks that a row of a failed change does not exist for the
// changes after it.
func TestManyRowsReferToWhatFailed(t *testing.T) {
	t.Parallel()
	u := openUnkeyed(t)
	deeds := []*deed{{many: true, do: func(tx lyceum.Tx, _ func(string, ...any)) error {
		err := tx.Users.Insert(tx, lyceum.User{ID: 2, Email: "user2@example.com", Role: lyceum.Student})
		if err == nil {
			err = tx.Transactions.Insert(tx, transactionOf(1, 2, 1))
		}
		if err == nil { // makes both be written
			_, err = lyceum.All(tx.Users, tx, lyceum.UserFilter{})
		}
		if err == nil {
			err = tx.Transactions.Each(tx, lyceum.TransactionQuery{}, func(*lyceum.Transaction) error { return nil })
		}
		return errors.Join(err, errRefused)
	}}, {many: true, do: func(tx lyceum.Tx, _ func(string, ...any)) error {
		return tx.Transactions.Insert(tx, transactionOf(2, 2, 1))
	}}, {many: true, do: func(tx lyceum.Tx, _ func(string, ...any)) error {
		return tx.Transactions.Insert(tx, transactionOf(3, 1, 1))
	}}}
	together(u.Store, deeds, u.school)
	if !deeds[0].failed || !deeds[1].failed || deeds[2].failed {
		t.Errorf("failed: %t (%v), %t (%v), %t (%v)", deeds[0].failed, deeds[0].reason, deeds[1].failed, deeds[1].reason,
			deeds[2].failed, deeds[2].reason)
	}
	var broken int
	err := u.other.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken)
	if err != nil || broken > 0 {
		t.Errorf("%d rows refer to nothing, %v", broken, err)
	}
}

// TestManyRowsReferToFewOthers checks that what rows refer to is looked up once.
func TestManyRowsReferToFewOthers(t *testing.T) {
	t.Parallel()
	u := openUnkeyed(t)
	for id, want := range []int{1, 0} {
		u.ran.take()
		err := u.write(t.Context(), u.school, func(tx lyceum.Tx) error {
			return tx.Transactions.Insert(tx, transactionOf(lyceum.TransactionID(id+1), 1, 1))
		})
		if err != nil {
			t.Fatal(err)
		}
		queries := 0
		for _, text := range u.ran.take() {
			if strings.HasPrefix(text, "SELECT user_id FROM users") {
				queries++
			}
		}
		if queries != want {
			t.Errorf("transaction %d: users were looked for %d times, want %d", id+1, queries, want)
		}
	}
}

// TestManyRowsWithoutTime checks that a change that has to run again with foreign keys, but
// has no time for it, says so.
func TestManyRowsWithoutTime(t *testing.T) {
	t.Parallel()
	u := openUnkeyed(t)
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	const patience = 50 * time.Millisecond
	s, err := Open(t.Context(), u.dir, Options{Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	err = s.submit(t.Context(), &change{school: u.school, many: true, run: func(q *session) error {
		over, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		<-over.Done()
		return q.exec("DELETE FROM progress")
	}})
	if e := lyceum.Public(err); e == nil || e.Kind != lyceum.Unavailable || strings.Contains(err.Error(), "rows may refer") {
		t.Errorf("got %v", err)
	}
}

// TestForeignKeysOfSQLite checks that the store knows all foreign keys of the schema.
func TestForeignKeysOfSQLite(t *testing.T) {
	t.Parallel()
	u := openUnkeyed(t)
	found := 0
	for table, keys := range u.writes.keys {
		for _, key := range keys {
			found++
			var same int
			err := u.other.QueryRowContext(t.Context(), `SELECT count(*) FROM pragma_foreign_key_list(?) WHERE "from" = ? AND "table" = ?
				AND "to" = ? AND seq = 1`, table, key.column, key.table, key.key).Scan(&same)
			if err != nil || same != 1 {
				t.Errorf("%s has no key %+v: %v", table, key, err)
			}
		}
	}
	var want int
	err := u.other.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema m, pragma_foreign_key_list(m.name) k
		WHERE m.type = 'table' AND k.seq = 1`).Scan(&want)
	if err != nil || found != want || want == 0 {
		t.Errorf("%d keys of %d, %v", found, want, err)
	}
}
