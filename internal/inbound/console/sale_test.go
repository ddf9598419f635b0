package console_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestSaleThatGaveMuch checks that the page of a sale says that it does not show everything.
func TestSaleThatGaveMuch(t *testing.T) {
	p := open(t, site)
	p.market()
	sale, _ := p.sell(1, 11)
	p.write(func(tx lyceum.Tx) error {
		for id := range lyceum.CourseID(60) {
			if _, err := tx.Entitlements.Save(tx, lyceum.Entitlement{ID: lyceum.EntitlementID(100 + id), User: 11, Product: (1000 + id).Product(), Sale: lyceum.Some(sale), StartsAt: p.clock.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
	want(t, p.send(p.owner, "GET", salePath(sale), nil), 200, "And 11 more.", `href="/admin/people/11/access"`)
}

func TestSale(t *testing.T) {
	p := open(t, site)
	p.market()
	sale, id := p.sell(2, 11, taxed(95), func(n *sales.NewSale) {
		n.Affiliate, n.AffiliateFees = lyceum.Some(lyceum.AffiliateID(7)), lyceum.Some(lyceum.Minor(50))
		n.Charge, n.Reference = lyceum.Some(lyceum.USDCents(648)), lyceum.Some("ch_1")
	})
	w := p.send(p.owner, "GET", salePath(sale), nil)
	want(t, w, 200, "Sale 1", "Active", "Ada Lovelace", "ada@example.com", "Pottery club", "€5.00 every month",
		"Since14 Mar 2026, 09:26 UTC", "Next payment 14 Apr 2026, 09:26 UTC", "Billing dayDay 14 of the monthPeriods are counted from 14 Mar 2026, 09:26 UTC", "Lapses without a payment29 Apr 2026, 09:26 UTC", "Pays 14 Mar 2026, 09:26 UTC to 14 Apr 2026, 09:26 UTC", "Affiliate7",
		"€5.95€5.00 price€0.95 tax$6.48 charged", "€0.50 affiliate", "$4.90", "What it gave Pottery Course Has access",
		`<a href="/admin/people/11"><bdi>Ada Lovelace</bdi></a>`,
		"Reference ch_1", "€5.95 can be refunded", "Cancel the sale…", `href="/admin/transactions">Transactions</a>`)

	p.clock.Pass(time.Hour)
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: id, Total: lyceum.Some(lyceum.Minor(100)), Reason: lyceum.Some("came late"), Reference: lyceum.Some("re_1")}))
	p.clock.Pass(time.Hour)
	p.must(p.sales.OpenChargeback(t.Context(), p.by(), sales.Chargeback{Transaction: id, Fee: 1500, Reason: lyceum.Some("not known to the buyer")}))
	w = p.send(p.owner, "GET", salePath(sale), nil)
	want(t, w, 200, "€15.00 chargeback")
	if strings.Contains(w.Body.String(), refundPath(id)) {
		t.Error("what is with the bank can be refunded")
	}
	p.clock.Pass(time.Hour)
	p.must(p.sales.CloseChargeback(t.Context(), p.by(), sales.Outcome{Transaction: id, State: lyceum.DisputeWon}))
	p.clock.Pass(time.Hour)
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: id}))
	w = p.send(p.owner, "GET", salePath(sale), nil)
	want(t, w, 200, "Ended by a refund", "€5.95€0.95 tax", "Pottery Course Ended Ended 14 Mar 2026, 13:26 UTC",
		// in chronological order
		"Charged €5.95 14 Mar 2026, 09:26 UTC · Transaction 1 Reference ch_1"+
			" Refunded €1.00 14 Mar 2026, 10:26 UTC · Transaction 1 came late €1.00 of €5.95 refunded so far · Reference re_1"+
			" Chargeback of €4.95 opened, with a fee of €15.00 14 Mar 2026, 11:26 UTC · Transaction 1 not known to the buyer"+
			" Chargeback won €4.95 14 Mar 2026, 12:26 UTC · Transaction 1"+
			" Refunded €4.95 14 Mar 2026, 13:26 UTC · Transaction 1 €5.95 of €5.95 refunded so far"+
			" The refund ended the sale 14 Mar 2026, 13:26 UTC")
	if strings.Contains(w.Body.String(), "/cancel") || strings.Contains(w.Body.String(), "/refund") {
		t.Error("an ended sale can be cancelled or refunded")
	}
}

