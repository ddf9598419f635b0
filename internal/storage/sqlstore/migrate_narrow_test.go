package sqlstore

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// The payments of a user, a sale and a pricing plan from before their indexes were narrowed or
// dropped are listed as before.
func TestPaymentsAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	statements := []string{
		"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Oak', 0)",
	}
	for _, row := range []struct{ school, id, user, at, sale int }{
		{7, 1, 1, 30, 1}, {7, 2, 2, 20, 2}, {7, 3, 1, 10, 1}, {8, 1, 1, 40, 1},
	} {
		if row.id == row.user {
			statements = append(statements, fmt.Sprintf("INSERT INTO users (school_id, user_id, email, email_key, role, created_at) "+
				"VALUES (%d, %d, 'user%[2]d@example.com', 'user%[2]d@example.com', 'student', 0)", row.school, row.user))
		}
		if row.id == 1 {
			statements = append(statements, fmt.Sprintf("INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, "+
				"frequency, created_at, updated_at) VALUES (%d, 1, 'Plan', 900, 'USD', 'one-time payment', 0, 0)", row.school))
		}
		if row.id == row.sale {
			statements = append(statements,
				fmt.Sprintf("INSERT INTO sales (school_id, sale_id, created_at) VALUES (%d, %d, %d)", row.school, row.sale, row.at*1e6))
		}
		statements = append(statements,
			fmt.Sprintf("INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, "+
				"purchased_at, charge, final_price, currency, tax_charge, revenue, paid, affiliate_fees, author_fees, amount_refunded) "+
				"VALUES (%d, %d, %d, 1, %d, %d, %[5]d, 900, 900, 'USD', 0, 900, 1, 0, 0, 0)",
				row.school, row.id, row.user, row.sale, row.at*1e6),
		)
	}
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 83, statements...)
			for order, want := range map[lyceum.Order][]lyceum.TransactionID{lyceum.NewestFirst: {1, 3}, lyceum.OldestFirst: {3, 1}} {
				of := lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(1))}
				page, err := store.FindTransactions(t.Context(), 7, of, order, lyceum.Page{Number: 1, Size: 20})
				var got []lyceum.TransactionID
				for _, row := range page.All() {
					got = append(got, row.ID)
				}
				if err != nil || !slices.Equal(got, want) || page.Total != 2 {
					t.Errorf("they are %v of %d, %v; want %v", got, page.Total, err, want)
				}
				page, err = store.FindTransactions(t.Context(), 7, lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(1))},
					order, lyceum.Page{Number: 1, Size: 2})
				if err != nil || page.Total != 3 || page.Transactions.Len() != 2 {
					t.Errorf("those of the plan are %d of %d, %v", page.Transactions.Len(), page.Total, err)
				}
				v := store.In(t.Context(), 7)
				ofSale, err := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{Sale: lyceum.Some(lyceum.SaleID(1)), Order: order})
				if got = nil; err == nil {
					for i := range ofSale {
						got = append(got, ofSale[i].ID)
					}
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("those of the sale are %v, %v; want %v", got, err, want)
				}
			}
		})
	}
}

// The payments of a user are found without reading those of others, whatever the other
// conditions.
func TestPaymentsOfAUserAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	user := lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(7))}
	inTime, ofPlan, ofCourse := user, user, user
	inTime.Created = lyceum.Period{After: storetest.Day(1), Until: storetest.Day(28)}
	ofPlan.PricingPlanID = lyceum.Some(lyceum.PricingPlanID(1))
	ofCourse.CourseID = lyceum.Some(lyceum.CourseID(1))
	for _, of := range []lyceum.TransactionFilter{user, inTime, ofPlan, ofCourse} {
		for _, order := range []lyceum.Order{lyceum.NewestFirst, lyceum.OldestFirst} {
			by.seen = nil
			_, err := store.FindTransactions(t.Context(), 1, of, order, lyceum.Page{Number: 1, Size: 20})
			if err != nil || len(by.seen) == 0 {
				t.Fatal(err, by.seen)
			}
			if _, err := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{TransactionFilter: of, Order: order}); err != nil {
				t.Fatal(err)
			}
			wantNoStep(t, store, by, "SCAN t", "INDEX transactions_created")
		}
	}
	stamp := lyceum.Stamp{School: 1, At: storetest.Begin, Actor: "test"}
	bought := lyceum.PurchaseFilter{User: lyceum.Some(lyceum.UserID(7))}
	for name, read := range map[string]func() error{
		"purchases": func() error {
			_, err := lyceum.All(v.Sales, v, lyceum.SaleFilter{Purchases: lyceum.Some(bought)})
			return err
		},
		"paid sales": func() error {
			return store.Write(t.Context(), stamp, func(tx lyceum.Tx) error {
				_, err := tx.FindPaidSales([]lyceum.UserID{1, 2, 3})
				return err
			})
		},
		"what is known of a person": func() error { return v.EachPersonal(7, func(string, []byte) error { return nil }) },
	} {
		by.seen = nil
		if err := read(); err != nil {
			t.Fatal(name, err)
		}
		steps := strings.Join(stepsOf(t, store, by), "\n")
		if !strings.Contains(steps, "SEARCH t USING INDEX transactions_user (school_id=? AND <expr>=? AND user_id=?)") ||
			strings.Contains(steps, "SCAN t") || strings.Contains(steps, "SEARCH transactions USING INDEX sqlite_autoindex_transactions_1 (school_id=?)\n") {
			t.Errorf("%s are read by\n%s", name, steps)
		}
	}
}

