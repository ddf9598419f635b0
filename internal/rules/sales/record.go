package sales

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Amounts is the money of one charge. Absent fields are derived from the pricing plan, or for a
// renewal from the first payment; tax and fees are then 0 if another price or currency is
// given.
type Amounts struct {
	FinalPrice lyceum.Opt[lyceum.Minor] // without fees and taxes
	Currency   lyceum.Opt[lyceum.Currency]
	TaxCharge  lyceum.Opt[lyceum.Minor]
	// Charge is the total that the buyer paid, in US cents. In USD it is the sum of FinalPrice
	// and TaxCharge and may be absent; in another currency it may be absent if that sum is 0.
	Charge        lyceum.Opt[lyceum.USDCents]
	AffiliateFees lyceum.Opt[lyceum.Minor]
	AuthorFees    lyceum.Opt[lyceum.Minor]
	OccurredAt    lyceum.Opt[time.Time] // when it was paid; absent: when it is recorded
}

// NewSale is a purchase as reported by the payment system.
type NewSale struct {
	Amounts
	lyceum.Means

	User      lyceum.UserID
	Plan      lyceum.PricingPlanID
	Coupon    lyceum.Opt[lyceum.CouponID]
	Affiliate lyceum.Opt[lyceum.AffiliateID]
	Author    lyceum.Opt[lyceum.AuthorID]
	Reference lyceum.Opt[string] // of the payment, unique in the school

	order    *lyceum.PurchaseOrder // the order that the purchase completes
	replaces *lyceum.Sale          // the sale whose plan changes with the purchase
}

// Record records a purchase: the sale, its first transaction, and the learner's access to the
// plan's product.
func (s *Service) Record(ctx context.Context, by lyceum.By, n NewSale) (SaleDetail, error) {
	return pay(ctx, s, by, n.Reference, func(tx lyceum.Tx, now time.Time) (SaleDetail, error) {
		return s.record(tx, now, n)
	}, func(tx lyceum.Tx, t lyceum.Transaction, of *repeated) (SaleDetail, error) {
		return s.recordAgain(tx, n, &t, of)
	})
}

func (s *Service) record(tx lyceum.Tx, now time.Time, n NewSale) (SaleDetail, error) {
	err := tx.Reserve(1, lyceum.SaleSequence, lyceum.TransactionSequence, lyceum.EntitlementSequence,
		lyceum.EnrollmentSequence, lyceum.ProgressSequence)
	if err != nil {
		return SaleDetail{}, err
	}
	deal, err := offered(tx, n)
	if err != nil {
		return SaleDetail{}, err
	}
	plan := deal.plan
	saleID, err := tx.Sales.NextID(tx)
	if err != nil {
		return SaleDetail{}, err
	}
	at := lyceum.Second(now)
	if err := n.checkTime(at, n.Reference, n.earliest()); err != nil {
		return SaleDetail{}, err
	}
	sale := lyceum.Sale{
		ID: saleID, CreatedAt: at, UserID: lyceum.Some(n.User), PricingPlanID: lyceum.Some(n.Plan),
		CouponID: n.Coupon, AffiliateID: n.Affiliate, AuthorID: n.Author, Replaces: n.replaced(),
		BilledSince: lyceum.Some(at), Means: n.Means,
	}
	t, err := charge(tx, &sale, &plan, n.Amounts, deal.price(), at)
	if err != nil {
		return SaleDetail{}, err
	}
	sale.PurchasedAt, sale.UpdatedAt = t.PurchasedAt, at
	sale.FinalPrice, sale.Currency = lyceum.Some(t.FinalPrice), lyceum.Some(t.Currency)
	if err := payable(&sale); err != nil {
		return SaleDetail{}, err
	}
	misfits, err := deal.misfits(tx, &t, t.PurchasedAt)
	if deal.erased {
		misfits = append(misfits, buyerErased(n.User))
	}
	var tier []misfit
	if err == nil {
		tier, err = secondTier(tx, &plan, n.User, n.replaced(), now)
	}
	if err == nil && !deal.kept() {
		misfits, tier = append(misfits, tier...), nil
	}
	if err == nil && !n.Reference.Present {
		err = refuse(misfits)
	}
	if err != nil {
		return SaleDetail{}, err
	}
	b, err := boughtBy(tx, &sale, &plan, []account{{Transaction: t, at: t.PurchasedAt}})
	if err != nil {
		return SaleDetail{}, err
	}
	b.apply(&sale)
	if _, err := tx.Sales.Save(tx, sale); err != nil {
		return SaleDetail{}, err
	}
	detail := SaleDetail{
		Sale: sale, Transactions: []lyceum.Transaction{t},
		References: map[lyceum.TransactionID]lyceum.Reference{}, Periods: b.paid,
	}
	if err := s.take(tx, now, &t, n.Reference); err != nil {
		return SaleDetail{}, err
	}
	if n.Reference.Present {
		detail.References[t.ID] = lyceum.Reference{Transaction: t.ID, Name: n.Reference.Value}
	}
	if product := plan.Product(); product.Present && !deal.erased {
		until, err := accessUntil(tx, &plan, at)
		if err != nil {
			return SaleDetail{}, err
		}
		err = s.enroller.Grant(tx, now, lyceum.Entitlement{
			User: n.User, Product: product.Value, Sale: lyceum.Some(sale.ID), StartsAt: at, EndsAt: until,
		})
		if err != nil {
			return SaleDetail{}, err
		}
	}
	tx.Announce(lyceum.SaleCreated, int32(saleID), lyceum.SaleCreatedEvent, "")
	if detail.Warnings, err = warn(tx, at, saleID, append(misfits, tier...)); err != nil {
		return SaleDetail{}, err
	}
	detail.Status = detail.statusAt(now)
	if !detail.GraceFrom().Present {
		return detail, nil
	}
	school, err := tx.GetSchool()
	detail.LapsesAt = detail.Sale.LapsesAt(school.Policy)
	return detail, err
}

