package sales_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// orders returns all permutations of a list.
func orders[T any](of []T) (all [][]T) {
	if len(of) == 0 {
		return [][]T{nil}
	}
	for i := range of {
		rest := append(slices.Clone(of[:i]), of[i+1:]...)
		for _, more := range orders(rest) {
			all = append(all, append([]T{of[i]}, more...))
		}
	}
	return all
}

// file is a file that somebody imports.
type file struct {
	name string
	take func(*testing.T, *books) ([]lyceum.RowProblem, error)
}

// TestFilesLinkInAnyOrder checks that which sales imported enrollments belong to does not
// depend on the order of the files, even of those that change what a plan sells or what a
// collection contains.
func TestFilesLinkInAnyOrder(t *testing.T) {
	bundle := lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
	plan := func(id lyceum.PricingPlanID, course lyceum.CourseID) lyceum.PricingPlan {
		return lyceum.PricingPlan{ID: id, Name: "Plan", Price: 1000, Currency: "USD", CourseID: some(course)}
	}
	sold := func(sale lyceum.SaleID, user lyceum.UserID, plan lyceum.PricingPlanID) lyceum.Transaction {
		at := storetest.Begin
		return lyceum.Transaction{
			ID: lyceum.TransactionID(sale), SaleID: sale, UserID: user, PricingPlanID: plan, CreatedAt: at, PurchasedAt: at,
			FinalPrice: 1000, Charge: 1000, Revenue: 1000, Currency: "USD", Paid: true,
		}
	}
	sales := file{"sales", func(t *testing.T, b *books) ([]lyceum.RowProblem, error) {
		_, p, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{
			sold(1, 1, 40), sold(2, 2, 40), sold(3, 3, 41), sold(4, 1, 41),
		})
		return p, err
	}}
	enrollments := file{"enrollments", func(t *testing.T, b *books) ([]lyceum.RowProblem, error) {
		var rows []lyceum.Enrollment
		for user := lyceum.UserID(1); user <= 3; user++ {
			for course := lyceum.CourseID(1); course <= 2; course++ {
				rows = append(rows, lyceum.Enrollment{User: user, Course: course, EnrolledAt: storetest.Begin})
			}
		}
		_, p, err := b.learning.ImportEnrollments(b.by()).Save(t.Context(), rows)
		return p, err
	}}
	plans := file{"plan 40 sells course 2", func(t *testing.T, b *books) ([]lyceum.RowProblem, error) {
		_, p, err := b.learning.ImportPricingPlans(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.PricingPlan{plan(40, 2)})
		return p, err
	}}
	included := file{"course 1 in the collection", func(t *testing.T, b *books) ([]lyceum.RowProblem, error) {
		_, p, err := b.learning.CollectionProducts().Import(b.by()).Save(t.Context(), []lyceum.CollectionProduct{{In: 1, Product: lyceum.CourseID(1).Product()}})
		return p, err
	}}
	want := []string{
		"user 1 course 1 sale 4", "user 1 course 2 sale 1", "user 2 course 1 import", "user 2 course 2 sale 2",
		"user 3 course 1 sale 3", "user 3 course 2 import",
	}
	stores := engines(t)
	for _, order := range orders([]file{sales, enrollments, plans, included}) {
		name := ""
		for _, f := range order {
			name += f.name + ", "
		}
		for engine, store := range stores {
			b := openBooks(t, store)
			name := engine + ": " + name
			storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
				if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All"}); err != nil {
					return err
				}
				_, err := tx.PricingPlans.Save(tx, plan(40, 1), lyceum.PricingPlan{ID: 41, Name: "All", Price: 1000, Currency: "USD", Other: some(bundle), Frequency: lyceum.OneTimePayment})
				return err
			})
			for _, f := range order {
				if problems, err := f.take(t, b); err != nil || len(problems) > 0 {
					t.Fatal(name, f.name, problems, err)
				}
			}
			b.settle(t)
			if diff := cmp.Diff(want, b.reasons(t)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
	for _, store := range stores {
		findings, err := store.Check(t.Context())
		if err != nil || len(findings) > 0 {
			t.Errorf("check: %v, %v", findings, err)
		}
	}
}

