package sales_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestBooksReconcile generates random histories and, after each step, compares the school's
// books with a ledger kept alongside.
func TestBooksReconcile(t *testing.T) {
	const perStore = 10 // a check looks at all schools of a store
	var store lyceum.Store
	histories, steps, cents := 0, 0, int64(0)
	rapid.Check(t, func(r *rapid.T) {
		if histories%perStore == 0 {
			store = openStore(t)
		}
		b := openBooks(t, store)
		policy := lyceum.DefaultSalePolicy()
		policy.OnLapse = lyceum.Keep // a refund of a late payment would end its sale
		b.choose(t, policy)
		l := &ledger{b: b, r: r, payments: map[lyceum.TransactionID]*payment{}, ends: map[lyceum.SaleID]lyceum.SaleEnd{}}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			l.step(t)
			l.compare(t)
			steps++
		}
		cents += l.charged
		l.b.healthy(r, store)
		histories++
	})
	t.Logf("%d histories, %d steps, %d cents charged: all reconciled", histories, steps, cents)
}

// ledger is what the books must say, kept in the simplest possible way.
type ledger struct {
	b        *books
	r        *rapid.T
	ids      []lyceum.TransactionID
	sales    []lyceum.SaleID
	disputes []lyceum.DisputeID
	payments map[lyceum.TransactionID]*payment
	ends     map[lyceum.SaleID]lyceum.SaleEnd
	charged  int64
}

// payment is a transaction of the ledger: its price, its tax, and the money returned.
type payment struct {
	sale       lyceum.SaleID
	price, tax lyceum.Minor
	refunds    []lyceum.Part
	disputes   map[lyceum.DisputeID]*dispute
}

type dispute struct {
	part     lyceum.Part
	fee      lyceum.Minor
	returned bool
	state    lyceum.DisputeState
}

func sumOf(parts []lyceum.Part) lyceum.Part {
	var sum lyceum.Part
	for _, p := range parts {
		sum.Price, sum.Tax = sum.Price+p.Price, sum.Tax+p.Tax
	}
	return sum
}

func (p *payment) in(states ...lyceum.DisputeState) lyceum.Part {
	var parts []lyceum.Part
	for _, d := range p.disputes {
		if slices.Contains(states, d.state) {
			parts = append(parts, d.part)
		}
	}
	return sumOf(parts)
}

func (p *payment) left() lyceum.Part {
	refunds, held := sumOf(p.refunds), p.in(lyceum.DisputeOpen, lyceum.DisputeLost)
	return lyceum.Part{Price: p.price - refunds.Price - held.Price, Tax: p.tax - refunds.Tax - held.Tax}
}

// gone reports whether the buyer has the whole price back.
func (p *payment) gone() bool {
	return p.price > 0 && sumOf(p.refunds).Price+p.in(lyceum.DisputeLost).Price == p.price
}

func (p *payment) lostWhole() bool { return p.gone() && p.in(lyceum.DisputeLost).Price > 0 }

func (l *ledger) keep(x *lyceum.Transaction) {
	l.ids = append(l.ids, x.ID)
	l.payments[x.ID] = &payment{sale: x.SaleID, price: x.FinalPrice, tax: x.TaxCharge, disputes: map[lyceum.DisputeID]*dispute{}}
	l.charged += int64(x.Charge)
	l.share(x)
}

// of returns the payments of a sale.
func (l *ledger) of(sale lyceum.SaleID) []*payment {
	var own []*payment
	for _, p := range l.payments {
		if p.sale == sale {
			own = append(own, p)
		}
	}
	return own
}

func (l *ledger) end(sale lyceum.SaleID, why lyceum.SaleEnd) {
	if l.ends[sale] == "" {
		l.ends[sale] = why
	}
}

func (l *ledger) amount(name string, least, most lyceum.Minor) lyceum.Minor {
	return lyceum.Minor(rapid.Int64Range(int64(least), int64(most)).Draw(l.r, name))
}

// refused fails the test unless err is one that the caller can do something about.
func (l *ledger) refused(err error) {
	if k := lyceum.KindOf(err); k != lyceum.Invalid && k != lyceum.Conflict {
		l.r.Fatal(err)
	}
}