// The history is in chronological order, whatever transaction an event belongs to.
func TestHistoryOfARenewedSale(t *testing.T) {
	p := open(t, site)
	p.market()
	sale, id := p.sell(2, 11)
	p.clock.Pass(time.Hour)
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: id, Total: lyceum.Some(lyceum.Minor(100))}))
	p.clock.Pass(time.Hour)
	p.must(p.sales.Renew(t.Context(), p.by(), sales.Renewal{Sale: sale, Amounts: sales.Amounts{Charge: lyceum.Some(lyceum.USDCents(545))}}))
	want(t, p.send(p.owner, "GET", salePath(sale), nil), 200,
		"Charged €5.00 14 Mar 2026, 09:26 UTC · Transaction 1 Refunded €1.00 14 Mar 2026, 10:26 UTC · Transaction 1 €1.00 of €5.00 refunded so far Charged €5.00 14 Mar 2026, 11:26 UTC · Transaction 2")
}

// An imported sale has refunds and chargebacks without a movement, of which some have no time, and may have a buyer
// and a plan that are unknown.
func TestImportedSale(t *testing.T) {
	p := open(t, site)
	p.market()
	day := time.Date(2025, 5, 1, 8, 0, 0, 0, time.UTC)
	p.write(func(tx lyceum.Tx) error {
		bought := lyceum.Transaction{
			ID: 40, UserID: 11, PricingPlanID: 1, SaleID: 30, CreatedAt: day, PurchasedAt: day, Paid: true, Charge: 1999, FinalPrice: 1999, Currency: "USD", Revenue: 1999,
			AmountRefunded: 1000, RefundedAt: lyceum.Some(day.AddDate(0, 0, 2)),
		}
		renewed := bought
		renewed.ID, renewed.CreatedAt, renewed.AmountRefunded, renewed.RefundedAt, renewed.Paid, renewed.Charge = 41, day.AddDate(0, 1, 0), 0, lyceum.None[time.Time](), false, 0
		if _, err := tx.Sales.Save(tx, lyceum.SaleOf(&bought)); err != nil {
			return err
		}
		undated := bought
		undated.ID, undated.CreatedAt, undated.AmountRefunded, undated.RefundedAt = 42, day.AddDate(0, 2, 0), 500, lyceum.None[time.Time]()
		withTax := bought // another system counts the tax as refunded, too
		withTax.ID, withTax.CreatedAt, withTax.TaxCharge, withTax.AmountRefunded, withTax.RefundedAt = 43, day.AddDate(0, 3, 0), 380, 2379, lyceum.Some(day.AddDate(0, 4, 0))
		lost := withTax // what was not refunded went back by a chargeback
		lost.ID, lost.CreatedAt, lost.AmountRefunded, lost.RefundedAt, lost.HasChargeback = 44, day.AddDate(0, 5, 0), 999, lyceum.Some(day.AddDate(0, 6, 0)), lyceum.Some(true)
		_, err := tx.Transactions.Save(tx, bought, renewed, undated, withTax, lost)
		return err
	})
	want(t, p.send(p.owner, "GET", salePath(30), nil), 200,
		"Charged $19.99 1 May 2025, 08:00 UTC · Transaction 40 Refunded $10.00 3 May 2025, 08:00 UTC · Transaction 40 Not paid $19.99 1 Jun 2025, 08:00 UTC · Transaction 41"+
			" Charged $19.99 1 Jul 2025, 08:00 UTC · Transaction 42 Refunded $5.00 1 Jul 2025, 08:00 UTC · Transaction 42"+
			" Charged $23.79 1 Aug 2025, 08:00 UTC · Transaction 43 Refunded $23.79 1 Sep 2025, 08:00 UTC · Transaction 43"+
			" Charged $23.79 1 Oct 2025, 08:00 UTC · Transaction 44 Chargeback $13.80 1 Oct 2025, 08:00 UTC · Transaction 44 Refunded $9.99 1 Nov 2025, 08:00 UTC · Transaction 44",
		"None $23.79$3.80 tax",
		"Partly refunded", "Unpaid", "$9.99 can be refunded")
	want(t, p.send(p.owner, "GET", refundPath(41), nil), 409, "Nothing was refunded", "Nothing was charged for this transaction", `href="/admin/sales/30"`)
	w := p.send(p.owner, "GET", people+"/11/access", nil) // it gave no access: its enrollments were not imported
	want(t, w, 200, "No access to anything", "No sale gives this person access to anything, and nobody has given it to them.")
}