// TestBuyersAreLinkedInParts makes two plans with many buyers sell another course. It checks
// that their sales are relinked in batches, whatever interrupts them, and that an act on a sale
// whose batch is still pending finds it linked.
func TestBuyersAreLinkedInParts(t *testing.T) {
	const many = 250
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		plans := []lyceum.PricingPlan{
			{ID: 40, Name: "Plan", Price: 1000, Currency: "USD", CourseID: some(lyceum.CourseID(1))},
			{ID: 41, Name: "Early", Price: 1000, Currency: "USD", CourseID: some(lyceum.CourseID(1))},
		}
		var users []lyceum.User
		var rows []lyceum.Enrollment
		var paid []lyceum.Transaction
		for id := lyceum.UserID(1); id <= many; id++ {
			users = append(users, lyceum.User{ID: id, Email: fmt.Sprintf("buyer%d@example.com", id), Role: lyceum.Student, CreatedAt: storetest.Begin})
			rows = append(rows, lyceum.Enrollment{User: id, Course: 2, EnrolledAt: storetest.Begin})
			at := storetest.Begin.Add(time.Duration(many-int(id)) * time.Minute)
			paid = append(paid, lyceum.Transaction{
				ID: lyceum.TransactionID(id), SaleID: lyceum.SaleID(id), UserID: id, PricingPlanID: plans[id%2].ID,
				CreatedAt: at, PurchasedAt: at, FinalPrice: 1000, Charge: 1000, Revenue: 1000, Currency: "USD", Paid: true,
			})
		}
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			_, err := tx.Users.Save(tx, users...)
			return err
		})
		for _, take := range []func() ([]lyceum.RowProblem, error){
			func() ([]lyceum.RowProblem, error) {
				_, p, err := b.learning.ImportPricingPlans(b.by(), lyceum.RefuseMissing).Save(t.Context(), plans)
				return p, err
			},
			func() ([]lyceum.RowProblem, error) {
				_, p, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), paid)
				return p, err
			},
			func() ([]lyceum.RowProblem, error) {
				_, p, err := b.learning.ImportEnrollments(b.by()).Save(t.Context(), rows)
				return p, err
			},
			func() ([]lyceum.RowProblem, error) {
				plans[0].CourseID, plans[1].CourseID = some(lyceum.CourseID(2)), some(lyceum.CourseID(2))
				_, p, err := b.learning.ImportPricingPlans(b.by(), lyceum.RefuseMissing).Save(t.Context(), plans)
				return p, err
			},
		} {
			if problems, err := take(); err != nil || len(problems) > 0 {
				t.Fatal(engine, problems, err)
			}
		}
		if waits, err := b.store.FindOverdue(t.Context(), b.now); err != nil || !slices.Contains(waits, b.school) {
			t.Errorf("%s: not overdue: %v, %v", engine, waits, err)
		}
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 7, EndAccess: some(true)}); err != nil {
			t.Fatal(engine, err)
		}
		writes := 0
		for done := false; !done && writes < many; writes++ {
			ctx, stop := context.WithCancel(t.Context())
			begun := 0
			part := learning.New(b.store, func() time.Time {
				if begun++; begun > 1 {
					stop()
				}
				return b.now
			})
			done = part.Settle(ctx, b.school) == nil
			stop()
		}
		if writes != 4 { // of 100, 100 and 50 buyers, and one that finds nothing left
			t.Errorf("%s: %d buyers took %d writes", engine, many, writes)
		}
		var want []string
		for id := 1; id <= many; id++ {
			if id != 7 {
				want = append(want, fmt.Sprintf("user %d course 2 sale %d", id, id))
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, b.reasons(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", engine, diff)
		}
		if err := b.learning.Expire(t.Context(), b.school); err != nil {
			t.Fatal(err)
		}
		if waits, err := b.store.FindOverdue(t.Context(), b.now); err != nil || slices.Contains(waits, b.school) {
			t.Errorf("%s: still overdue: %v, %v", engine, waits, err)
		}
	}
}

// settle brings enrollments and links up to date.
func (b *books) settle(t *testing.T) {
	t.Helper()
	if err := b.learning.Settle(t.Context(), b.school); err != nil {
		t.Fatal(err)
	}
}

// reasons lists where each open entitlement to a course comes from, sorted.
func (b *books) reasons(t *testing.T) (all []string) {
	t.Helper()
	v := b.store.In(t.Context(), b.school)
	err := v.Entitlements.Each(v, lyceum.EntitlementFilter{OpenAt: some(b.now)}, func(e *lyceum.Entitlement) error {
		from := "import"
		if e.Sale.Present {
			from = fmt.Sprint("sale ", e.Sale.Value)
		}
		all = append(all, fmt.Sprint("user ", e.User, " ", e.Product, " ", from))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// TestAnImportedEndOutranksACollection checks that an imported end closes access that a
// collection gives, even if an older enrollment has expired and that has not been noted yet.
func TestAnImportedEndOutranksACollection(t *testing.T) {
	t.Parallel()
	bundle, course := lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}, lyceum.CourseID(1)
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		take := func(problems []lyceum.RowProblem, err error) {
			t.Helper()
			if err != nil || len(problems) > 0 {
				t.Fatal(engine, problems, err)
			}
		}
		enrollment := func(e lyceum.Enrollment) {
			t.Helper()
			_, p, err := b.learning.ImportEnrollments(b.by()).Save(t.Context(), []lyceum.Enrollment{e})
			take(p, err)
		}
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			_, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All"})
			return err
		})
		enrollment(lyceum.Enrollment{User: 1, Course: course, EnrolledAt: b.now, ExpiresAt: some(b.now.Add(time.Hour))})
		b.now = b.now.AddDate(0, 0, 2)
		if _, err := b.learning.Give(t.Context(), b.by(), learning.Gift{UserProduct: learning.UserProduct{User: 1, Product: bundle}}); err != nil {
			t.Fatal(engine, err)
		}
		_, p, err := b.learning.CollectionProducts().Import(b.by()).Save(t.Context(), []lyceum.CollectionProduct{{In: 1, Product: course.Product()}})
		take(p, err)
		for _, want := range []bool{true, false} {
			v := b.store.In(t.Context(), b.school)
			_, access, err := v.Access.First(v, lyceum.EntitlementFilter{
				User: some(lyceum.UserID(1)), Products: []lyceum.Product{course.Product()}, OpenAt: some(b.now),
			})
			if err != nil || access != want {
				t.Errorf("%s: access %v, want %v, %v", engine, access, want, err)
			}
			enrollment(lyceum.Enrollment{User: 1, Course: course, EnrolledAt: b.now.AddDate(0, 0, -1), EndedAt: some(b.now)})
		}
	}
}