func (l *ledger) step(t *testing.T) {
	b := l.b
	b.now = b.now.Add(time.Duration(rapid.IntRange(0, 40*24*3600).Draw(l.r, "seconds")) * time.Second)
	kind := rapid.IntRange(0, 11).Draw(l.r, "step")
	if len(l.ids) == 0 {
		kind = 0
	}
	switch kind {
	case 0, 1, 2:
		l.sell(t)
	case 3, 4, 5:
		l.refund(t)
	case 6, 7:
		l.open(t)
	case 8, 9:
		l.close(t)
	case 10:
		sale := rapid.SampledFrom(l.sales).Draw(l.r, "sale")
		if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: sale}); err == nil {
			l.end(sale, lyceum.SaleCanceled)
		} else {
			l.refused(err)
		}
	case 11:
		sale := rapid.SampledFrom(l.sales).Draw(l.r, "sale")
		_, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: sale})
		if (err == nil) != (l.ends[sale] == "") {
			l.r.Fatalf("end of sale %d, which ended %q: %v", sale, l.ends[sale], err)
		}
		l.end(sale, lyceum.SaleVoided)
		if err := b.learning.Expire(t.Context(), b.school); err != nil {
			l.r.Fatal(err)
		}
	}
}

func (l *ledger) sell(t *testing.T) {
	b := l.b
	amounts := sales.Amounts{
		FinalPrice: some(l.amount("price", 0, 5000)), TaxCharge: some(l.amount("tax", 0, 900)),
		Currency: some(lyceum.Currency(rapid.SampledFrom([]string{"USD", "EUR", "JPY"}).Draw(l.r, "currency"))),
	}
	if amounts.Currency.Value != "USD" {
		amounts.Charge = some(lyceum.USDCents(l.amount("charge", 0, 6000)))
	}
	if len(l.sales) > 0 && rapid.Bool().Draw(l.r, "renewal") {
		d, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: rapid.SampledFrom(l.sales).Draw(l.r, "sale"), Amounts: amounts})
		if err != nil {
			l.refused(err)
			return
		}
		l.keep(&d.Transaction)
		return
	}
	n := sales.NewSale{
		Amounts: amounts, User: lyceum.UserID(l.amount("user", 1, 3)), Plan: lyceum.PricingPlanID(l.amount("plan", 1, 6)),
		Affiliate: some(lyceum.AffiliateID(1)), Reference: some(fmt.Sprint("ch_", b.last(t))), // recorded at any price
	}
	n.AffiliateFees = some(l.amount("fees", 0, 5000))
	d, err := b.service.Record(t.Context(), b.by(), n)
	if err != nil {
		l.refused(err)
		return
	}
	l.sales = append(l.sales, d.ID)
	l.keep(&d.Transactions[0])
}

func (l *ledger) refund(t *testing.T) {
	id := rapid.SampledFrom(l.ids).Draw(l.r, "transaction")
	p := l.payments[id]
	left := p.left()
	r := sales.Refund{Transaction: id}
	var allowed bool
	switch rapid.IntRange(0, 2).Draw(l.r, "refund") {
	case 0:
		r.Amount = some(l.amount("amount", 1, 3000))
		allowed = r.Amount.Value <= left.Price
	case 1:
		r.Total = some(l.amount("total", 1, 3000))
		allowed = r.Total.Value <= left.Total()
	case 2:
		allowed = left.Total() > 0
	}
	d, err := l.b.service.Refund(t.Context(), l.b.by(), r)
	if (err == nil) != allowed {
		l.r.Fatalf("refund %+v of transaction %d, of which %+v is left: %v", r, id, left, err)
	}
	if err != nil {
		l.refused(err)
		return
	}
	m := d.Movements[0]
	part := lyceum.Part{Price: m.Amount, Tax: m.Tax}
	p.refunds = append(p.refunds, part)
	after := p.left()
	switch {
	case r.Amount.Present && part.Price != r.Amount.Value, r.Total.Present && part.Total() != r.Total.Value,
		r == sales.Refund{Transaction: id} && part != left, part.Price < 0, part.Tax < 0, after.Price < 0, after.Tax < 0,
		r.Amount.Present && after.Price == 0 && after.Tax > 0:
		l.r.Fatalf("refund %+v of transaction %d, of which %+v was left, gave back %+v", r, id, left, part)
	}
	if p.gone() && !slices.ContainsFunc(l.of(p.sale), func(p *payment) bool { return p.price+p.tax > 0 && !p.gone() }) {
		l.end(p.sale, lyceum.SaleRefunded)
	}
}

func (l *ledger) open(t *testing.T) {
	id := rapid.SampledFrom(l.ids).Draw(l.r, "transaction")
	p := l.payments[id]
	left := p.left()
	n := sales.NewDispute{Transaction: id, Fee: l.amount("fee", 0, 1500)}
	if rapid.Bool().Draw(l.r, "partial") {
		n.Amount = some(l.amount("amount", 1, 3000))
	}
	d, err := l.b.service.OpenDispute(t.Context(), l.b.by(), n)
	if allowed := left.Total() > 0 && n.Amount.Value <= left.Total(); (err == nil) != allowed {
		l.r.Fatalf("dispute %+v of transaction %d, of which %+v is left: %v", n, id, left, err)
	}
	if err != nil {
		l.refused(err)
		return
	}
	if d.Amount != n.Amount.Else(left.Total()) {
		l.r.Fatalf("%+v of %+v", d, left)
	}
	l.disputes = append(l.disputes, d.ID)
	p.disputes[d.ID] = &dispute{part: lyceum.Part{Price: d.Amount - d.Tax, Tax: d.Tax}, fee: n.Fee, state: lyceum.DisputeOpen}
}

