package console

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// refundPage is the data of the form of a refund, with the effect of the refund.
type refundPage struct {
	Transaction lyceum.Transaction
	Returnable  lyceum.Part // before the refund

	Form     *form
	Path     string // of the form
	Sale     string // the path of its sale
	Buyer    person
	Plan     plan
	Left     string
	Amount   string
	Tax      string // of the amount; empty for none
	Rest     string // what is left after the refund; empty for nothing
	EndsSale bool
	Reopens  lyceum.SaleID // another sale; 0 for none
	Outcome  outcome
	Promise  string // of everything that the page says will happen; empty if it says nothing
	Problem  string // why the refund in the form cannot be made
	Changed  bool   // the effect is no longer the one that the page showed
}

var refundFields = []string{"amount", "reason", "reference", "end_access"}

func refundPath(id lyceum.TransactionID) string {
	return fmt.Sprintf("%s/%d/refund", transactionsPath, id)
}

// isForm reports whether a string can be a form name made by newForm.
func isForm(name string) bool { return name != "" && len(name) <= maxFormName && lyceum.IsText(name) }

// once returns the visitor as the caller of a change that happens only once, however often they
// submit the form with the same values. With other values it is a different change.
func (v *visit) once(form string, values ...string) lyceum.By {
	by := v.onlyOnce(form, values...)
	by.Once.Key += ":" + hex.EncodeToString(by.Once.Request[:])
	return by
}

// onlyOnce is once for money: a form that has made a change is rejected with other values.
func (v *visit) onlyOnce(form string, values ...string) lyceum.By {
	by := v.by()
	by.Once = &lyceum.Once{
		Key: "console:" + form, Request: sha256.Sum256(fmt.Appendf(nil, "%q", values)),
		Render: func(any) ([]byte, error) { return nil, nil },
	}
	return by
}

// repeated reports whether err says that the change was made when the form was submitted
// before.
func repeated(err error) bool {
	_, ok := errors.AsType[*lyceum.RepeatError](err)
	return ok
}

// newRefund serves GET /admin/transactions/{id}/refund.
func (c *console) newRefund(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.TransactionID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	p, err := c.refundable(r, v, id)
	if err != nil {
		return c.refuseRefund(w, r, v, p, err)
	}
	p.Form = &form{
		Action: p.Path, Once: newForm(),
		Values: map[string]string{"amount": p.Returnable.Total().Decimal(p.Transaction.Currency)},
	}
	err = c.foresee(r, v, &p, sales.Refund{Transaction: id, Total: lyceum.Some(p.Returnable.Total())})
	if sentence, known := refusals[lyceum.Public(err).Code]; err != nil && known {
		p.Problem, err = sentence, nil // a partial refund may be possible
	}
	if err != nil {
		return c.refuseRefund(w, r, v, p, err)
	}
	return c.show(w, r, http.StatusOK, "refund.gohtml", v, "Refund", p)
}

// previewRefund serves POST /admin/transactions/{id}/refund: it shows the effect of the refund
// in the form.
func (c *console) previewRefund(w http.ResponseWriter, r *http.Request, v *visit) error {
	p, err := c.foreseen(r, v)
	if err != nil {
		return c.refuseForm(w, r, v, p, err)
	}
	return c.show(w, r, http.StatusOK, "refund.gohtml", v, "Refund", p)
}

// foreseen returns the page for the refund that was submitted.
func (c *console) foreseen(r *http.Request, v *visit) (refundPage, error) {
	id, ok := parseID[lyceum.TransactionID](r.PathValue("id"))
	if !ok {
		return refundPage{}, errNoPage
	}
	p, err := c.refundable(r, v, id)
	if err != nil {
		return p, err
	}
	p.sent(r)
	refund, err := refundOf(r, &p.Transaction)
	if err == nil {
		err = p.inDecimals(c.foresee(r, v, &p, refund))
	}
	return p, err
}

// refuseForm shows a form with what is wrong in it, or why nothing can be refunded.
func (c *console) refuseForm(w http.ResponseWriter, r *http.Request, v *visit, p refundPage, err error) error {
	if p.Form != nil && p.Form.refuse(err) {
		return c.show(w, r, http.StatusUnprocessableEntity, "refund.gohtml", v, "Refund", p)
	}
	return c.refuseRefund(w, r, v, p, err)
}

// keepRefund serves POST /admin/transactions/{id}/refund/keep. It refunds if this has the
// effect that the page promised; otherwise it shows the current effect.
func (c *console) keepRefund(w http.ResponseWriter, r *http.Request, v *visit) error {
	p, err := c.foreseen(r, v)
	if p.Path == "" { // no such transaction
		return err
	}
	if p.Form == nil {
		p.sent(r)
	}
	values := []string{"refund", p.Path}
	for _, name := range refundFields {
		values = append(values, p.Form.Values[name])
	}
	by := v.onlyOnce(p.Form.Once, values...)
	promised := err == nil && p.Form.Once == r.PostForm.Get("form") && p.Promise == r.PostForm.Get("promise")
	if promised {
		refund, _ := refundOf(r, &p.Transaction) // it was parsed before
		_, err = c.Sales.Refund(r.Context(), by, refund)
	} else if once := c.Sales.CheckOnce(r.Context(), by); repeated(once) || err == nil {
		err = once
	}
	switch {
	case repeated(err) || promised && err == nil:
		return done(w, r, p.Sale, "refunded")
	case err != nil && lyceum.Public(err).Code == "idempotency_key_reused":
		return c.showAgain(w, r, v, p)
	case err != nil:
		return c.refuseForm(w, r, v, p, p.inDecimals(err))
	}
	p.Changed = true
	return c.show(w, r, http.StatusOK, "refund.gohtml", v, "Refund", p)
}

