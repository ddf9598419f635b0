package templates

import (
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// facts looks up the values of what an email is about.
type facts struct {
	lyceum.View

	school lyceum.School
	values Values
	name   func(string) string
	now    time.Time
	to     string // the recipient's address
}

// find adds the values of what an email is about. If there is no longer a reason to send it, it
// returns why.
func (f *facts) find(k *kind, about int32) (canceled string, err error) {
	if !f.school.Emails.Has(k.stored) {
		return "the school has turned it off", nil
	}
	return k.facts(f, about)
}

// payment adds the values of a transaction.
func (f *facts) payment(id int32) (canceled string, err error) {
	t, err := f.Transactions.Get(f, lyceum.TransactionID(id))
	if err != nil {
		return "", err
	}
	if t.FullyRefunded() {
		return "the payment was refunded", nil
	}
	f.values["payment.id"], f.values["payment.date"] = strconv.Itoa(int(id)), f.day(t.PurchasedAt)
	f.values["payment.price"], f.values["payment.tax"] = t.FinalPrice.Text(t.Currency), t.TaxCharge.Text(t.Currency)
	f.values["payment.total"] = (t.FinalPrice + t.TaxCharge).Text(t.Currency)
	_, err = f.plan(t.PricingPlanID, t.UserID)
	return "", err
}

// failure adds the values of a failed payment.
func (f *facts) failure(id int32) (canceled string, err error) {
	failed, err := f.PaymentFailures.Get(f, lyceum.PaymentFailureID(id))
	if err != nil {
		return "", err
	}
	sale, err := f.Sales.Get(f, failed.SaleID)
	if err != nil {
		return "", err
	}
	payments, err := lyceum.All(f.Transactions, f, lyceum.TransactionQuery{Sale: lyceum.Some(sale.ID)})
	paid := func(t lyceum.Transaction) bool { return t.Paid && !t.PurchasedAt.Before(failed.OccurredAt) }
	switch {
	case err != nil:
		return "", err
	case sale.EndedAt.Present:
		return "the sale has ended", nil
	case slices.ContainsFunc(payments, paid):
		return "the sale was paid for since", nil
	}
	f.values["failure.date"], f.values["failure.next_date"] = f.day(failed.OccurredAt), ""
	if failed.NextAttemptAt.Present {
		f.values["failure.next_date"] = f.day(failed.NextAttemptAt.Value)
	}
	_, err = f.plan(sale.PricingPlanID.Value, sale.UserID.Value)
	return "", err
}

// ended adds the values of a sale that ended. A user who has access for another reason is sent
// no email.
func (f *facts) ended(id int32) (canceled string, err error) {
	sale, err := f.Sales.Get(f, lyceum.SaleID(id))
	switch {
	case err != nil:
		return "", err
	case !sale.EndedAt.Present:
		return "the sale was opened again", nil
	}
	f.values["sale.reason"] = string(sale.EndReason.Value)
	has, err := f.plan(sale.PricingPlanID.Value, sale.UserID.Value)
	if err == nil && has {
		canceled = "the user has access for another reason"
	}
	return canceled, err
}

// order adds the values of an abandoned order. Its email goes to the buyer, whether or not they
// are a user.
func (f *facts) order(id int32) (canceled string, err error) {
	o, err := f.Orders.Get(f, lyceum.OrderID(id))
	switch {
	case err != nil:
		return "", err
	case o.State != lyceum.OrderAbandoned:
		return "the order was completed", nil
	case !o.ReturnURL.Present:
		return receiverErased, nil
	}
	f.to = o.Email
	f.values["order.name"], f.values["order.price"] = f.name(o.Name.Value), o.FinalPrice.Text(o.Currency)
	f.values["return_url"] = o.ReturnURL.Value
	_, err = f.plan(o.PricingPlanID, o.UserID.Value)
	return "", err
}

// plan adds the names of a plan and its product, and reports whether a user has access to the
// product. Unknown names are empty.
func (f *facts) plan(id lyceum.PricingPlanID, user lyceum.UserID) (has bool, err error) {
	f.values["plan.name"], f.values["product.name"] = "", ""
	plans, err := f.PricingPlans.Find(f, id)
	plan, there := plans[id]
	if err != nil || !there {
		return false, err
	}
	f.values["plan.name"] = f.name(plan.Name)
	of := plan.Product()
	if !of.Present {
		return false, nil
	}
	held, err := f.FindNamed(user, f.now, []lyceum.Product{of.Value})
	product := held[of.Value]
	f.values["product.name"] = f.name(product.Name)
	return !product.Since.IsZero(), err
}

// day formats the day of a time in the school's time zone.
func (f *facts) day(at time.Time) string {
	if zone, err := f.school.TimeZone.Location(); err == nil {
		at = at.In(zone)
	}
	return at.Format(time.DateOnly)
}