func (l *ledger) close(t *testing.T) {
	if len(l.disputes) == 0 {
		return
	}
	id := rapid.SampledFrom(l.disputes).Draw(l.r, "dispute")
	o := sales.DisputeOutcome{Dispute: id, State: rapid.SampledFrom([]lyceum.DisputeState{lyceum.DisputeWon, lyceum.DisputeLost}).Draw(l.r, "outcome")}
	if o.State == lyceum.DisputeWon {
		o.FeeReturned = some(rapid.Bool().Draw(l.r, "fee returned"))
	}
	var p *payment
	for _, x := range l.payments {
		if x.disputes[id] != nil {
			p = x
		}
	}
	d := p.disputes[id]
	_, err := l.b.service.CloseDispute(t.Context(), l.b.by(), o)
	same := d.state == o.State && (!o.FeeReturned.Present || o.FeeReturned.Value == d.returned)
	if allowed := same || d.state != lyceum.DisputeWon; (err == nil) != allowed {
		l.r.Fatalf("close dispute %d, which is %s, as %+v: %v", id, d.state, o, err)
	}
	if err != nil || same {
		return
	}
	d.state, d.returned = o.State, o.FeeReturned.Value
	switch {
	case p.lostWhole() && d.state == lyceum.DisputeLost:
		l.end(p.sale, lyceum.SaleChargedBack)
	case d.state == lyceum.DisputeWon && l.ends[p.sale] == lyceum.SaleChargedBack && !slices.ContainsFunc(l.of(p.sale), (*payment).lostWhole):
		delete(l.ends, p.sale)
	}
}

// share checks a charge against the rule of the books: in USD, tax, fees and revenue add up to
// the charge to the cent; in other currencies revenue is within half a cent of its share.
func (l *ledger) share(x *lyceum.Transaction) {
	if x.Currency == "USD" {
		if int64(x.Revenue)+int64(x.TaxCharge+x.AffiliateFees+x.AuthorFees) != int64(x.Charge) {
			l.r.Fatalf("%+v does not add up", x)
		}
		return
	}
	own, paid := int64(x.FinalPrice-x.AffiliateFees-x.AuthorFees), int64(x.FinalPrice+x.TaxCharge)
	if off := int64(x.Revenue)*paid - own*int64(x.Charge); paid > 0 && (2*off > paid || -2*off >= paid+1) {
		l.r.Fatalf("revenue %d is not %d/%d of %d", x.Revenue, own, paid, x.Charge)
	}
}

func (l *ledger) compare(t *testing.T) {
	charged, seen := int64(0), 0
	v := l.b.store.In(t.Context(), l.b.school)
	err := v.Transactions.Each(v, lyceum.TransactionQuery{Order: lyceum.OldestFirst}, func(x *lyceum.Transaction) error {
		seen++
		charged += int64(x.Charge)
		l.compareOne(x)
		return nil
	})
	if err != nil || seen != len(l.ids) || charged != l.charged {
		l.r.Fatalf("%d transactions of %d cents, want %d of %d: %v", seen, charged, len(l.ids), l.charged, err)
	}
	for _, id := range l.sales {
		sale, err := v.Sales.Get(v, id)
		if err != nil || sale.EndReason.Value != l.ends[id] {
			l.r.Fatalf("sale %d ended %q, want %q: %v", id, sale.EndReason.Value, l.ends[id], err)
		}
		if !slices.ContainsFunc(l.of(id), func(p *payment) bool { return !p.gone() }) && sale.PaidUntil.Present {
			l.r.Fatalf("sale %d, all of whose payments went back, is paid until %v", id, sale.PaidUntil.Value)
		}
	}
}

func (l *ledger) compareOne(x *lyceum.Transaction) {
	p := l.payments[x.ID]
	var fees lyceum.Minor
	marked := lyceum.Opt[bool]{Present: x.Charge > 0}
	for _, d := range p.disputes {
		marked.Value = marked.Value || d.state != lyceum.DisputeWon
		if !d.returned {
			fees += d.fee
		}
	}
	if x.AmountRefunded != sumOf(p.refunds).Price || x.FinalPrice != p.price || x.HasChargeback != marked || x.ChargebackFee.Value != fees {
		l.r.Fatalf("transaction %+v, the ledger says %+v with fees of %d", x, p, fees)
	}
}
