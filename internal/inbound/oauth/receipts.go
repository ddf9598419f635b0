package oauth

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// receiptRow is a receipt or a credit note as it is shown.
type receiptRow struct {
	Number, Page, Item string
	Note               bool // it is a credit note
	Paid, Issued       day
	Price, Tax, Total  string
	Seller             lyceum.Seller
	Address            []string // lines
	Of                 receiptLink
	Notes              []receiptLink
	Name, Email        string // of the buyer
}

// receiptLink links to another receipt of the same payment.
type receiptLink struct{ Number, Page string }

func receiptPage(id lyceum.ReceiptID) string { return fmt.Sprintf("%s/%d", receiptsPath, id) }

func shownReceipt(v *visit, d *sales.ReceiptDetail) receiptRow {
	link := func(n sales.NumberedReceipt) receiptLink { return receiptLink{web.Whole(n.Number), receiptPage(n.ID)} }
	amount := func(m lyceum.Minor) string { // negative for a credit note
		text := m.Text(d.Currency)
		if d.Refund.Present && m > 0 {
			text = "\u2212" + text
		}
		return text
	}
	row := receiptRow{
		Number: web.Whole(d.Number), Page: receiptPage(d.ID), Item: web.Whole(d.Item), Note: d.Refund.Present,
		Paid: v.day(d.PaidAt), Issued: v.day(d.IssuedAt), Price: amount(d.Price), Tax: amount(d.Tax),
		Total: amount(d.Total()), Seller: d.SoldBy, Of: link(d.Of), Name: web.Whole(v.User.Name.Value),
		Email: v.User.Email,
	}
	row.Seller.Name, row.Seller.TaxNumber = web.Whole(d.SoldBy.Name), web.Whole(d.SoldBy.TaxNumber)
	for line := range strings.Lines(d.SoldBy.Address) {
		row.Address = append(row.Address, web.Whole(strings.TrimSpace(line)))
	}
	for _, note := range d.Notes {
		if note.ID != d.ID {
			row.Notes = append(row.Notes, link(note))
		}
	}
	return row
}

// listReceipts serves GET /account/receipts.
func (p *pages) listReceipts(w http.ResponseWriter, r *http.Request, v *visit) error {
	page := pageOf(r, productsPage)
	found, err := p.Sales.Receipts(r.Context(), v.asLearner(), lyceum.ReceiptFilter{}, page)
	if err != nil {
		return err
	}
	rows := make([]receiptRow, len(found.Rows))
	for i := range found.Rows {
		rows[i] = shownReceipt(v, &found.Rows[i])
	}
	return p.show(w, http.StatusOK, "receipts.gohtml", v, view{
		Title: "Your receipts", Room: receiptsPath, Data: turned(receiptsPath, rows, page, found.More),
	})
}

// showReceipt serves GET /account/receipts/{receipt}.
func (p *pages) showReceipt(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, err := strconv.ParseInt(r.PathValue("receipt"), 10, 32)
	if err != nil || id < 1 {
		return lyceum.Errorf(lyceum.NotFound, "You have no such receipt.")
	}
	d, err := p.Sales.Receipt(r.Context(), v.asLearner(), lyceum.ReceiptID(id))
	if lyceum.KindOf(err) == lyceum.NotFound {
		return lyceum.Errorf(lyceum.NotFound, "You have no such receipt.")
	}
	if err != nil {
		return err
	}
	row := shownReceipt(v, &d)
	title := "Receipt " + row.Number
	if row.Note {
		title = "Credit note " + row.Number
	}
	return p.show(w, http.StatusOK, "receipt.gohtml", v, view{Title: title, Room: receiptsPath, Data: row})
}