// showAgain shows a form that has already made a different refund, as a new one.
func (c *console) showAgain(w http.ResponseWriter, r *http.Request, v *visit, p refundPage) error {
	f := p.Form
	f.Once = newForm()
	f.Order, f.Wrong = []string{"amount"}, map[string]string{
		"amount": "This form already made a different refund. Check the sale’s history, and continue only if you want " +
			"another refund.",
	}
	return c.show(w, r, http.StatusUnprocessableEntity, "refund.gohtml", v, "Refund", p)
}

// refundable returns the page of a refund. Its paths are also set if there is an error.
func (c *console) refundable(r *http.Request, v *visit, id lyceum.TransactionID) (refundPage, error) {
	t, left, err := c.Sales.Returnable(r.Context(), v.by(), id)
	p := refundPage{
		Transaction: t, Returnable: left, Path: refundPath(id), Sale: salePath(t.SaleID),
		Left: money(left.Total(), t.Currency),
	}
	if err != nil {
		return p, err
	}
	of := lyceum.SaleOf(&t)
	p.Buyer, p.Plan, err = c.party(r.Context(), v.School.ID, &of)
	return p, err
}

// foresee adds the effect of a refund to the page.
func (c *console) foresee(r *http.Request, v *visit, p *refundPage, refund sales.Refund) error {
	o, err := c.Sales.PreviewRefund(r.Context(), v.by(), refund, outcomePage())
	if err != nil {
		return err
	}
	part, currency := o.Money.Value.Refunded, p.Transaction.Currency
	if part.Total() == 0 {
		return errRecorded()
	}
	p.EndsSale, p.Reopens, p.Outcome = o.EndsSale, o.Reopens.Value, outcomeOf(&o.AccessPreview)
	p.Amount = money(part.Total(), currency)
	if part.Tax > 0 {
		p.Tax = money(part.Tax, currency)
	}
	if rest := o.Money.Value.Left.Total(); rest > 0 {
		p.Rest = money(rest, currency)
	}
	p.Promise = p.Outcome.promise(p.Amount, p.Tax, p.Rest, strconv.FormatBool(refund.EndAccess.Value),
		strconv.FormatBool(p.EndsSale), fmt.Sprint(p.Reopens))
	return nil
}

// errRecorded returns the error for a refund that would have no effect.
func errRecorded() error {
	return lyceum.InvalidFields(lyceum.FieldError{Field: "reference", Message: "belongs to an earlier recorded refund"})
}

// sent sets the form of the page to what was submitted, with a new name if it has none.
func (p *refundPage) sent(r *http.Request) {
	p.Form = &form{Action: p.Path, Once: r.PostForm.Get("form"), Values: map[string]string{}}
	if !isForm(p.Form.Once) {
		p.Form.Once = newForm()
	}
	p.Form.keep(trimmed(r), refundFields...)
}

// refundOf parses the submitted refund from the raw values, because form.keep may have changed
// them for display. Its amount is what the buyer gets back.
func refundOf(r *http.Request, t *lyceum.Transaction) (sales.Refund, error) {
	typed := trimmed(r)
	amount, err := parseDecimal(typed("amount"), t.Currency)
	refund := sales.Refund{Transaction: t.ID, Total: lyceum.Some(amount)}
	if text := typed("reason"); text != "" {
		refund.Reason = lyceum.Some(text)
	}
	if text := typed("reference"); text != "" {
		refund.Reference = lyceum.Some(text)
	}
	if typed("end_access") != "" {
		refund.EndAccess = lyceum.Some(true)
	}
	return refund, err
}

// inDecimals rewords the rule's error about an amount with decimal amounts, as the form has
// them.
func (p *refundPage) inDecimals(err error) error {
	e, ok := errors.AsType[*lyceum.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == "reference_taken":
		return errRecorded()
	case e.Code != "exceeds_left" && !slices.ContainsFunc(e.Fields, ofTotal):
		return err
	}
	return lyceum.InvalidFields(lyceum.FieldError{
		Field: "amount", Message: fmt.Sprintf("must be from %s to %s, which is what is left",
			lyceum.Minor(1).Decimal(p.Transaction.Currency), p.Returnable.Total().Decimal(p.Transaction.Currency)),
	})
}

func ofTotal(f lyceum.FieldError) bool { return f.Field == "total" }

func (c *console) refuseRefund(w http.ResponseWriter, r *http.Request, v *visit, p refundPage, err error) error {
	return c.refuseSale(w, r, v, "Nothing was refunded", p.Sale, err)
}
