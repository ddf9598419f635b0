package console_test

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

const receiptsPath = "/admin/settings/receipts"

// An owner enters the seller; payments and refunds from then on are listed with their numbers.
// Support can see them, but change nothing.
func TestReceipts(t *testing.T) {
	p := open(t, site)
	_, id := p.trade()
	want(t, p.send(p.owner, "GET", receiptsPath, nil), 200, "No receipts yet", "Enter who sells")
	want(t, p.send(p.owner, "POST", receiptsPath, p.form(receiptsPath, "address", "1 Mill Lane")), 422, "Name is required with an address", "1 Mill Lane</textarea>")
	want(t, p.send(p.owner, "POST", receiptsPath, p.form(receiptsPath, "name", strings.Repeat("é", 201))), 422, "Name must be at most 200 characters long")
	seller := p.form(receiptsPath, "name", "Northwind <Ltd>", "address", "1 Mill Lane\r\nDublin", "tax_number", "IE6388047V", "receipt_prefix", "N-")
	leads(t, p.send(p.owner, "POST", receiptsPath, seller), receiptsPath+"?done=changed")
	want(t, p.send(p.owner, "GET", receiptsPath, nil), 200, "The next payment gets the first one", "Northwind &lt;Ltd&gt;")
	if _, err := p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: id, Amount: lyceum.Some(lyceum.Minor(1))}); err != nil {
		t.Fatal(err)
	}
	want(t, p.send(p.owner, "GET", receiptsPath, nil), 200, "The next payment gets the first one") // the payment has no receipt
	_, sold := p.sell(1, 11)
	if _, err := p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: sold, Amount: lyceum.Some(lyceum.Minor(100))}); err != nil {
		t.Fatal(err)
	}
	w := p.send(p.owner, "GET", receiptsPath, nil)
	want(t, w, 200, "2 receipts", "Receipt <bdi>N-1</bdi>", "Credit note <bdi>N-2</bdi>", "of N-1", "−$1.00", `<a href="/admin/people/11"><bdi>Ada Lovelace</bdi></a>`)
	if strings.Contains(w.Body.String(), "−$0.00") {
		t.Error("no tax is shown as less than none")
	}
	if strings.Contains(w.Body.String(), "Show all") {
		t.Error("all receipts are shown as those of one buyer")
	}
	want(t, p.send(p.owner, "GET", receiptsPath+"?user_id=11", nil), 200, "2 receipts of Ada Lovelace", `<a href="`+receiptsPath+`">Show all</a>`)
	want(t, p.send(p.owner, "GET", receiptsPath+"?user_id=x", nil), 422)
	for query, says := range map[string]string{
		"?user_id=999":        "No receipts for this buyer",
		"?page=3":             "There is no page 3",
		"?user_id=11&page=99": "There is no page 99",
	} {
		w := p.send(p.owner, "GET", receiptsPath+query, nil)
		if want(t, w, 200, says); strings.Contains(w.Body.String(), "gets the first one") {
			t.Errorf("%s says that there are no receipts: %s", query, plain(w.Body.String()))
		}
	}
	support, _ := p.hire("support@example.com", lyceum.SupportRole)
	if w := p.send(support, "GET", receiptsPath, nil); w.Code != 200 || strings.Contains(w.Body.String(), "Who sells") {
		t.Errorf("support sees the seller's form, or nothing: %d", w.Code)
	}
	want(t, p.send(support, "POST", receiptsPath, seller), 403)
}
