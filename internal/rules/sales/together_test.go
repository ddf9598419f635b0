package sales_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSalesGoTogether checks that of the changes to sales and access that share a commit, none
// needs its rows in the database before the others are done.
func TestSalesGoTogether(t *testing.T) {
	t.Parallel()
	const buyers = 64
	var savepoints storetest.Savepoints
	for name, store := range enginesWith(t, sqlstore.Options{Trace: savepoints.Trace}) {
		b := openBooks(t, store)
		b.soldBy(t, "Books Ltd", "B-")
		for round, test := range []struct {
			name string
			with func(*sales.NewSale)
		}{
			{"of a course", func(n *sales.NewSale) { n.Plan = 1 }},
			{"of a download", func(n *sales.NewSale) { n.Plan = 8 }},
			{"of nothing", func(n *sales.NewSale) { n.Plan = 9 }},
			{"of a collection", func(n *sales.NewSale) { n.Plan = 12 }},
			{"of a membership tier", func(n *sales.NewSale) { n.Plan = 13 }},
			{"for nothing", func(n *sales.NewSale) { n.Plan = 4 }},
			{"for half a year", func(n *sales.NewSale) { n.Plan = 3 }},
			{"with a reference", func(n *sales.NewSale) { n.Plan, n.Reference = 1, some(fmt.Sprint("ch_", n.User)) }},
			{"with a coupon", func(n *sales.NewSale) { n.Plan, n.Coupon = 1, some(lyceum.CouponID(2)) }},
			{"with an affiliate and tax", func(n *sales.NewSale) {
				n.Plan, n.Affiliate, n.TaxCharge = 1, some(lyceum.AffiliateID(1)), some(lyceum.Minor(100))
			}},
		} {
			first := lyceum.UserID(100 * (round + 1))
			storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
				var users []lyceum.User
				for id := first; id < first+buyers; id++ {
					users = append(users, lyceum.User{ID: id, Email: fmt.Sprintf("%d@example.com", id), Role: lyceum.Student})
				}
				_, e1 := tx.Users.Save(tx, users...)
				_, e2 := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Sketches"})
				_, e3 := tx.PricingPlans.Save(tx,
					lyceum.PricingPlan{
						ID: 8, Other: some(lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}), Name: "Files", Price: 900, Currency: "USD",
						Frequency: lyceum.OneTimePayment,
					},
					lyceum.PricingPlan{
						ID: 10, CourseID: some(lyceum.CourseID(2)), Name: "Monthly", Price: 500, Currency: "USD", Frequency: lyceum.Subscription,
						BillingInterval: some("month"), BillingIntervalCount: some(int32(1)),
					},
					lyceum.PricingPlan{
						ID: 11, CourseID: some(lyceum.CourseID(2)), Name: "Yearly", Price: 5000, Currency: "USD", Frequency: lyceum.Subscription,
						BillingInterval: some("year"), BillingIntervalCount: some(int32(1)),
					},
					lyceum.PricingPlan{ID: 9, Name: "Gift", Price: 900, Currency: "USD", Frequency: lyceum.OneTimePayment})
				_, e4 := tx.Coupons.Save(tx, lyceum.Coupon{ID: 2, Percent: some(0.5)})
				return errors.Join(e1, e2, e3, e4, sellBundles(tx))
			})
			savepoints.Together(t, name+", "+test.name, buyers, func(i int) error {
				n := sales.NewSale{User: first + lyceum.UserID(i)}
				test.with(&n)
				_, err := b.service.Record(t.Context(), b.by(), n)
				return err
			})
		}
		var subscribed [buyers]lyceum.SaleID
		var paid [buyers]lyceum.TransactionID
		var orders [buyers]lyceum.OrderID
		user := func(i int) lyceum.UserID { return lyceum.UserID(200 + i) }
		course := func(i int) learning.UserProduct {
			return learning.UserProduct{User: user(i), Product: lyceum.CourseID(1).Product()}
		}
		bundle := func(i int) learning.UserProduct {
			return learning.UserProduct{User: user(i), Product: lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}}
		}
		for _, test := range []struct {
			name string
			do   func(i int) error
		}{
			{"subscriptions", func(i int) error {
				d, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: user(i), Plan: 10})
				subscribed[i] = d.ID
				return err
			}},
			{"renewals", func(i int) error {
				_, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: subscribed[i]})
				return err
			}},
			{"renewals with a reference", func(i int) error {
				_, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: subscribed[i], Reference: some(fmt.Sprint("re_", i))})
				return err
			}},
			{"payments that failed", func(i int) error {
				_, err := b.service.FailPayment(t.Context(), b.by(), sales.NewFailure{Sale: subscribed[i]})
				return err
			}},
			{"second sales of a course", func(i int) error {
				d, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: user(i), Plan: 1})
				if err == nil {
					paid[i] = d.Transactions[0].ID
				}
				return err
			}},
			{"partial refunds", func(i int) error {
				_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: paid[i], Amount: some(lyceum.Minor(100))})
				return err
			}},
			{"full refunds", func(i int) error {
				_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: paid[i]})
				return err
			}},
			{"cancellations", func(i int) error {
				_, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: subscribed[i]})
				return err
			}},
			{"subscriptions again", func(i int) error {
				d, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: user(i), Plan: 10})
				subscribed[i] = d.ID
				if err == nil {
					paid[i] = d.Transactions[0].ID
				}
				return err
			}},
			{"chargebacks", func(i int) error {
				_, err := b.service.OpenChargeback(t.Context(), b.by(), sales.Chargeback{Transaction: paid[i]})
				return err
			}},
			{"chargebacks won", func(i int) error {
				_, err := b.service.CloseChargeback(t.Context(), b.by(), sales.Outcome{Transaction: paid[i], State: lyceum.DisputeWon})
				return err
			}},
			{"disputes of a part", func(i int) error {
				_, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: paid[i], Amount: some(lyceum.Minor(100))})
				return err
			}},
			{"endings", func(i int) error {
				_, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: subscribed[i]})
				return err
			}},
			{"orders", func(i int) error {
				o, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: fmt.Sprintf("%d@example.com", 200+i), Plan: 1})
				orders[i] = o.ID
				return err
			}},
			{"orders completed", func(i int) error {
				_, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: orders[i]})
				return err
			}},
			{"learners unenrolled", func(i int) error {
				return b.learning.Unenroll(t.Context(), b.by(), course(i))
			}},
			{"learners enrolled", func(i int) error {
				return b.learning.Enroll(t.Context(), b.by(), user(i), lyceum.CourseID(1))
			}},
			{"learners unenrolled again", func(i int) error {
				return b.learning.Unenroll(t.Context(), b.by(), course(i))
			}},
			{"learners enrolled by version 2", func(i int) error {
				_, err := b.learning.Hold(t.Context(), b.by(), course(i))
				return err
			}},
			{"learners enrolled in a collection", func(i int) error {
				_, err := b.learning.Hold(t.Context(), b.by(), bundle(i))
				return err
			}},
			{"learners unenrolled from it", func(i int) error {
				return b.learning.Unenroll(t.Context(), b.by(), bundle(i))
			}},
			{"gifts", func(i int) error {
				_, err := b.learning.Give(t.Context(), b.by(), learning.Gift{UserProduct: course(i)})
				return err
			}},
			{"subscriptions to change", func(i int) error {
				d, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: user(i), Plan: 10})
				subscribed[i] = d.ID
				return err
			}},
			{"plan changes", func(i int) error {
				_, err := b.service.ChangePlan(t.Context(), b.by(), sales.PlanChange{NewSale: sales.NewSale{Plan: 11}, Ending: sales.Ending{Sale: subscribed[i]}})
				return err
			}},
		} {
			savepoints.Together(t, name+", "+test.name, buyers, test.do)
		}
		b.healthy(t, store)
	}
}

