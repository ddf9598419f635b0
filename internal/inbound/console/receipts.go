package console

import (
	"context"
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

const (
	receiptsPath = "/admin/settings/receipts"

	// receiptSize is how many receipts are on a page.
	receiptSize = 50
)

// receiptPage is the data of the page of the seller and the receipts.
type receiptPage struct {
	Form   *form // of the seller
	Listed *form // the list's parameters
	Rows   []receiptRow
	Of     *person // the buyer whose receipts are listed; nil: those of all buyers, or none
	Total  int64
	Turn   turn
	Seller lyceum.Seller
}

type receiptRow struct {
	sales.ReceiptDetail

	Buyer person
}

// Shown formats an amount of a receipt, negative for a credit note.
func (r receiptRow) Shown(amount lyceum.Minor) string {
	if r.Refund.Present {
		amount = -amount
	}
	return money(amount, r.Currency)
}

var sellerFields = []string{"name", "address", "tax_number", "receipt_prefix"}

// listReceipts serves GET /admin/settings/receipts.
func (c *console) listReceipts(w http.ResponseWriter, r *http.Request, v *visit) error {
	from, err := c.Sales.Seller(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	return c.receiptPage(w, r, v, sellerForm(&from))
}

// sellerForm returns the form of the seller with its current values.
func sellerForm(from *lyceum.Seller) *form {
	return &form{Action: receiptsPath, Shown: from.Shown(), Values: map[string]string{
		"name": from.Name, "address": from.Address, "tax_number": from.TaxNumber, "receipt_prefix": from.Prefix,
	}}
}

// changeSeller serves POST /admin/settings/receipts.
func (c *console) changeSeller(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: receiptsPath, Shown: r.PostForm.Get("shown"), Values: map[string]string{}}
	f.keep(lines(r), sellerFields...)
	sent := func(name string) lyceum.Opt[string] { return lyceum.Some(f.Values[name]) }
	_, wrong := c.Sales.ChangeSeller(r.Context(), v.seeing(f), sales.SellerChange{
		Name: sent("name"), Address: sent("address"), TaxNumber: sent("tax_number"), Prefix: sent("receipt_prefix"),
	})
	if wrong == nil {
		return done(w, r, receiptsPath, "changed")
	}
	from, err := c.Sales.Seller(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	if !f.overtaken(wrong, sellerForm(&from), sellerFields...) && !f.refuse(wrong) {
		return wrong
	}
	return c.receiptPage(w, r, v, f)
}

func (c *console) receiptPage(w http.ResponseWriter, r *http.Request, v *visit, f *form) error {
	p := &receiptPage{Form: f, Listed: newFilter(receiptsPath)}
	p.Listed.keep(r.URL.Query().Get, "page", "user_id")
	reads := &reading{form: p.Listed}
	user := id[lyceum.UserID](reads, "user_id")
	if len(reads.wrong) > 0 { // the page has no field for it
		return lyceum.Invalidf("The buyer %s.", reads.wrong[0].Message)
	}
	page, status := pageOf(p.Listed), statusFor(f)
	if len(p.Listed.Wrong) > 0 {
		status = statusFor(p.Listed)
	}
	found, err := c.Sales.Receipts(
		r.Context(), v.by(), lyceum.ReceiptFilter{User: user}, lyceum.Page{Number: page, Size: receiptSize},
	)
	if err != nil {
		return err
	}
	if p.Seller, err = c.Sales.Seller(r.Context(), v.by(), struct{}{}); err != nil {
		return err
	}
	if p.Rows, err = c.receiptRows(r.Context(), v, found.Rows); err != nil {
		return err
	}
	if user.Present && len(p.Rows) > 0 {
		p.Of = &p.Rows[0].Buyer
	}
	p.Total = found.Total
	p.Turn = newTurn(p.Listed, []string{"user_id"}, receiptSize, int64(page), found.Total)
	return c.show(w, r, status, "receipts.gohtml", v, "Receipts", p)
}

// receiptRows adds the names of the buyers.
func (c *console) receiptRows(ctx context.Context, v *visit, found []sales.ReceiptDetail) ([]receiptRow, error) {
	users := make([]int32, len(found))
	for i := range found {
		users[i] = int32(found[i].User)
	}
	named, err := c.Names.In(ctx, v.School.ID).FindNames(lyceum.UserSequence, distinct(users))
	rows := make([]receiptRow, len(found))
	for i := range found {
		rows[i] = receiptRow{found[i], personOf(named, found[i].User)}
	}
	return rows, err
}

// Turning returns the data for the links to other pages.
func (p *receiptPage) Turning() any {
	return struct {
		Form *form
		Turn turn
	}{p.Listed, p.Turn}
}
