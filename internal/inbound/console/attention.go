package console

import (
	"context"
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// attentionPage is the data of the page of warnings.
type attentionPage struct {
	Form   *form
	Rows   []warning
	Turn   turn
	ToStop int64 // sales to stop charging
}

// warning is something about a sale that did not fit.
type warning struct {
	sales.Attention

	Buyer person
	Path  string // of the sale
}

// listAttention serves GET /admin/attention.
func (c *console) listAttention(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(attentionPath)
	f.keep(r.URL.Query().Get, "page")
	number := pageOf(f)
	listing, err := c.Sales.Attention(r.Context(), v.by(), false, lyceum.Page{Number: number, Size: pageSize})
	if err != nil {
		return err
	}
	p := attentionPage{Form: f, Turn: newTurn(f, nil, pageSize, int64(number), listing.Total)}
	if p.Rows, err = c.warnings(r.Context(), v, listing.Rows); err != nil {
		return err
	}
	stops, err := c.Sales.ToStop(r.Context(), v.by(), struct{}{}, lyceum.Page{Number: 1, Size: 1})
	if err != nil {
		return err
	}
	p.ToStop = stops.Total
	return c.show(w, r, statusFor(f), "attention.gohtml", v, "Needs a look", p)
}

// warnings adds the names of the buyers.
func (c *console) warnings(ctx context.Context, v *visit, rows []sales.Attention) ([]warning, error) {
	var buyers []int32
	for i := range rows {
		buyers = append(buyers, int32(rows[i].Sale.UserID.Value))
	}
	users, err := c.Names.In(ctx, v.School.ID).FindNames(lyceum.UserSequence, buyers)
	if err != nil {
		return nil, err
	}
	var list []warning
	for i := range rows {
		sale := &rows[i].Sale
		list = append(list, warning{rows[i], personOf(users, sale.UserID.Value), salePath(sale.ID)})
	}
	return list, nil
}

// dismissAttention serves POST /admin/attention/{id}/dismiss.
func (c *console) dismissAttention(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.SaleWarningID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	dismissed, err := c.Sales.Dismiss(r.Context(), v.by(), id)
	if err != nil {
		return err
	}
	if r.PostForm.Get("back") == "sale" {
		return done(w, r, salePath(dismissed.Sale.ID), "dismissed")
	}
	return done(w, r, attentionPath, "dismissed")
}
