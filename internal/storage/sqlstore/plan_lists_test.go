package sqlstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// A page of a list with an index is read by the ids of its rows, although other conditions have
// indexes, too: the rows may be few among those that match these. If hardly any others do, the
// page is read in order, from its first row on.
func TestPagesOfIndexedLists(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	indexAll(store)
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		sale := lyceum.Sale{ID: 1, CreatedAt: storetest.Begin, PurchasedAt: storetest.Begin}
		sale.Method = lyceum.Some(lyceum.PaymentMethod("paypal"))
		if _, err := tx.Sales.Save(tx, sale); err != nil {
			return err
		}
		if _, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Bread", CreatedAt: storetest.Begin}); err != nil {
			return err
		}
		for id, role := range map[lyceum.UserID]lyceum.Role{1: lyceum.Student, 9: lyceum.Student, 20: lyceum.Author, 21: lyceum.Author} {
			email := fmt.Sprintf("user%d@example.com", id)
			if _, err := tx.Users.Save(tx, lyceum.User{ID: id, Email: email, Role: role, CreatedAt: storetest.Begin}); err != nil {
				return err
			}
		}
		return storetest.Enroll(tx, lyceum.Enrollment{ID: 1, User: 1, Course: 1, EnrolledAt: storetest.Begin})
	})
	v, page := store.In(t.Context(), school), lyceum.Page{Number: 1, Size: 25}
	for name, tc := range map[string]struct {
		read func() error
		want string
	}{
		"purchases": {func() error {
			_, err := v.Sales.List(v, lyceum.SaleFilter{Purchases: lyceum.Some(lyceum.PurchaseFilter{Method: lyceum.Some(lyceum.PaymentMethod("paypal"))})}, page)
			return err
		}, "SEARCH sales USING PRIMARY KEY (school_id=? AND sale_id=?)"},
		"enrollments": {func() error {
			_, err := v.FindEnrolled(lyceum.EnrolledFilter{Course: 1, ActiveAt: storetest.Begin}, page)
			return err
		}, "SEARCH e USING COVERING INDEX enrollments_course (school_id=? AND course_id=? AND enrolled_at<?)"},
		"holdings": {func() error {
			_, err := v.FindHoldings(lyceum.HoldingFilter{
				Product: lyceum.CourseID(1).Product(), At: storetest.Begin, Statuses: []lyceum.HoldingStatus{lyceum.HoldingActive},
			}, page)
			return err
		}, "SEARCH entitlements USING PRIMARY KEY (school_id=? AND entitlement_id=?)"},
		"users": {func() error {
			_, err := v.Users.List(v, lyceum.UserFilter{Role: lyceum.Some(lyceum.Student)}, page)
			return err
		}, "SEARCH users USING PRIMARY KEY (school_id=? AND user_id=?)"},
		"users whose ids are close together": {func() error {
			_, err := v.Users.List(v, lyceum.UserFilter{Role: lyceum.Some(lyceum.Author)}, page)
			return err
		}, "SEARCH users USING PRIMARY KEY (school_id=? AND user_id>? AND user_id<?)"},
	} {
		for range 2 { // the index is made after the first time
			by.seen = nil
			if err := tc.read(); err != nil {
				t.Fatal(err)
			}
			store.lists.work.Wait()
		}
		if got := strings.Join(stepsOf(t, store, by), "\n"); !strings.Contains(got, tc.want) || strings.Contains(got, "sales_purchased") {
			t.Errorf("%s are read by\n%s\nwant %s", name, got, tc.want)
		}
	}
}

// A filter of purchases that may match few is not evaluated in the order of all purchases, which
// would read all of them in a detour. One that matches most is, because the page is near the
// beginning.
func TestRarePurchasesAreNotReadInOrder(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	list := func(f lyceum.PurchaseFilter) {
		by.seen = nil
		_, err := v.Sales.List(v, lyceum.SaleFilter{Purchases: lyceum.Some(f)}, lyceum.Page{Number: 1, Size: 25})
		if err != nil || len(by.seen) == 0 {
			t.Fatal(err, by.seen)
		}
	}
	const inOrder = "INDEX sales_purchased"
	for _, rare := range []lyceum.PurchaseFilter{
		{Active: lyceum.Some(false)},
		{Method: lyceum.Some(lyceum.PaymentMethod("paypal"))},
		{Recurring: lyceum.Some(true)},
		{Kind: lyceum.Some(lyceum.CourseKind)},
	} {
		list(rare)
		if steps := strings.Join(stepsOf(t, store, by), "\n"); strings.Contains(steps, inOrder) || strings.Contains(steps, "transactions_sale") ||
			strings.Contains(steps, "SEARCH d USING PRIMARY KEY") {
			t.Errorf("purchases are read by\n%s\nwant neither their order nor the transactions of each nor all disputes", steps)
		}
	}
	list(lyceum.PurchaseFilter{Active: lyceum.Some(true)})
	if steps := strings.Join(stepsOf(t, store, by), "\n"); !strings.Contains(steps, inOrder) || strings.Contains(steps, "transactions_sale") {
		t.Errorf("active purchases are read by\n%s\nwant them in order", steps)
	}
}