func TestCancel(t *testing.T) {
	for _, tc := range []struct {
		policy lyceum.Consequence
		plan   lyceum.PricingPlanID
		says   string
	}{
		{lyceum.Unenroll, 2, "Pottery: access ends at once."},
		{lyceum.AtPeriodEnd, 2, "Pottery: access ends 14 Apr 2026, 09:26 UTC."},
		{lyceum.Keep, 2, "The learner’s access does not change."},
		{lyceum.Unenroll, 6, "The learner’s access does not change."},
	} {
		t.Run(string(tc.policy), func(t *testing.T) {
			p := open(t, site)
			p.market()
			p.write(func(tx lyceum.Tx) error {
				policy := lyceum.DefaultSalePolicy()
				policy.OnCancellation = tc.policy
				_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 6, Name: "Letter", Price: 100, Currency: "USD", Frequency: lyceum.Subscription})
				if err != nil {
					return err
				}
				return tx.ChangeSchool(func(s *lyceum.School) { s.Policy = policy })
			})
			sale, _ := p.sell(tc.plan, 11)
			path := salePath(sale) + "/cancel"
			before := p.journal()
			want(t, p.send(p.owner, "GET", path, nil), 200, "Ada Lovelace?", tc.says)
			for _, name := range []string{"", "a\x00", "a\xff", strings.Repeat("a", 65)} { // a form without a valid name asks for confirmation
				want(t, p.send(p.owner, "POST", path, url.Values{"form": {name}}), 200, tc.says)
			}
			if p.journal() != before {
				t.Fatal("the question alone has done something")
			}
			form := promised(p.form(path), p.send(p.owner, "GET", path, nil))
			leads(t, p.send(p.owner, "POST", path, form), salePath(sale)+"?done=canceled")
			after := p.journal()
			leads(t, p.send(p.owner, "POST", path, form), salePath(sale)+"?done=canceled") // submitted twice
			if p.journal() != after {
				t.Error("the form did something twice")
			}
			want(t, p.send(p.owner, "GET", salePath(sale)+"?done=canceled", nil), 200, "The sale is cancelled.", "Cancelled", "The sale was cancelled")
			want(t, p.send(p.owner, "GET", path, nil), 409, "Nothing was cancelled", "This sale has already ended.")
			want(t, p.send(p.owner, "POST", path, url.Values{"form": {"another"}}), 409, "This sale has already ended.")
			if p.actors()["user:1"] == 0 {
				t.Errorf("the journal has %v, want entries of user:1", p.actors())
			}
		})
	}
	p := open(t, site)
	p.market()
	once, _ := p.sell(1, 11)
	want(t, p.send(p.owner, "GET", salePath(once)+"/cancel", nil), 409, "This sale was a single payment")
	want(t, p.send(p.owner, "POST", salePath(once)+"/cancel", url.Values{"form": {"x"}}), 409, "This sale was a single payment")
}

// Nothing happens that the confirmation page did not show.
func TestCancelChangedMeanwhile(t *testing.T) {
	p := open(t, site)
	p.market()
	sale, _ := p.sell(2, 11)
	other, paid := p.sell(1, 11)
	path := salePath(sale) + "/cancel"
	w := p.send(p.owner, "GET", path, nil)
	want(t, w, 200, fmt.Sprintf("access stays, through sale %d", other))
	form := promised(p.form(path), w)
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: paid}))
	before := p.state()
	want(t, p.send(p.owner, "POST", path, p.form(path)), 200, "Nothing has been cancelled yet.") // without a promise
	w = p.send(p.owner, "POST", path, form)
	want(t, w, 200, "Nothing has been cancelled yet.", "Pottery: access ends")
	p.untouched(before)
	leads(t, p.send(p.owner, "POST", path, promised(form, w)), salePath(sale)+"?done=canceled")
}