// TestAnImportedEndLeavesWhatExpired checks that an older enrollment whose time was over before
// that was noted ends when it expired and is announced, whatever an import says about another
// one, in the same file or later.
func TestAnImportedEndLeavesWhatExpired(t *testing.T) {
	t.Parallel()
	for engine, store := range engines(t) {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, together %v", engine, together), func(t *testing.T) {
				b := openBooks(t, store)
				if err := b.learning.Expire(t.Context(), b.school); err != nil { // start announcing
					t.Fatal(err)
				}
				take := func(rows ...lyceum.Enrollment) {
					t.Helper()
					for i := range rows {
						rows[i].User, rows[i].Course = 1, 1
					}
					_, problems, err := b.learning.ImportEnrollments(b.by()).Save(t.Context(), rows)
					if err != nil || len(problems) > 0 {
						t.Fatal(problems, err)
					}
				}
				over := b.now.Add(time.Hour)
				first := lyceum.Enrollment{EnrolledAt: b.now, ExpiresAt: some(over)}
				again := lyceum.Enrollment{EnrolledAt: b.now.AddDate(0, 0, 1), EndedAt: some(b.now.AddDate(0, 0, 2))}
				if !together {
					take(first)
				}
				b.now = b.now.AddDate(0, 0, 2)
				if together {
					take(first, again)
				} else {
					take(again)
				}
				before := b.last(t)
				if err := b.learning.Expire(t.Context(), b.school); err != nil {
					t.Fatal(err)
				}
				b.want(t, "the clock comes", before, "Enrollment.disabled 1")
				v := b.store.In(t.Context(), b.school)
				reasons, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{User: some(lyceum.UserID(1))})
				if err != nil || len(reasons) != 2 || reasons[0].EndsAt != some(over) || reasons[0].EndedAt.Present ||
					reasons[1].EndedAt != again.EndedAt {
					t.Errorf("%+v, %v", reasons, err)
				}
				kept, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{User: some(lyceum.UserID(1))})
				if err != nil || len(kept) != 2 || kept[0].EndedAt != some(over) || kept[1].EndedAt != again.EndedAt {
					t.Errorf("%+v, %v", kept, err)
				}
				b.healthy(t, b.store)
			})
		}
	}
}

// TestAPreviewOfASaleToRelink adds a course to a collection, and previews a refund before the
// sales of the collection are relinked. The preview says what the refund then does.
func TestAPreviewOfASaleToRelink(t *testing.T) {
	bundle := lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
	at := storetest.Begin
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All"}); err != nil {
				return err
			}
			_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 41, Name: "All", Price: 1000, Currency: "USD", Other: some(bundle), Frequency: lyceum.OneTimePayment})
			return err
		})
		include := func(course lyceum.CourseID) {
			t.Helper()
			_, problems, err := b.learning.CollectionProducts().Import(b.by()).Save(t.Context(), []lyceum.CollectionProduct{{In: 1, Product: course.Product()}})
			if err != nil || len(problems) > 0 {
				t.Fatal(engine, problems, err)
			}
		}
		include(1)
		_, problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{{
			ID: 1, SaleID: 1, UserID: 1, PricingPlanID: 41, CreatedAt: at, PurchasedAt: at, FinalPrice: 1000, Charge: 1000, Currency: "USD", Paid: true,
		}})
		if err != nil || len(problems) > 0 {
			t.Fatal(engine, problems, err)
		}
		_, problems, err = b.learning.ImportEnrollments(b.by()).Save(t.Context(), []lyceum.Enrollment{
			{User: 1, Course: 1, EnrolledAt: at}, {User: 1, Course: 2, EnrolledAt: at},
		})
		if err != nil || len(problems) > 0 {
			t.Fatal(engine, problems, err)
		}
		b.settle(t)
		include(2)
		before := b.last(t)
		says, err := b.service.PreviewRefund(t.Context(), b.by(), sales.Refund{Transaction: 1}, firstPage)
		if want := "course 1 ends; course 2 ends"; lines(&says.AccessPreview) != want || err != nil || b.last(t) != before {
			t.Errorf("%s: the preview says %q, %v; want %q", engine, lines(&says.AccessPreview), err, want)
		}
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1}); err != nil {
			t.Fatal(engine, err)
		}
		if left := b.reasons(t); len(left) > 0 {
			t.Errorf("%s: what is left: %q", engine, left)
		}
	}
}
