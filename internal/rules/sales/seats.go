package sales

import (
	"fmt"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// offered returns the deal of a purchase, and rejects ids that do not exist in the school.
func offered(tx lyceum.Tx, n NewSale) (deal, error) {
	offer, err := tx.FindOffer(n.Plan, n.User)
	if err != nil {
		return deal{}, err
	}
	d := deal{plan: offer.Plan.Value, order: n.order, erased: offer.UserErased}
	var wrong []lyceum.FieldError
	refuse := func(field, what string, id int32) {
		wrong = append(wrong, lyceum.FieldError{
			Field:   field,
			Message: fmt.Sprintf("%d matches no %s of this school", id, what),
		})
	}
	if !offer.UserKnown && n.User != 0 {
		refuse("user_id", "user", int32(n.User))
	}
	if n.Coupon.Present {
		coupons, err := tx.Coupons.Find(tx, n.Coupon.Value)
		if err != nil {
			return d, err
		}
		if c, there := coupons[n.Coupon.Value]; there {
			d.coupon = &c
		} else {
			refuse("coupon_id", "coupon", int32(n.Coupon.Value))
		}
	}
	for _, partner := range []struct {
		field, what string
		seq         lyceum.Sequence
		id          int32
	}{
		{"affiliate_id", "affiliate", lyceum.AffiliateSequence, int32(n.Affiliate.Value)},
		{"author_id", "author", lyceum.AuthorSequence, int32(n.Author.Value)},
	} {
		if partner.id == 0 {
			continue
		}
		known, err := tx.Known(partner.seq, []int32{partner.id})
		if err != nil {
			return d, err
		}
		if len(known) == 0 {
			refuse(partner.field, partner.what, partner.id)
		}
	}
	if !offer.Plan.Present {
		refuse("pricing_plan_id", "pricing plan", int32(n.Plan))
	}
	if wrong = append(wrong, n.feesOfNobody(n.Affiliate.Present, n.Author.Present)...); len(wrong) > 0 {
		return d, lyceum.InvalidFields(wrong...)
	}
	d.archived, err = archivedProduct(tx, &offer)
	return d, err
}

// feesOfNobody returns a problem for each fee of an affiliate or an author that a sale does not
// have.
func (a Amounts) feesOfNobody(affiliate, author bool) (wrong []lyceum.FieldError) {
	if a.AffiliateFees.Value > 0 && !affiliate {
		wrong = append(wrong, lyceum.FieldError{Field: "affiliate_fees", Message: "must be 0 without an affiliate_id"})
	}
	if a.AuthorFees.Value > 0 && !author {
		wrong = append(wrong, lyceum.FieldError{Field: "author_fees", Message: "must be 0 without an author_id"})
	}
	return wrong
}

// archivedProduct returns the name of an offer's product if it is archived, or "". For courses,
// the offer already says so, because it is read with every sale.
func archivedProduct(tx lyceum.Tx, offer *lyceum.Offer) (string, error) {
	product := offer.Plan.Value.Product()
	switch {
	case offer.CourseArchived:
		return product.Value.String(), nil
	case !product.Present || product.Value.Kind == lyceum.CourseKind:
		return "", nil
	}
	found, err := lyceum.FindProducts(tx.Tables, tx, product.Value)
	if found[product.Value].ArchivedAt.Present {
		return product.Value.String(), err
	}
	return "", err
}

// usedUp returns misfits if the plan is sold out or the coupon used up. If neither has a limit,
// nothing is read.
func (d *deal) usedUp(tx lyceum.Tx) (all []misfit, err error) {
	var plans []lyceum.PricingPlanID
	var coupons []lyceum.CouponID
	if d.plan.EnrollmentCap.Present {
		plans = append(plans, d.plan.ID)
	}
	if d.coupon != nil && d.coupon.Available.Present {
		coupons = append(coupons, d.coupon.ID)
	}
	if plans == nil && coupons == nil {
		return nil, nil
	}
	taken, err := tx.CountTaken(plans, coupons)
	if most := d.plan.EnrollmentCap; most.Present && taken.Seats[d.plan.ID] >= int64(most.Value) {
		all = append(all, misfitf("sold_out", "pricing plan %d is sold out: its enrollment cap is %d", d.plan.ID, most.Value))
	}
	if coupons != nil && taken.Uses[d.coupon.ID] >= int64(d.coupon.Available.Value) {
		all = append(all, misfitf("coupon_used_up", "coupon %d is used up: its number is %d", d.coupon.ID,
			d.coupon.Available.Value))
	}
	return all, err
}

// retaken returns what does not fit about a sale that takes its seat or its use of a coupon again:
// none is left. The sale is not saved yet.
func retaken(tx lyceum.Tx, before, sale *lyceum.Sale, plan *lyceum.PricingPlan) ([]misfit, error) {
	var again deal
	if sale.HoldsSeat() && !before.HoldsSeat() {
		again.plan = *plan
	}
	if sale.HoldsUse() && !before.HoldsUse() {
		coupon, err := tx.Coupons.Get(tx, sale.CouponID.Value)
		if err != nil {
			return nil, err
		}
		again.coupon = &coupon
	}
	return again.usedUp(tx)
}

// reopening returns what does not fit about a sale that opens again: its seat was taken in the
// meantime, or its buyer was erased.
func reopening(tx lyceum.Tx, before, sale *lyceum.Sale, plan *lyceum.PricingPlan) ([]misfit, error) {
	misfits, err := retaken(tx, before, sale, plan)
	if err != nil {
		return nil, err
	}
	offer, err := tx.FindOffer(plan.ID, sale.UserID.Value)
	if offer.UserErased {
		misfits = append(misfits, buyerErased(sale.UserID.Value))
	}
	return misfits, err
}

func buyerErased(user lyceum.UserID) misfit {
	return misfitf("buyer_erased", "user %d was erased, and gets no access", user)
}

// Release updates whether all payments of the given sales are fully refunded, which frees their
// seats and the uses of their coupons. It must be called after transactions were saved other
// than by the rules of sales.
func Release(tx lyceum.Tx, ids ...lyceum.SaleID) error {
	for part := range slices.Chunk(ids, releasedAtOnce) {
		if err := releaseSales(tx, part); err != nil {
			return err
		}
	}
	return nil
}

// releasedAtOnce is how many sales are read at a time, with their payments.
const releasedAtOnce = 64

func releaseSales(tx lyceum.Tx, ids []lyceum.SaleID) error {
	kept, err := tx.Sales.Find(tx, ids...)
	if err != nil {
		return err
	}
	payments := map[lyceum.SaleID][]account{}
	err = tx.Transactions.Each(tx, lyceum.TransactionQuery{Sales: ids}, func(t *lyceum.Transaction) error {
		payments[t.SaleID] = append(payments[t.SaleID], account{Transaction: *t})
		return nil
	})
	if err != nil {
		return err
	}
	var changed []lyceum.Sale
	for _, id := range ids {
		sale, there := kept[id]
		if back := released(payments[id]); there && back != sale.Released {
			sale.Released = back
			changed = append(changed, sale)
		}
	}
	return tx.Sales.Update(tx, changed...)
}

// released reports whether a sale was paid and all its payments are fully refunded. Payments of
// 0, such as that of a trial, do not count.
func released(accounts []account) bool {
	back := false
	for i := range accounts {
		a := &accounts[i]
		if a.Retained() {
			return false
		}
		back = back || a.Paid && a.FullyRefunded()
	}
	return back
}