// The payments of sales are found without reading those of others.
func TestPaymentsOfSalesAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	sales := []lyceum.SaleID{1, 2}
	for _, of := range []lyceum.TransactionQuery{{Sale: lyceum.Some(lyceum.SaleID(1))}, {Sales: sales}, {LastOf: sales}} {
		for _, of.Order = range []lyceum.Order{lyceum.NewestFirst, lyceum.OldestFirst} {
			by.seen = nil
			_, err := lyceum.All(v.Transactions, v, of)
			if err != nil || len(by.seen) == 0 {
				t.Fatal(err, by.seen)
			}
			steps := strings.Join(stepsOf(t, store, by), "\n")
			if !strings.Contains(steps, "INDEX transactions_sale (school_id=? AND sale_id=?)") ||
				strings.Contains(steps, "SCAN t") || strings.Contains(steps, "INDEX transactions_created") {
				t.Errorf("they are read by\n%s", steps)
			}
		}
	}
}

// For a row that refers to a user, SQLite looks for that user in an index rather than in the
// table, which is wider.
func TestForeignKeysAreCheckedByANarrowIndex(t *testing.T) {
	t.Parallel()
	store := openTest(t)
	root := func(name string) string {
		return lines(t, store, "SELECT rootpage FROM sqlite_schema WHERE name = '"+name+"'", 1)[0][0]
	}
	narrow, wide := root("users_ids"), root("users")
	for _, insert := range []string{
		"INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, " +
			"final_price, currency, tax_charge, revenue, paid, affiliate_fees, author_fees, amount_refunded) " +
			"VALUES (1, 1, 1, 1, 1, 0, 0, 0, 0, 'USD', 0, 0, 1, 0, 0, 0)",
		"INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at) VALUES (1, 1, 1, 1, 0)",
	} {
		var opened []string
		for _, step := range lines(t, store, "EXPLAIN "+insert, 8) {
			if strings.HasPrefix(step[1], "Open") {
				opened = append(opened, step[3])
			}
		}
		if !slices.Contains(opened, narrow) || slices.Contains(opened, wide) {
			t.Errorf("%s opens %v; want %s, and not %s", insert, opened, narrow, wide)
		}
	}
}

// A whole user is found by the primary key, not first in the narrow index.
func TestUsersAreFoundByTheirPrimaryKey(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	school := storetest.MakeSchool(t, store)
	ada := lyceum.User{ID: 1, Email: "ada@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin}
	save := func() {
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			if _, _, err := tx.MayBegin(ada.ID, 1); err != nil {
				return err
			}
			_, err := tx.Users.Save(tx, ada)
			return err
		})
	}
	save()
	v := store.In(t.Context(), school)
	by.seen = nil
	ada.Name = lyceum.Some("Ada")
	save()
	got, e1 := v.Users.Get(v, ada.ID)
	found, e2 := v.Users.Find(v, ada.ID)
	summaries, e3 := v.UserSummaries.Find(v, ada.ID)
	if err := errors.Join(e1, e2, e3); err != nil || got.Name != ada.Name || len(found) != 1 || len(summaries) != 1 {
		t.Fatal(got, found, summaries, err)
	}
	steps := strings.Join(stepsOf(t, store, by), "\n")
	if strings.Contains(steps, "INDEX users_ids") || strings.Count(steps, "users USING PRIMARY KEY") < 5 {
		t.Errorf("users are found by\n%s", steps)
	}
}

// The payments and purchases of users are found whatever their time, even before 1970.
func TestPaymentsOfAUserOfAnyTime(t *testing.T) {
	t.Parallel()
	const n, users = 600, 20
	bothEngines(t, Options{}, func(t *testing.T, store *Store) {
		other, _ := soldBefore(t, store, 50)
		school, sold := soldBefore(t, store, n)
		r := rand.New(rand.NewPCG(1, 2))
		payments, purchases := map[lyceum.UserID][]lyceum.TransactionID{}, map[lyceum.UserID]int64{}
		for i := range sold {
			x := &sold[i]
			x.CreatedAt = time.Unix(r.Int64N(4e9)-2e9, 0).UTC() // 1906 to 2033
			if i%5 == 0 {
				x.CreatedAt = time.Unix((r.Int64N(9)-4)*365*24*3600, 0).UTC() // around the beginning of a year
			}
		}
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			_, err := tx.Transactions.Save(tx, sold...)
			return err
		})
		slices.SortFunc(sold, func(a, b lyceum.Transaction) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		for i := range sold {
			payments[sold[i].UserID] = append(payments[sold[i].UserID], sold[i].ID)
			purchases[sold[i].UserID]++ // each has a separate sale
		}
		v := store.In(t.Context(), school)
		for user := range lyceum.UserID(users + 2) {
			of := lyceum.TransactionQuery{TransactionFilter: lyceum.TransactionFilter{UserID: lyceum.Some(user)}, Order: lyceum.OldestFirst}
			found, err := lyceum.All(v.Transactions, v, of)
			var got []lyceum.TransactionID
			for i := range found {
				got = append(got, found[i].ID)
			}
			if err != nil || !slices.Equal(got, payments[user]) {
				t.Errorf("user %d paid %v, %v; want %v", user, got, err, payments[user])
			}
			bought := lyceum.SaleFilter{Purchases: lyceum.Some(lyceum.PurchaseFilter{User: lyceum.Some(user)})}
			page, err := v.Sales.List(v, bought, lyceum.Page{Number: 1, Size: 1})
			if err != nil || page.Total != purchases[user] {
				t.Errorf("user %d bought %d, %v; want %d", user, page.Total, err, purchases[user])
			}
		}
		if found, err := lyceum.All(v.Transactions, store.In(t.Context(), other), lyceum.TransactionQuery{
			TransactionFilter: lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(1))},
		}); err != nil || len(found) >= 50 {
			t.Errorf("in the other school %d, %v", len(found), err)
		}
	})
}
