package sales_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (b *books) choose(t *testing.T, policy lyceum.SalePolicy) {
	t.Helper()
	err := b.store.Write(t.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "test"}, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.Policy = policy }) })
	if err != nil {
		t.Fatal(err)
	}
}

// What an outlook says is what happens.
func TestOutlookOfACancellation(t *testing.T) {
	for _, tc := range []struct {
		policy lyceum.Consequence
		wait   time.Duration
		plan   lyceum.PricingPlanID
		want   lyceum.Consequence
		access string
	}{
		{lyceum.Unenroll, 0, 2, lyceum.Unenroll, "course 1 ended 2026-01-31"},
		{lyceum.Keep, 0, 2, lyceum.Keep, "course 1"},
		{lyceum.AtPeriodEnd, 0, 2, lyceum.AtPeriodEnd, "course 1 until 2026-02-28"},
		{lyceum.AtPeriodEnd, 60 * 24 * time.Hour, 2, lyceum.Unenroll, "course 1 ended 2026-04-01"},
		{lyceum.Unenroll, 0, 8, lyceum.Keep, ""},
	} {
		t.Run(fmt.Sprint(tc.policy, tc.wait, tc.plan), func(t *testing.T) {
			b := newBooks(t)
			err := b.store.Write(t.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "test"}, func(tx lyceum.Tx) error {
				_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 8, Name: "Newsletter", Price: 100, Currency: "USD", Frequency: lyceum.Subscription})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			policy := lyceum.DefaultSalePolicy()
			policy.OnCancellation = tc.policy
			b.choose(t, policy)
			id := b.sell(t, sales.NewSale{User: 1, Plan: tc.plan, Amounts: sales.Amounts{Charge: some(lyceum.USDCents(map[lyceum.PricingPlanID]int64{2: 550, 8: 100}[tc.plan]))}}).ID
			b.now = b.now.Add(tc.wait)
			before := b.last(t)
			o, err := b.service.ForeseeCancel(t.Context(), b.by(), id)
			if err != nil || !o.EndsSale || o.Access != tc.want || o.Plan.ID != tc.plan {
				t.Fatalf("the outlook is %+v, %v; want %s", o, err, tc.want)
			}
			if b.last(t) != before {
				t.Error("to look has changed something")
			}
			if _, err := b.service.Cancel(t.Context(), b.by(), id); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(b.access(t, 1), "; "); got != tc.access {
				t.Errorf("the access is %q, want %q", got, tc.access)
			}
			if _, err := b.service.ForeseeCancel(t.Context(), b.by(), id); lyceum.Public(err).Code != "sale_ended" {
				t.Errorf("a second time: %v", err)
			}
		})
	}
	b := newBooks(t)
	once := b.sell(t, sales.NewSale{User: 1, Plan: 1}).ID
	monthly := b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: sales.Amounts{Charge: some(lyceum.USDCents(550))}}).ID
	if o, err := b.service.ForeseeCancel(t.Context(), b.by(), monthly); err != nil || o.Access != lyceum.Keep {
		t.Errorf("of what was also bought once: %+v, %v", o, err)
	}
	if _, err := b.service.ForeseeCancel(t.Context(), b.by(), once); lyceum.Public(err).Code != "not_recurring" {
		t.Errorf("of what is paid once: %v", err)
	}
	if _, err := b.service.ForeseeCancel(t.Context(), lyceum.By{School: b.school + 1, Actor: "test"}, once); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("of another school: %v", err)
	}
}

func TestOutlookOfARefund(t *testing.T) {
	for _, tc := range []struct {
		policy lyceum.Consequence
		amount lyceum.Opt[lyceum.Minor] // of 2099, of which 1999 are the price
		asked  lyceum.Opt[bool]
		ends   bool
		access []string
	}{
		{lyceum.Unenroll, some(lyceum.Minor(1998)), lyceum.None[bool](), false, []string{"course 1"}},
		{lyceum.Unenroll, some(lyceum.Minor(1999)), lyceum.None[bool](), true, []string{"course 1 ended 2026-01-31"}},
		{lyceum.Unenroll, lyceum.None[lyceum.Minor](), lyceum.None[bool](), true, []string{"course 1 ended 2026-01-31"}},
		{lyceum.Keep, lyceum.None[lyceum.Minor](), lyceum.None[bool](), false, []string{"course 1"}},
		{lyceum.Keep, lyceum.None[lyceum.Minor](), some(true), true, []string{"course 1 ended 2026-01-31"}},
		{lyceum.Unenroll, lyceum.None[lyceum.Minor](), some(false), false, []string{"course 1"}},
		{lyceum.Keep, some(lyceum.Minor(1)), some(true), true, []string{"course 1 ended 2026-01-31"}},
	} {
		t.Run(fmt.Sprint(tc.policy, tc.amount, tc.asked), func(t *testing.T) {
			b := newBooks(t)
			policy := lyceum.DefaultSalePolicy()
			policy.OnRefund = tc.policy
			b.choose(t, policy)
			d := b.sell(t, sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(100))}})
			refund := sales.Refund{Transaction: d.Transactions[0].ID, Amount: tc.amount, EndAccess: tc.asked}
			o, err := b.service.ForeseeRefund(t.Context(), b.by(), refund)
			if err != nil || o.Left != (lyceum.Part{Price: 1999, Tax: 100}) || o.EndsSale != tc.ends {
				t.Fatalf("the outlook is %+v, %v", o, err)
			}
			got, err := b.service.Refund(t.Context(), b.by(), refund)
			if err != nil || got.AmountRefunded != o.Part.Price || got.TaxRefunded != o.Part.Tax {
				t.Fatalf("%+v, %v; %+v was foreseen", got, err, o.Part)
			}
			if diff := cmp.Diff(tc.access, b.access(t, 1)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			sale, err := b.service.Show(t.Context(), b.by(), d.ID)
			if err != nil || sale.EndedAt.Present != tc.ends {
				t.Errorf("%+v, %v", sale.Sale, err)
			}
		})
	}
}