// charge creates the transaction of a payment for a sale.
func charge(
	tx lyceum.Tx, sale *lyceum.Sale, plan *lyceum.PricingPlan, a Amounts, usual lyceum.Minor, at time.Time,
) (lyceum.Transaction, error) {
	t := lyceum.Transaction{
		UserID: sale.UserID.Value, PricingPlanID: plan.ID, SaleID: sale.ID, CreatedAt: at,
		PurchasedAt: lyceum.Second(a.OccurredAt.Else(at)), Paid: true,
		FinalPrice: usual, Currency: plan.Currency, TaxCharge: a.TaxCharge.Value,
		AffiliateID: sale.AffiliateID, AffiliateFees: a.AffiliateFees.Value, AuthorID: sale.AuthorID,
		AuthorFees: a.AuthorFees.Value, CouponID: sale.CouponID,
	}
	if a.FinalPrice.Present {
		t.FinalPrice = a.FinalPrice.Value
	}
	if a.Currency.Present {
		t.Currency = a.Currency.Value
	}
	if err := settle(&t, a.Charge); err != nil {
		return t, err
	}
	if t.Charge > 0 {
		t.HasChargeback = lyceum.Some(false)
	}
	var err error
	t.ID, err = tx.Transactions.NextID(tx)
	return t, err
}

// settle computes what was charged, and the revenue (docs/own-interface.md, "Books"): the part
// of the charge that is neither tax nor fees, to the nearest cent.
func settle(t *lyceum.Transaction, given lyceum.Opt[lyceum.USDCents]) error {
	var wrong []lyceum.FieldError
	refuse := func(field, format string, args ...any) {
		wrong = append(wrong, lyceum.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	for _, amount := range []struct {
		field string
		value int64
	}{
		{"final_price", int64(t.FinalPrice)},
		{"tax_charge", int64(t.TaxCharge)},
		{"affiliate_fees", int64(t.AffiliateFees)},
		{"author_fees", int64(t.AuthorFees)},
		{"charge", int64(given.Value)},
	} {
		if amount.value < 0 || amount.value > math.MaxInt32 {
			refuse(amount.field, "must be from 0 to %d", math.MaxInt32)
		}
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	paid := t.FinalPrice + t.TaxCharge
	fees := t.AffiliateFees + t.AuthorFees
	if paid > math.MaxInt32 {
		refuse("tax_charge", "must not raise the price above %d", math.MaxInt32)
	}
	if fees > t.FinalPrice {
		refuse("author_fees", "and affiliate_fees together must not be more than the final_price of %d", t.FinalPrice)
	}
	switch {
	case t.Currency == "USD" && given.Present && int64(given.Value) != int64(paid):
		refuse("charge", "must be the sum of final_price and tax_charge, %d, or be left out", paid)
	case paid == 0 && given.Value != 0:
		refuse("charge", "must be 0 where nothing is to be paid")
	case t.Currency != "USD" && paid > 0 && !given.Present:
		refuse("charge", "is required: what the buyer paid in US cents cannot be derived from %s", t.Currency)
	case t.Currency != "USD" && paid > 0 && given.Value == 0:
		refuse("charge", "must be more than 0 where something is paid")
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	t.Charge = given.Value
	if t.Currency == "USD" {
		t.Charge = lyceum.USDCents(paid)
	}
	if paid > 0 {
		own := int64(t.FinalPrice - fees)
		t.Revenue = lyceum.USDCents((own*int64(t.Charge)*2 + int64(paid)) / (2 * int64(paid)))
	}
	return nil
}

// take saves a payment, issues its receipt and notifies the buyer.
func (s *Service) take(
	tx lyceum.Tx, now time.Time, t *lyceum.Transaction, reference lyceum.Opt[string],
) error {
	if err := keepCharge(tx, t, reference); err != nil {
		return err
	}
	if err := issue(tx, now, t); err != nil {
		return err
	}
	return s.receipt(tx, now, t)
}

// keepCharge saves a transaction, and announces it if money was charged.
func keepCharge(tx lyceum.Tx, t *lyceum.Transaction, reference lyceum.Opt[string]) error {
	if _, err := tx.Transactions.Save(tx, *t); err != nil {
		return err
	}
	if t.Charge > 0 {
		tx.Announce(lyceum.TransactionCreated, int32(t.ID), lyceum.TransactionCreatedEvent, "")
	}
	if !reference.Present {
		return nil
	}
	return tx.TakeReference(reference.Value, t.ID)
}

// accessUntil returns when the access that a plan sells ends by itself. A recurring plan's
// access only ends with its sale.
func accessUntil(from lyceum.Reads, plan *lyceum.PricingPlan, at time.Time) (lyceum.Opt[time.Time], error) {
	switch {
	case plan.Recurring():
	case plan.AccessLimitDate.Present:
		return plan.AccessLimitDate, nil
	case plan.AccessLimitDuration.Present && plan.AccessLimitInterval.Present:
		zone, err := zoneOf(from)
		if err != nil {
			return lyceum.None[time.Time](), err
		}
		limit := lyceum.Billing{
			Anchor: at, Interval: plan.AccessLimitInterval.Value, Count: int(plan.AccessLimitDuration.Value), Zone: zone,
		}
		return lyceum.Some(limit.Begin(1)), nil
	}
	return lyceum.None[time.Time](), nil
}
