package sales

import (
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// deal is the part of a purchase that determines its price and whether it can be sold.
type deal struct {
	plan     lyceum.PricingPlan
	coupon   *lyceum.Coupon        // nil without one
	order    *lyceum.PurchaseOrder // the order that it completes, or nil
	archived string                // the product that cannot be sold, as part of a sentence
	erased   bool                  // the buyer was erased
}

// kept reports whether the purchase completes an open order: its seat and its use of the coupon
// are reserved, and its price was agreed.
func (d *deal) kept() bool { return d.order != nil && d.order.State == lyceum.OrderOpen }

// price returns the amount of the first payment.
func (d *deal) price() lyceum.Minor {
	if d.kept() {
		return d.order.FinalPrice
	}
	price, _ := d.lowered()
	return price
}

// lowered returns the plan's price less the coupon, and reports whether it is known.
func (d *deal) lowered() (lyceum.Minor, bool) {
	if d.coupon == nil {
		return d.plan.Price, true
	}
	return d.coupon.Lower(d.plan.Price, d.plan.Currency)
}

// renewalPrice returns the amount of a renewal unless it is the same as the first payment, and
// reports whether the first payment's discount is over. A trial does not count: the coupon lowers
// the payment after it, and its months begin then.
func renewalPrice(
	tx lyceum.Tx, sale *lyceum.Sale, plan *lyceum.PricingPlan, accounts []account, at time.Time,
) (price lyceum.Minor, over bool, err error) {
	if !sale.CouponID.Present {
		return plan.Price, false, nil
	}
	coupons, err := tx.Coupons.Find(tx, sale.CouponID.Value)
	if err != nil {
		return 0, false, err
	}
	zone, err := zoneOf(tx)
	if err != nil {
		return 0, false, err
	}
	if until := sale.PaidUntil; until.Present && until.Value.After(at) && until.Value.Sub(at) <= renewedEarly {
		at = until.Value // it pays for the next period
	}
	c := coupons[sale.CouponID.Value]
	price, known := c.Lower(plan.Price, plan.Currency)
	since, billing := start(sale, accounts), plan.Billing(anchorOf(sale, plan, zone, accounts).Value, zone)
	switch tried := len(accounts) > 0 && onTrial(sale, plan, &accounts[0], billing); {
	case tried && len(accounts) == 1:
		return price, false, nil
	case tried:
		since = trialEnd(sale, plan, &accounts[0], billing)
	}
	if known && c.Duration.Present && !c.Lowers(since, at, zone) {
		return plan.Price, true, nil
	}
	return price, false, nil
}

// misfit is something about a purchase that does not fit.
type misfit struct{ code, message string }

func misfitf(code, format string, args ...any) misfit {
	return misfit{code, fmt.Sprintf(format, args...)}
}

// misfits returns what does not fit about a payment and what it buys at a given time.
func (d *deal) misfits(tx lyceum.Tx, t *lyceum.Transaction, at time.Time) ([]misfit, error) {
	if d.kept() {
		return d.odd(t, d.order.FinalPrice, d.order.Currency), nil
	}
	usedUp, err := d.usedUp(tx)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(d.ended(at), d.couponMisfits(at), usedUp)
	price, known := d.lowered()
	// An invalid coupon may or may not have lowered the price.
	if !known || d.coupon != nil && len(all) > 0 && t.FinalPrice == d.plan.Price {
		price = t.FinalPrice
	}
	return append(all, d.odd(t, price, d.plan.Currency)...), nil
}

// ended returns a misfit if the plan or the product is not sold at a given time.
func (d *deal) ended(at time.Time) (all []misfit) {
	if d.plan.Archived() {
		all = append(all, misfitf("plan_archived", "pricing plan %d is archived", d.plan.ID))
	}
	if d.archived != "" {
		all = append(all, misfitf("product_archived", "%s is archived", d.archived))
	}
	if end := d.plan.CapExpiresAt; end.Present && !at.Before(end.Value) {
		all = append(all, misfitf("offer_ended", "the offer of pricing plan %d ended at %s", d.plan.ID, moment(end.Value)))
	}
	if end := d.plan.AccessLimitDate; end.Present && !d.plan.Recurring() && !at.Before(end.Value) {
		all = append(all, misfitf("offer_ended", "access by pricing plan %d ended at %s", d.plan.ID, moment(end.Value)))
	}
	return all
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// couponMisfits returns why the coupon is not valid for the purchase at a given time.
func (d *deal) couponMisfits(at time.Time) (all []misfit) {
	c := d.coupon
	if c == nil {
		return nil
	}
	if c.ArchivedAt.Present {
		all = append(all, misfitf("coupon_archived", "coupon %d is archived", c.ID))
	}
	if c.ExpiresAt.Present && !at.Before(c.ExpiresAt.Value) {
		all = append(all, misfitf("coupon_expired", "coupon %d expired at %s", c.ID, moment(c.ExpiresAt.Value)))
	}
	if !c.Fits(&d.plan) {
		all = append(all, misfitf("coupon_scope", "coupon %d is not valid for pricing plan %d", c.ID, d.plan.ID))
	}
	if c.Amount.Present && c.Currency.Value != d.plan.Currency {
		all = append(all, misfitf("coupon_currency", "coupon %d is in %s, and pricing plan %d in %s", c.ID, c.Currency.Value,
			d.plan.ID, d.plan.Currency))
	}
	return all
}

// odd returns a misfit if a payment differs from a price. A trial starts with 0.
func (d *deal) odd(t *lyceum.Transaction, price lyceum.Minor, currency lyceum.Currency) []misfit {
	off := t.FinalPrice - price
	rounded := d.coupon != nil && d.coupon.Percent.Present // the payment system may round differently
	switch {
	case t.Currency != currency:
		return []misfit{misfitf("price_differs", "the payment is in %s, and the price in %s", t.Currency, currency)}
	case off == 0, rounded && (off == 1 || off == -1), t.FinalPrice == 0 && d.plan.FreeTrialLength.Value > 0:
		return nil
	}
	return []misfit{misfitf("price_differs", "the payment is %s, and the price is %s %s",
		t.FinalPrice.Decimal(currency), price.Decimal(currency), currency)}
}

// refuse fails with Conflict if there are misfits.
func refuse(misfits []misfit) error {
	if len(misfits) == 0 {
		return nil
	}
	text := misfits[0].message
	for _, m := range misfits[1:] {
		text += "; " + m.message
	}
	return &lyceum.Error{Kind: lyceum.Conflict, Code: misfits[0].code, Detail: text}
}

// warn stores misfits as warnings of a sale that is recorded in spite of them because it is
// already paid.
func warn(tx lyceum.Tx, at time.Time, sale lyceum.SaleID, misfits []misfit) ([]lyceum.SaleWarning, error) {
	var warnings []lyceum.SaleWarning
	for _, m := range misfits {
		id, err := tx.SaleWarnings.NextID(tx)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, lyceum.SaleWarning{ID: id, SaleID: sale, Code: m.code, Message: m.message, CreatedAt: at})
	}
	return warnings, tx.SaleWarnings.Insert(tx, warnings...)
}