// TestPlansOnSalePages checks that sale pages show what was bought, what comes next, and that
// nothing more is due.
func TestPlansOnSalePages(t *testing.T) {
	p := open(t, site)
	p.market()
	month, one := lyceum.Some("month"), lyceum.Some(int32(1))
	p.write(func(tx lyceum.Tx) error {
		_, e1 := tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club"})
		_, e2 := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1})
		_, e3 := tx.PricingPlans.Save(tx,
			lyceum.PricingPlan{ID: 21, Other: lyceum.Some(lyceum.Product{Kind: lyceum.TierKind, ID: 1}), Name: "Gold monthly", Price: 900, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: month, BillingIntervalCount: one},
			lyceum.PricingPlan{ID: 22, Other: lyceum.Some(lyceum.Product{Kind: lyceum.TierKind, ID: 1}), Name: "Gold yearly", Price: 9000, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("year"), BillingIntervalCount: one},
			lyceum.PricingPlan{ID: 23, CourseID: lyceum.Some(lyceum.CourseID(2)), Name: "Glass in one part", Price: 900, Currency: "USD", Frequency: lyceum.PaymentPlan, BillingInterval: month, BillingIntervalCount: one, Payments: one})
		return errors.Join(e1, e2, e3)
	})
	gold, _ := p.sell(21, 11)
	_, err := p.sales.ChangePlan(t.Context(), p.by(), sales.PlanChange{Ending: sales.Ending{Sale: gold}, AtPeriodEnd: true, NewSale: sales.NewSale{Plan: 22}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, p.send(p.owner, "GET", salePath(gold), nil), 200, "Gold monthlyMembership tier Gold", "Then changes toGold yearly")
	want(t, p.send(p.owner, "GET", salePath(gold)+"/cancel", nil), 200, "The planned change to Gold yearly is dropped.")
	paid, _ := p.sell(23, 11)
	want(t, p.send(p.owner, "GET", salePath(paid), nil), 200, "Glass in one partCourse Glass", "Paid in full", "Next paymentNone: all payments were made, and access stays")
	want(t, p.send(p.owner, "GET", salePath(paid)+"/cancel", nil), 409, "All payments of this sale were made.")
}

// F9: the sales of another school cannot be accessed.
func TestF9SaleOfAnotherSchool(t *testing.T) {
	p := open(t, site)
	p.market()
	sale, id := p.sell(2, 11)
	foreign := p.signIn(p.addSchool("Southwind"), "owner@south.example.com", lyceum.Owner)
	before := p.journal()
	form := url.Values{"form": {"x"}, "amount": {"1.00"}}
	for _, path := range []string{salePath(sale), salePath(sale) + "/cancel", refundPath(id)} {
		want(t, p.send(foreign, "GET", path, nil), 404, "Page not found")
		want(t, p.send(p.learner, "GET", path, nil), 403, "The console is for the school’s owner")
		leads(t, p.send("", "GET", path, nil), signIn+url.QueryEscape(path))
	}
	for _, path := range []string{salePath(sale) + "/cancel", refundPath(id), refundPath(id) + "/keep"} {
		want(t, p.send(foreign, "POST", path, form), 404, "Page not found")
		want(t, p.send(p.learner, "POST", path, form), 403)
		leads(t, p.send("", "POST", path, form), signIn+url.QueryEscape(strings.TrimSuffix(path, "/keep")+"?done=signed-out"))
		want(t, p.send(p.owner, "POST", path, form, "Sec-Fetch-Site", "cross-site"), 403, "another site")
	}
	want(t, p.send(foreign, "GET", transactions, nil), 200, "No transactions yet")
	if p.journal() != before {
		t.Error("something was done")
	}

	// A sale with the same numbers in their own school is found.
	bought := lyceum.Transaction{
		ID: id, UserID: 11, PricingPlanID: 2, SaleID: sale, CreatedAt: p.clock.Now().Truncate(time.Second), PurchasedAt: p.clock.Now().Truncate(time.Second),
		Paid: true, Charge: 77, FinalPrice: 77, Currency: "USD", Revenue: 77,
	}
	err := p.store.Write(t.Context(), lyceum.Stamp{School: 2, At: p.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
		_, e1 := tx.Users.Save(tx, lyceum.User{ID: 11, Email: "south@example.com", Role: lyceum.Student, CreatedAt: p.clock.Now()})
		_, e2 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 2, Name: "Weaving club", Price: 77, Currency: "USD", Frequency: lyceum.Subscription})
		_, e3 := tx.Sales.Save(tx, lyceum.SaleOf(&bought))
		_, e4 := tx.Transactions.Save(tx, bought)
		return errors.Join(e1, e2, e3, e4)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{transactions, salePath(sale), salePath(sale) + "/cancel", refundPath(id)} {
		w := p.send(foreign, "GET", path, nil)
		want(t, w, 200, "Weaving club", "south@example.com")
		for _, ours := range []string{"Lovelace", "Pottery", "5.00"} {
			if strings.Contains(w.Body.String(), ours) {
				t.Errorf("%s shows another school's %s", path, ours)
			}
		}
	}
	part := with(form, "amount", "0.07")
	part = promised(part, p.send(foreign, "POST", refundPath(id), part))
	leads(t, p.send(foreign, "POST", refundPath(id)+"/keep", part), salePath(sale)+"?done=refunded")
	leads(t, p.agree(foreign, salePath(sale)+"/cancel", with(form, "form", "y")), salePath(sale)+"?done=canceled")
	if p.journal() != before {
		t.Error("something was done in our school")
	}
}

