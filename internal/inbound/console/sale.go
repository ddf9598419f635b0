package console

import (
	"context"
	"fmt"
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// salePage is the data of the page of a sale.
type salePage struct {
	Sale      lyceum.Sale
	Path      string
	Buyer     person
	Plan      plan
	Next      string // the plan that follows; empty for none
	Affiliate string // empty for none, like Author and Coupon
	Author    string
	Coupon    string
	Person    string // the path of the buyer's page
	Gave      []gave
	GaveMore  int64 // products that are not in Gave
	State     mark
	Billing   *billing // nil for a single payment
	Payments  []payment
	History   []event
	Failures  int // how many failed payments are shown, if there may be older ones
	Warnings  []lyceum.SaleWarning
	CanCancel bool
}

// plan is a pricing plan as a page shows it. Terms are empty if the plan is unknown.
type plan struct {
	Name, Kind, Product, Terms string

	kept lyceum.PricingPlan // zero if it is unknown
}

// payment is one transaction of a sale with its amounts.
type payment struct {
	lyceum.Transaction

	Marks     []mark
	Total     string // with tax
	Parts     []line // of Total, and what was charged
	Fees      []line
	Refunded  string // with tax
	Returned  []line // of Refunded
	Revenue   string
	Reference string
	Left      string // what can be refunded; empty if nothing can
	Period    lyceum.Opt[sales.PaidPeriod]
	Refund    string // the path of the form
}

// line is one amount of a transaction, with its label.
type line struct{ Label, Amount string }

// termsOf says what a plan costs, and how often.
func termsOf(p *lyceum.PricingPlan) string {
	price := money(p.Price, p.Currency)
	interval := p.BillingInterval.Value
	if interval == "" {
		interval = "month"
	}
	if n := p.BillingIntervalCount.Value; n > 1 {
		interval = fmt.Sprintf("%d %ss", n, interval)
	}
	switch p.Frequency {
	case lyceum.Subscription:
		return price + " every " + interval
	case lyceum.PaymentPlan:
		return price + " every " + interval + ", in parts"
	case lyceum.OneTimePayment:
		return price + " once"
	case lyceum.Free:
	}
	return "Free"
}

// ends are the badges of sales that have ended.
var ends = map[lyceum.SaleEnd]mark{
	lyceum.SaleCanceled:    {"badge-off", "Cancelled"},
	lyceum.SaleRefunded:    {"badge-off", "Ended by a refund"},
	lyceum.SaleChargedBack: {"badge-bad", "Ended by a chargeback"},
	lyceum.SaleVoided:      {"badge-off", "Voided"},
	lyceum.SaleChanged:     {"badge-off", "Changed"},
	lyceum.SaleLapsed:      {"badge-bad", "Lapsed"},
}

// showSale serves GET /admin/sales/{id}.
func (c *console) showSale(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.SaleID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	detail, err := c.Sales.Show(r.Context(), v.by(), id)
	if err != nil {
		return err
	}
	p := salePage{
		Sale: detail.Sale, Path: salePath(id), State: stateOf(&detail), History: history(&detail),
		Warnings: detail.Warnings,
	}
	if p.Buyer, p.Plan, err = c.party(r.Context(), v.School.ID, &detail.Sale); err != nil {
		return err
	}
	if p.Plan.kept.Recurring() {
		zone, err := v.School.TimeZone.Location()
		if err != nil {
			return err
		}
		p.Billing = billingOf(&detail, &p.Plan.kept, zone, c.Clock())
	}
	if p.Next, err = c.nextPlan(r.Context(), v.School.ID, &detail.Sale); err != nil {
		return err
	}
	if err := c.nameParts(r.Context(), v.School.ID, &detail.Sale, &p); err != nil {
		return err
	}
	if n := len(detail.Failures); n == sales.MaxFailures {
		p.Failures = n
	}
	for i := range detail.Transactions {
		p.Payments = append(p.Payments, paymentOf(&detail, &detail.Transactions[i]))
	}
	err = c.Sales.CheckCancel(r.Context(), v.by(), id)
	if p.CanCancel = err == nil; err != nil && lyceum.KindOf(err) != lyceum.Conflict {
		return err
	}
	return c.show(w, r, http.StatusOK, "sale.gohtml", v, fmt.Sprintf("Sale %d", id), p)
}

// nameParts fills in the names of the coupon, the affiliate and the author of a sale, and what
// it gave.
func (c *console) nameParts(ctx context.Context, school lyceum.SchoolID, sale *lyceum.Sale, p *salePage) (err error) {
	v := c.Names.In(ctx, school)
	if sale.AffiliateID.Present {
		p.Affiliate, err = c.name(ctx, school, lyceum.AffiliateSequence, int32(sale.AffiliateID.Value))
	}
	if err == nil && sale.AuthorID.Present {
		p.Author, err = c.name(ctx, school, lyceum.AuthorSequence, int32(sale.AuthorID.Value))
	}
	if err != nil {
		return err
	}
	if sale.CouponID.Present {
		found, err := v.Coupons.Find(v, sale.CouponID.Value)
		if err != nil {
			return err
		}
		coupon := found[sale.CouponID.Value]
		p.Coupon = couponName(&coupon, sale.CouponID.Value)
	}
	if sale.UserID.Present {
		p.Person = fmt.Sprintf("%s/%d", peoplePath, sale.UserID.Value)
	}
	p.Gave, p.GaveMore, err = c.gaveBy(v, sale)
	return err
}

// party returns the buyer and the plan of a sale.
func (c *console) party(ctx context.Context, school lyceum.SchoolID, sale *lyceum.Sale) (person, plan, error) {
	users, err := c.Names.In(ctx, school).FindNames(lyceum.UserSequence, []int32{int32(sale.UserID.Value)})
	if err != nil {
		return person{}, plan{}, err
	}
	v := c.Names.In(ctx, school)
	plans, err := v.PricingPlans.Find(v, sale.PricingPlanID.Value)
	if err != nil {
		return person{}, plan{}, err
	}
	known, ok := plans[sale.PricingPlanID.Value]
	bought := plan{Name: planName(known.Name, sale.PricingPlanID.Value)}
	if ok {
		known = known.For(sale)
		bought.Terms, bought.kept = termsOf(&known), known
	}
	if product := known.Product(); product.Present {
		found, err := lyceum.FindProducts(v.Tables, v, product.Value)
		if err != nil {
			return person{}, plan{}, err
		}
		info := found[product.Value]
		info.Product = product.Value
		bought.Kind, bought.Product = kindLabels[product.Value.Kind], productLabel(info)
	}
	return personOf(users, sale.UserID.Value), bought, nil
}

// nextPlan returns the name of the plan that a sale changes to at the end of the paid period,
// or "" if there is none.
func (c *console) nextPlan(ctx context.Context, school lyceum.SchoolID, sale *lyceum.Sale) (string, error) {
	if !sale.NextPlan.Present {
		return "", nil
	}
	v := c.Names.In(ctx, school)
	plans, err := v.PricingPlans.Find(v, sale.NextPlan.Value)
	return planName(plans[sale.NextPlan.Value].Name, sale.NextPlan.Value), err
}

// name returns the name of an object, or its number if it has none.
func (c *console) name(ctx context.Context, school lyceum.SchoolID, of lyceum.Sequence, id int32) (string, error) {
	found, err := c.Names.In(ctx, school).FindNames(of, []int32{id})
	return called(found[id], fmt.Sprint(id)), err
}

// paymentOf returns a transaction of a sale with its amounts.
func paymentOf(detail *sales.SaleDetail, t *lyceum.Transaction) payment {
	own := func(amount lyceum.Minor) string { return money(amount, t.Currency) }
	p := payment{
		Transaction: *t, Marks: marksOf(t), Reference: detail.References[t.ID].Name, Period: detail.Period(t.ID),
		Total: own(t.FinalPrice + t.TaxCharge), Revenue: dollars(t.Revenue),
	}
	refunded := detail.Refunded(t)
	p.Refunded = own(refunded.Total())
	some := func(to *[]line, label string, amount lyceum.Minor) {
		if amount != 0 {
			*to = append(*to, line{label, own(amount)})
		}
	}
	some(&p.Parts, "price", t.FinalPrice)
	some(&p.Parts, "tax", t.TaxCharge)
	if t.Currency != "USD" {
		p.Parts = append(p.Parts, line{"charged", dollars(t.Charge)})
	}
	some(&p.Fees, "affiliate", t.AffiliateFees)
	some(&p.Fees, "author", t.AuthorFees)
	some(&p.Fees, "chargeback", t.ChargebackFee.Value)
	some(&p.Returned, "tax", refunded.Tax)
	if left, err := detail.Left(t); err == nil {
		p.Left, p.Refund = own(left.Total()), refundPath(t.ID)
	}
	return p
}

// cancelPage is the data of the page that confirms cancelling a sale.
type cancelPage struct {
	Path, Once string
	Sale       lyceum.Sale
	Buyer      person
	Bought     plan
	Dropped    string // the plan that the sale no longer changes to; empty for none
	Outcome    outcome
	Promise    string
	Changed    bool // since the page was shown
}

// confirmCancel serves GET /admin/sales/{id}/cancel.
func (c *console) confirmCancel(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.SaleID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	p, err := c.cancelling(r, v, id)
	if err != nil {
		return c.refuseSale(w, r, v, "Nothing was cancelled", salePath(id), err)
	}
	return c.show(w, r, http.StatusOK, "cancel.gohtml", v, "Cancel this sale?", p)
}

// cancelling returns the data of the page that confirms cancelling a sale.
func (c *console) cancelling(r *http.Request, v *visit, id lyceum.SaleID) (cancelPage, error) {
	o, err := c.Sales.PreviewCancel(r.Context(), v.by(), sales.Ending{Sale: id}, outcomePage())
	if err != nil {
		return cancelPage{}, err
	}
	p := cancelPage{Path: salePath(id), Once: newForm(), Sale: o.Sale, Outcome: outcomeOf(&o.AccessPreview)}
	if p.Buyer, p.Bought, err = c.party(r.Context(), v.School.ID, &o.Sale); err != nil {
		return p, err
	}
	if o.Drops.Present {
		before := lyceum.Sale{NextPlan: o.Drops}
		if p.Dropped, err = c.nextPlan(r.Context(), v.School.ID, &before); err != nil {
			return p, err
		}
	}
	p.Promise = p.Outcome.promise(p.Dropped)
	return p, nil
}

// cancelSale serves POST /admin/sales/{id}/cancel. It cancels if this has the effect that the
// page promised; otherwise it shows the current effect.
func (c *console) cancelSale(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.SaleID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	form := r.PostForm.Get("form")
	if !isForm(form) {
		return c.confirmCancel(w, r, v)
	}
	by := v.once(form, "cancel", fmt.Sprint(id))
	p, err := c.cancelling(r, v, id)
	promised := err == nil && p.Promise == r.PostForm.Get("promise")
	if promised {
		_, err = c.Sales.Cancel(r.Context(), by, sales.Ending{Sale: id})
	} else if once := c.Sales.CheckOnce(r.Context(), by); repeated(once) || err == nil {
		err = once
	}
	switch {
	case repeated(err) || promised && err == nil:
		return done(w, r, salePath(id), "canceled")
	case err != nil:
		return c.refuseSale(w, r, v, "Nothing was cancelled", salePath(id), err)
	}
	p.Changed = true
	return c.show(w, r, http.StatusOK, "cancel.gohtml", v, "Cancel this sale?", p)
}

// refusedPage explains why something was not done, and links back.
type refusedPage struct{ Sentence, Path, Back string }

// refusals are the errors of rules/sales, worded for the school's staff, by their code.
var refusals = map[string]string{
	"nothing_charged": "Nothing was charged for this transaction, so there is nothing to refund.",
	"chargeback_open": "This transaction has an open chargeback: the bank holds the money. Anything won back can be " +
		"refunded.",
	"charged_back": "The buyer got this payment back through a chargeback, so it cannot be refunded as well.",
	"refunded":     "This transaction is fully refunded. Nothing is left to refund.",
	"not_recurring": "This sale was a single payment, so there is nothing to cancel. To pay the buyer back, refund " +
		"its transaction.",
	"sale_ended":   "This sale has already ended.",
	"not_ended":    "This sale has not ended. Cancel it first.",
	"paid_in_full": "All payments of this sale were made. Nothing more is charged, and access stays.",
	"unknown_plan": "The pricing plan of this sale is unknown, so the effect on the learner’s access is unknown " +
		"too. Import the pricing plan first.",
}

// refuseSale shows why the state of a sale does not allow something, with a link back to the
// sale.
func (c *console) refuseSale(w http.ResponseWriter, r *http.Request, v *visit, title, path string, err error) error {
	e := lyceum.Public(err)
	sentence, known := refusals[e.Code]
	if e.Kind != lyceum.Conflict || !known {
		return err
	}
	return c.show(
		w, r, http.StatusConflict, "sale_refused.gohtml", v, title, refusedPage{sentence, path, "Back to the sale"},
	)
}