// What Refund refuses its outlook refuses, in the same words.
func TestOutlookRefuses(t *testing.T) {
	b := newBooks(t)
	paid := func(user lyceum.UserID) lyceum.TransactionID {
		return b.sell(t, sales.NewSale{User: user, Plan: 1}).Transactions[0].ID
	}
	free, open, won, lost, gone, good := b.sell(t, sales.NewSale{User: 1, Plan: 4}).Transactions[0].ID, paid(1), paid(1), paid(2), paid(2), paid(3)
	for _, id := range []lyceum.TransactionID{open, won, lost} {
		if _, err := b.service.OpenChargeback(t.Context(), b.by(), sales.Chargeback{Transaction: id, Fee: 100}); err != nil {
			t.Fatal(err)
		}
	}
	for id, outcome := range map[lyceum.TransactionID]lyceum.DisputeState{won: lyceum.DisputeWon, lost: lyceum.DisputeLost} {
		if _, err := b.service.CloseChargeback(t.Context(), b.by(), sales.Outcome{Transaction: id, State: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: gone}); err != nil {
		t.Fatal(err)
	}
	long := some(strings.Repeat("ü", 501))
	for _, tc := range []struct {
		name   string
		id     lyceum.TransactionID
		refund sales.Refund
		want   string
	}{
		{"free", free, sales.Refund{}, "nothing was charged"},
		{"open chargeback", open, sales.Refund{}, "the bank holds the money"},
		{"lost chargeback", lost, sales.Refund{}, "by a chargeback"},
		{"refunded", gone, sales.Refund{}, "fully refunded"},
		{"unknown", 99, sales.Refund{}, ""},
		{"nothing", good, sales.Refund{Amount: some(lyceum.Minor(0))}, "amount must be at least 1"},
		{"a total of nothing", good, sales.Refund{Total: some(lyceum.Minor(0))}, "total must be at least 1"},
		{"amount and total", good, sales.Refund{Amount: some(lyceum.Minor(1)), Total: some(lyceum.Minor(1))}, "total must not be sent together with amount"},
		{"more than is left", good, sales.Refund{Amount: some(lyceum.Minor(2000))}, "at most 1999 is left of transaction"},
		{"a total beyond what is left", good, sales.Refund{Total: some(lyceum.Minor(2000))}, "at most 1999 is left of transaction"},
		{"long reason", good, sales.Refund{Reason: long}, "reason must be at most 500 characters long"},
		{"long reference", good, sales.Refund{Reference: long}, "reference must be at most 500 characters long"},
		{"NUL", good, sales.Refund{Reason: some("a\x00b")}, "reason must be UTF-8 text without NUL characters"},
		{"no UTF-8", good, sales.Refund{Reason: some("a\xff")}, "reason must be UTF-8 text without NUL characters"},
	} {
		tc.refund.Transaction = tc.id
		_, foreseen := b.service.ForeseeRefund(t.Context(), b.by(), tc.refund)
		_, happened := b.service.Refund(t.Context(), b.by(), tc.refund)
		if foreseen == nil || happened == nil || foreseen.Error() != happened.Error() || !strings.Contains(happened.Error(), tc.want) {
			t.Errorf("%s: foreseen %v, happened %v, want %q", tc.name, foreseen, happened, tc.want)
		}
	}
	for _, id := range []lyceum.TransactionID{won, good} { // 500 characters are taken, and what came back can be refunded
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, Reason: some(strings.Repeat("ü", 500))}); err != nil {
			t.Error(err)
		}
	}
}

// A refund of one of two purchases takes no access, and says so.
func TestOutlookOfASecondPurchase(t *testing.T) {
	b := newBooks(t)
	first, second := b.sell(t, sales.NewSale{User: 1, Plan: 1}), b.sell(t, sales.NewSale{User: 1, Plan: 1})
	for _, tc := range []struct {
		sale   *sales.SaleDetail
		want   lyceum.Consequence
		access string
	}{{&second, lyceum.Keep, "course 1"}, {&first, lyceum.Unenroll, "course 1 ended 2026-01-31"}} {
		r := sales.Refund{Transaction: tc.sale.Transactions[0].ID}
		o, err := b.service.ForeseeRefund(t.Context(), b.by(), r)
		if err != nil || !o.EndsSale || o.Access != tc.want {
			t.Errorf("sale %d: %+v, %v", tc.sale.ID, o, err)
		}
		if _, err := b.service.Refund(t.Context(), b.by(), r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(b.access(t, 1), "; "); got != tc.access {
			t.Errorf("after the refund of sale %d the access is %q, want %q", tc.sale.ID, got, tc.access)
		}
	}
}
