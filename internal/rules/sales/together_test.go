package sales_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSalesGoTogether: of payments that share a commit, none needs its rows in the database before
// the others are done.
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
					lyceum.PricingPlan{ID: 9, Name: "Gift", Price: 900, Currency: "USD", Frequency: lyceum.OneTimePayment})
				_, e4 := tx.Coupons.Save(tx, lyceum.Coupon{ID: 2, Percent: some(0.5)})
				return errors.Join(e1, e2, e3, e4)
			})
			savepoints.Together(t, name+", "+test.name, buyers, func(i int) error {
				n := sales.NewSale{User: first + lyceum.UserID(i)}
				test.with(&n)
				_, err := b.service.Record(t.Context(), b.by(), n)
				return err
			})
		}
		var subscribed [buyers]lyceum.SaleID
		for _, test := range []struct {
			name string
			do   func(i int) error
		}{
			{"subscriptions", func(i int) error {
				d, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: lyceum.UserID(200 + i), Plan: 10})
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
		} {
			savepoints.Together(t, name+", "+test.name, buyers, test.do)
		}
		b.healthy(t, store)
	}
}
