package console

import (
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// toStopPage is the data of the list of sales to stop charging.
type toStopPage struct {
	Form *form
	Rows []toStop
	Turn turn
}

type toStop struct {
	sales.ToStop

	Person person
	State  mark
	Path   string // of the sale
}

// listToStop serves GET /admin/sales_to_stop.
func (c *console) listToStop(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(toStopPath)
	f.keep(r.URL.Query().Get, "page")
	number := pageOf(f)
	listing, err := c.Sales.ToStop(r.Context(), v.by(), struct{}{}, lyceum.Page{Number: number, Size: pageSize})
	if err != nil {
		return err
	}
	p := toStopPage{Form: f, Turn: newTurn(f, nil, pageSize, int64(number), listing.Total)}
	for i := range listing.Rows {
		s := &listing.Rows[i]
		buyer := person{Name: seen(s.Buyer.Name.Value), Email: s.Buyer.Email}
		p.Rows = append(p.Rows, toStop{*s, buyer, ends[s.EndReason.Value], salePath(s.ID)})
	}
	return c.show(w, r, statusFor(f), "to_stop.gohtml", v, "To stop charging", p)
}

// chargingStopped serves POST /admin/sales/{id}/charging_stopped.
func (c *console) chargingStopped(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.SaleID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	if _, err := c.Sales.ChargingStopped(r.Context(), v.by(), id); err != nil {
		return c.refuseSale(w, r, v, "Nothing was changed", salePath(id), err)
	}
	if r.PostForm.Get("back") == "sale" {
		return done(w, r, salePath(id), "stopped")
	}
	return done(w, r, toStopPath, "stopped")
}