// sellBundles creates plan 12, which sells a collection of two courses, and plan 13, which
// sells a tier with that collection and a download.
func sellBundles(tx lyceum.Tx) error {
	plan := lyceum.PricingPlan{Name: "Bundle", Price: 5000, Currency: "USD", Frequency: lyceum.OneTimePayment}
	collection, tier := plan, plan
	collection.ID, collection.Other = 12, some(lyceum.Product{Kind: lyceum.CollectionKind, ID: 1})
	tier.ID, tier.Other = 13, some(lyceum.Product{Kind: lyceum.TierKind, ID: 1})
	_, e1 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "Clay"})
	_, e2 := tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club"})
	_, e3 := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold"})
	_, e4 := tx.CollectionProducts.Save(tx,
		lyceum.CollectionProduct{ID: 1, In: 1, Product: lyceum.CourseID(1).Product()},
		lyceum.CollectionProduct{ID: 2, In: 1, Product: lyceum.CourseID(2).Product()})
	_, e5 := tx.TierProducts.Save(tx,
		lyceum.TierProduct{ID: 1, In: 1, Product: lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}},
		lyceum.TierProduct{ID: 2, In: 1, Product: lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}})
	_, e6 := tx.PricingPlans.Save(tx, collection, tier)
	return errors.Join(e1, e2, e3, e4, e5, e6)
}