// decline records a failed payment. It is retried after again, unless that is 0.
func (p *place) decline(sale lyceum.SaleID, reason string, again time.Duration) {
	p.t.Helper()
	n := sales.NewFailure{Sale: sale, Reason: lyceum.Some(reason)}
	if again > 0 {
		n.NextAttemptAt = lyceum.Some(p.clock.Now().Add(again).Truncate(time.Second))
	}
	if _, err := p.sales.FailPayment(p.t.Context(), p.by(), n); err != nil {
		p.t.Fatal(err)
	}
}

// The page of a subscription shows its status, its next payment, and what ends when.
func TestBillingOfASale(t *testing.T) {
	const monthly, trial lyceum.PricingPlanID = 2, 9
	keep := func(p *place) {
		p.write(func(tx lyceum.Tx) error {
			return tx.ChangeSchool(func(s *lyceum.School) { s.Policy.OnLapse = lyceum.Keep })
		})
	}
	for _, tc := range []struct {
		name string
		plan lyceum.PricingPlanID
		do   func(*testing.T, *place, lyceum.SaleID)
		want []string
	}{
		{"paid", monthly, nil, []string{"Active", "Next payment 14 Apr 2026, 09:26 UTC", "Lapses without a payment29 Apr 2026, 09:26 UTC"}},
		{"on trial", trial, nil, []string{"On trial", "Next payment 28 Mar 2026, 09:26 UTC", "Pays 14 Mar 2026, 09:26 UTC to 28 Mar 2026, 09:26 UTC"}},
		{"due", monthly, func(_ *testing.T, p *place, _ lyceum.SaleID) { p.clock.Pass(32 * 24 * time.Hour) }, []string{"Past due", "Next paymentDue since 14 Apr 2026, 09:26 UTC", "Lapses without a payment29 Apr 2026"}},
		{"failed before it is due", monthly, func(t *testing.T, p *place, id lyceum.SaleID) {
			p.clock.Pass(24 * time.Hour)
			p.decline(id, "card expired", 72*time.Hour)
		}, []string{
			"Past due", "Next payment 14 Apr 2026, 09:26 UTC", "Last failed payment15 Mar 2026, 09:26 UTCcard expired Next attempt18 Mar 2026, 09:26 UTC",
			"A payment failed 15 Mar 2026, 09:26 UTC card expired Next attempt 18 Mar 2026, 09:26 UTC",
		}},
		{"failed for good", monthly, func(t *testing.T, p *place, id lyceum.SaleID) {
			p.clock.Pass(32 * 24 * time.Hour)
			p.decline(id, "card expired", 24*time.Hour)
			p.clock.Pass(24 * time.Hour)
			p.decline(id, "account closed", 0)
		}, []string{
			"Next paymentDue since 14 Apr 2026, 09:26 UTC", "Last failed payment16 Apr 2026, 09:26 UTCaccount closed Next attemptNone planned",
			"A payment failed 15 Apr 2026, 09:26 UTC card expired Next attempt 16 Apr 2026, 09:26 UTC A payment failed 16 Apr 2026, 09:26 UTC account closed",
		}},
		{"lapsed", monthly, func(t *testing.T, p *place, _ lyceum.SaleID) {
			p.clock.Pass(47 * 24 * time.Hour)
			if err := p.sales.Lapse(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}, []string{"Lapsed", "Ended29 Apr 2026, 09:26 UTC", "Next paymentNone: the sale has ended"}},
		{"of the 31st, elsewhere", monthly, func(_ *testing.T, p *place, id lyceum.SaleID) {
			p.write(func(tx lyceum.Tx) error {
				sale, err := tx.Sales.Get(tx, id)
				sale.BillingAnchor = lyceum.Some(time.Date(2026, 1, 30, 20, 0, 0, 0, time.UTC))
				return errors.Join(err, tx.Sales.Update(tx, sale), tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "Asia/Tokyo" }))
			})
		}, []string{"Billing dayDay 31 of the month, or its last dayPeriods are counted from 31 Jan 2026, 05:00 JST"}},
		{"kept", monthly, func(_ *testing.T, p *place, _ lyceum.SaleID) { keep(p) }, []string{"Active", "LapsesNo. The school keeps subscriptions that are not paid for."}},
		{"cancelled", monthly, func(t *testing.T, p *place, id lyceum.SaleID) {
			if _, err := p.sales.Cancel(t.Context(), p.by(), sales.Ending{Sale: id}); err != nil {
				t.Fatal(err)
			}
		}, []string{"Cancelled", "Next paymentNone: the sale has ended", "Access until14 Apr 2026, 09:26 UTC", "Stop charging it"}},
		{"refunded, and access stays", monthly, func(_ *testing.T, p *place, _ lyceum.SaleID) {
			p.must(p.sales.Refund(p.t.Context(), p.by(), sales.Refund{Transaction: 1, EndAccess: lyceum.Some(false)}))
		}, []string{"Active", "Next paymentNothing is paid for"}},
		{"of a plan by the week", 19, nil, []string{"Billing daySaturdayPeriods"}},
		{"of a plan by the year", 20, nil, []string{"Billing day28 MarchPeriods"}},
		{"of a plan by the day", 18, nil, []string{"Billing dayPeriods are counted from 28 Mar"}},
		{"imported", monthly, func(_ *testing.T, p *place, id lyceum.SaleID) {
			p.write(func(tx lyceum.Tx) error {
				sale, err := tx.Sales.Get(tx, id)
				sale.BilledSince = lyceum.None[time.Time]()
				return errors.Join(err, tx.Sales.Update(tx, sale))
			})
		}, []string{"LapsesNo. It was imported, and does not lapse before it is paid for here."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := open(t, site)
			p.market()
			p.write(func(tx lyceum.Tx) error {
				plan, err := tx.PricingPlans.Get(tx, monthly)
				plan.ID, plan.FreeTrialLength = trial, lyceum.Some(int32(14))
				byDay, byWeek, byYear := plan, plan, plan
				byDay.ID, byDay.BillingInterval = 18, lyceum.Some("day")
				byWeek.ID, byWeek.BillingInterval = 19, lyceum.Some("week")
				byYear.ID, byYear.BillingInterval = 20, lyceum.Some("year")
				if err == nil {
					_, err = tx.PricingPlans.Save(tx, plan, byDay, byWeek, byYear)
				}
				return err
			})
			id, _ := p.sell(tc.plan, 11, func(n *sales.NewSale) {
				if tc.plan >= trial {
					n.FinalPrice, n.Charge = lyceum.Some(lyceum.Minor(0)), lyceum.None[lyceum.USDCents]()
				}
			})
			if tc.do != nil {
				tc.do(t, p, id)
			}
			p.session()
			want(t, p.send(p.owner, "GET", salePath(id), nil), 200, tc.want...)
		})
	}
}
