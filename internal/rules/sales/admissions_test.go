package sales_test

import (
	"errors"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// newStudio returns books of a school with coaching 1, sold by plan 30 for a month, and
// collection 1, which contains it, both courses and a download, sold by plan 31.
func newStudio(t *testing.T) *books {
	t.Helper()
	b := newBooks(t)
	product := func(kind lyceum.ProductKind) lyceum.Product { return lyceum.Product{Kind: kind, ID: 1} }
	storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
		_, e1 := tx.Coaching.Save(tx, lyceum.Coaching{ID: 1, Name: "An hour"})
		_, e2 := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Patterns"})
		_, e3 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All"})
		var in []lyceum.CollectionProduct
		for i, p := range []lyceum.Product{lyceum.CourseID(1).Product(), lyceum.CourseID(2).Product(), product(lyceum.CoachingKind), product(lyceum.DownloadKind)} {
			in = append(in, lyceum.CollectionProduct{ID: lyceum.CollectionProductID(i + 1), In: 1, Product: p})
		}
		_, e4 := tx.CollectionProducts.Save(tx, in...)
		_, e5 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{
			ID: 30, Other: lyceum.Some(product(lyceum.CoachingKind)), Name: "A month", Price: 5000, Currency: "USD", Frequency: lyceum.OneTimePayment,
			AccessLimitInterval: lyceum.Some("month"), AccessLimitDuration: lyceum.Some(int32(1)),
		}, lyceum.PricingPlan{
			ID: 31, Other: lyceum.Some(product(lyceum.CollectionKind)), Name: "All", Price: 9000, Currency: "USD", Frequency: lyceum.OneTimePayment,
		})
		return errors.Join(e1, e2, e3, e4, e5)
	})
	if err := b.learning.Expire(t.Context(), b.school); err != nil { // starting now
		t.Fatal(err)
	}
	return b
}

// TestCoachingIsAnnounced checks that Admission.created and Admission.disabled follow the union
// of the reasons for coaching. A collection is one sale, with an event for each of its courses
// and its coaching. Each sale takes an enrollment id, whether it needs it or not.
func TestCoachingIsAnnounced(t *testing.T) {
	b := newStudio(t)
	expire := func() {
		t.Helper()
		if err := errors.Join(b.learning.Expire(t.Context(), b.school), b.learning.Settle(t.Context(), b.school)); err != nil {
			t.Fatal(err)
		}
	}
	month := b.sell(t, sales.NewSale{User: 1, Plan: 30})
	b.want(t, "bought", 0, "Sale.created 1", "Transaction.created 1", "Admission.created 1")
	before := b.last(t)
	all := b.sell(t, sales.NewSale{User: 1, Plan: 31})
	b.want(t, "bought with a collection, too", before, "Sale.created 2", "Transaction.created 2", "Enrollment.created 2", "Enrollment.created 3")
	before = b.last(t)
	b.pass(40)
	expire()
	b.want(t, "the month is over", before)
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: month.Transactions[0].ID}); err != nil {
		t.Fatal(err)
	}
	b.want(t, "refunded what is over", before, "Transaction.refunded 1")
	before = b.last(t)
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: all.Transactions[0].ID}); err != nil {
		t.Fatal(err)
	}
	b.want(t, "refunded", before, "Transaction.refunded 2", "Enrollment.disabled 2", "Enrollment.disabled 3", "Admission.disabled 1")
	before = b.last(t)
	b.sell(t, sales.NewSale{User: 1, Plan: 30})
	b.pass(40)
	expire()
	b.want(t, "once more, and over by itself", before, "Sale.created 3", "Transaction.created 3", "Admission.created 2", "Admission.disabled 2")
	before = b.last(t)
	b.sell(t, sales.NewSale{User: 2, Plan: 31})
	b.want(t, "a collection", before, "Sale.created 4", "Transaction.created 4", "Enrollment.created 5", "Enrollment.created 6", "Admission.created 3")
	before = b.last(t)
	err := b.learning.CollectionProducts().Remove(t.Context(), b.by(), learning.Removal[lyceum.ProductCollectionID]{
		ProductIn: learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: lyceum.Product{Kind: lyceum.CoachingKind, ID: 1}}, EndAccess: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	expire()
	b.want(t, "it leaves the collection", before, "Admission.disabled 3")
	v := b.store.In(t.Context(), b.school)
	kept, err := lyceum.All(v.Admissions, v, lyceum.AdmissionFilter{User: some(lyceum.UserID(1))})
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 2 || kept[0].SaleID != some(lyceum.SaleID(1)) || kept[1].SaleID != some(lyceum.SaleID(3)) ||
		!kept[1].EndedAt.Present || kept[1].EndedAt != kept[1].ExpiresAt {
		t.Errorf("%+v", kept)
	}
	b.healthy(t, b.store)
}
