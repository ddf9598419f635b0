package console_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func TestRefund(t *testing.T) {
	p := open(t, site)
	p.market()
	sale, id := p.sell(1, 11, taxed(100))
	path := refundPath(id)
	want(t, p.send(p.owner, "GET", path, nil), 200, `value="20.99"`, "$20.99 can be refunded", "Ada Lovelace", "In USD.", `inputmode="decimal"`,
		"$20.99 of transaction 1 goes back to Ada Lovelace. $1.00 of it is tax. Nothing remains refundable. This ends the sale.")

	form := p.form(path, "amount", " 5.5 ", "reason", " came late ", "reference", "re_1")
	w := p.send(p.owner, "POST", path, form)
	want(t, w, 200, "$5.50 of transaction 1 goes back to Ada Lovelace.", "$15.49 remains refundable.", "The learner’s access does not change.", "Lyceum does not move money",
		`name="form" value="`+form.Get("form")+`"`, `value="5.5"`, `value="came late"`, `value="re_1"`)

	// Nothing happens that the page did not show: not if other values were typed since, and not
	// if the sale has changed.
	full := promised(form, p.send(p.owner, "GET", path, nil))
	want(t, p.send(p.owner, "POST", path+"/keep", full), 200, "Nothing has been refunded yet.", "$5.50 of transaction 1 goes back", `value="came late"`)
	want(t, p.send(p.owner, "POST", path+"/keep", with(promised(form, w), "end_access", "on")), 200, "Nothing has been refunded yet.", "This ends the sale.", "checked")
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: id, Total: lyceum.Some(lyceum.Minor(1))}))
	want(t, p.send(p.owner, "POST", path+"/keep", promised(form, w)), 200, "Nothing has been refunded yet.", "$15.48 remains refundable.")
	if amount, _ := p.refunded(id); amount != 1 {
		t.Fatalf("%d is refunded, want 1", amount)
	}

	w = p.send(p.owner, "POST", path, form)
	leads(t, p.send(p.owner, "POST", path+"/keep", promised(form, w)), salePath(sale)+"?done=refunded")
	want(t, p.send(p.owner, "GET", salePath(sale)+"?done=refunded", nil), 200, "The refund is recorded", "Active", "came late", "$5.51 of $20.99 refunded so far · Reference re_1", "$15.48 can be refunded")
	if p.actors()["user:1"] == 0 {
		t.Errorf("the journal has %v, want entries of user:1", p.actors())
	}

	// Everything that is left is refunded in one step, and the page says that this ends the
	// sale.
	w = p.send(p.owner, "GET", path, nil)
	want(t, w, 200, "$15.48 of transaction 1 goes back to Ada Lovelace.", "Nothing remains refundable. This ends the sale.", "The learner’s access changes: Pottery: access ends at once.")
	form = url.Values{"amount": {"15.48"}, "form": {once.FindStringSubmatch(w.Body.String())[1]}}
	leads(t, p.send(p.owner, "POST", path+"/keep", promised(form, w)), salePath(sale)+"?done=refunded")
	want(t, p.send(p.owner, "GET", salePath(sale), nil), 200, "Ended by a refund")
	if amount, steps := p.refunded(id); amount != 2099 || steps != 3 {
		t.Errorf("%d was refunded in %d steps", amount, steps)
	}
}

var promise = regexp.MustCompile(`name="promise" value="([^"]+)"`)

// promised returns a form with the promise of a page.
func promised(form url.Values, w *httptest.ResponseRecorder) url.Values {
	said := promise.FindStringSubmatch(w.Body.String())
	if said == nil {
		return form
	}
	return with(form, "promise", said[1])
}

// agree submits a form with the promise of the page before it.
func (p *place) agree(session, path string, form url.Values) *httptest.ResponseRecorder {
	p.t.Helper()
	return p.send(session, "POST", path, promised(form, p.send(session, "GET", path, nil)))
}

// agreed returns the form of a refund with the promise of its page.
func (p *place) agreed(path string, form url.Values) url.Values {
	p.t.Helper()
	return promised(form, p.send(p.owner, "POST", path, form))
}

func with(form url.Values, name, value string) url.Values {
	changed := url.Values{}
	for key, values := range form {
		changed[key] = values
	}
	changed.Set(name, value)
	return changed
}

// The confirmation names each product of a bundle, and what still gives access; the checkbox
// ends access for a partial refund, too.
func TestRefundOfABundle(t *testing.T) {
	p := open(t, site)
	p.market()
	p.bundle()
	first, _ := p.sell(1, 11)
	second, id := p.sell(8, 11)
	path := refundPath(id)
	want(t, p.send(p.owner, "GET", path, nil), 200, "Also end accessOtherwise, the school’s settings decide.")
	form := p.form(path, "amount", "1.00")
	want(t, p.send(p.owner, "POST", path, form), 200, "$49.00 remains refundable. The learner’s access does not change.")
	form.Set("end_access", "on")
	w := p.send(p.owner, "POST", path, form)
	want(t, w, 200, "$49.00 remains refundable. This ends the sale. The learner’s access changes: Glass: access ends at once. Pottery: access stays, through sale "+fmt.Sprint(first)+".",
		`name="end_access" value="on" checked`)
	form = promised(form, w)
	want(t, p.send(p.owner, "GET", refundPath(id-1), nil), 200)
	once := p.form(refundPath(id-1), "amount", "19.99")
	want(t, p.send(p.owner, "POST", refundPath(id-1), once), 200, "This ends the sale. The learner’s access does not change. Pottery: access stays, through sale "+fmt.Sprint(second)+" of The studio.")
	leads(t, p.send(p.owner, "POST", path+"/keep", form), salePath(second)+"?done=refunded")
	want(t, p.send(p.owner, "GET", salePath(second), nil), 200, "Ended by a refund", "$49.00 can be refunded")
	want(t, p.send(p.owner, "POST", refundPath(id-1), once), 200, "This ends the sale. The learner’s access changes: Pottery: access ends at once.")
}

// bundle creates a collection of both courses, sold by plan 8.
func (p *place) bundle() {
	p.t.Helper()
	p.write(func(tx lyceum.Tx) error {
		at, all := p.clock.Now(), lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
		_, e1 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "The studio", CreatedAt: at, UpdatedAt: at})
		_, e2 := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: 1, In: 1, Product: lyceum.CourseID(1).Product(), CreatedAt: at},
			lyceum.CollectionProduct{ID: 2, In: 1, Product: lyceum.CourseID(2).Product(), CreatedAt: at})
		_, e3 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 8, Name: "The studio in full", Other: lyceum.Some(all), Price: 5000, Currency: "USD", Frequency: lyceum.OneTimePayment})
		return errors.Join(e1, e2, e3)
	})
}

// A refund form takes effect once, however often it is submitted, in whatever order and to
// whichever process.
func TestRefundOnce(t *testing.T) {
	for _, amount := range []string{"5.00", "19.99"} {
		t.Run(amount, func(t *testing.T) {
			p := open(t, site)
			p.market()
			sale, id := p.sell(1, 11)
			path := refundPath(id)
			form := p.agreed(path, p.form(path, "amount", amount))
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if w := p.send(p.owner, "POST", path+"/keep", form); w.Code != 303 {
						t.Errorf("status %d: %s", w.Code, plain(w.Body.String()))
					}
				})
			}
			all.Wait()
			leads(t, p.send(p.owner, "POST", path+"/keep", form), salePath(sale)+"?done=refunded")
			if _, steps := p.refunded(id); steps != 1 {
				t.Errorf("the form has refunded %d times", steps)
			}
		})
	}
	p := open(t, site)
	p.market()
	_, id := p.sell(1, 11)
	_, other := p.sell(1, 12)
	path := refundPath(id)
	form := p.agreed(path, p.form(path, "amount", "5.00"))
	p.send(p.owner, "POST", path+"/keep", form)
	// The same form with a different value asks for confirmation again, under a new name.
	for _, to := range []string{path, refundPath(other)} {
		changed := with(form, "amount", "6.00")
		w := p.send(p.owner, "POST", to+"/keep", changed)
		want(t, w, 422, "already made a different refund", `value="6.00"`)
		name := once.FindStringSubmatch(w.Body.String())
		if name == nil || name[1] == form.Get("form") {
			t.Error("the form has kept its name")
		}
	}
	// A form without a name, or with one that is not from the console, asks for confirmation
	// first.
	for _, name := range []string{"", strings.Repeat("x", 300)} {
		want(t, p.send(p.owner, "POST", path+"/keep", with(form, "form", name)), 200, "$5.00 of transaction 1 goes back")
	}
	if amount, steps := p.refunded(id); amount != 500 || steps != 1 {
		t.Errorf("%d was refunded in %d steps", amount, steps)
	}
	if amount, _ := p.refunded(other); amount != 0 {
		t.Errorf("%d of another transaction was refunded", amount)
	}
}

func TestRefundRefuses(t *testing.T) {
	p := open(t, site)
	p.market()
	_, dollars := p.sell(1, 11)
	_, yen := p.sell(3, 11)
	_, dinar := p.sell(4, 11)
	for _, tc := range []struct {
		name                      string
		id                        lyceum.TransactionID
		amount, reason, reference string
		field, says               string
	}{
		{"nothing", dollars, "", "", "", "amount", "Amount must be a number such as 19.50"},
		{"comma", dollars, "1,999", "came late", "re_1", "amount", "Amount must be a number such as 19.50"},
		{"three decimals", dollars, "1.999", "", "", "amount", "with a point or a comma before 2 decimals at most"},
		{"zero", dollars, "0.00", "", "", "amount", "Amount must be from 0.01 to 19.99, which is what is left"},
		{"above what is left", dollars, "20.00", "", "", "amount", "Amount must be from 0.01 to 19.99, which is what is left"},
		{"far above", dollars, "9999999999.99", "", "", "amount", "Amount must be from 0.01 to 19.99"},
		{"markup", dollars, `"><script>alert(1)</script>`, "", "", "amount", "Amount must be a number"},
		{"yen with decimals", yen, "90.00", "", "", "amount", "JPY has no decimals"},
		{"yen above what is left", yen, "9001", "", "", "amount", "Amount must be from 1 to 9000"},
		{"dinar above what is left", dinar, "1.501", "", "", "amount", "Amount must be from 0.001 to 1.500"},
		{"long reason", dollars, "1.00", strings.Repeat("ü", 501), "", "reason", "Reason must be at most 500 characters long"},
		{"long reference", dollars, "1.00", "", strings.Repeat("x", 501), "reference", "Reference must be at most 500 characters long"},
		{"NUL", dollars, "1.00", "a\x00b", "", "reason", "Reason must be UTF-8 text without NUL characters"},
		{"reason that is no UTF-8", dollars, "1.00", "a\xff", "", "reason", "Reason must be UTF-8 text without NUL characters"},
		{"reference that is no UTF-8", dollars, "1.00", "", "\xff", "reference", "Reference must be UTF-8 text without NUL characters"},
	} {
		for _, to := range []string{"", "/keep"} {
			t.Run(tc.name+to, func(t *testing.T) {
				path := refundPath(tc.id)
				form := p.form(path, "amount", tc.amount, "reason", tc.reason, "reference", tc.reference)
				w := p.send(p.owner, "POST", path+to, form)
				want(t, w, 422, "<title>Error: ", tc.says, `id="`+tc.field+`-error"`, `href="#`+tc.field+`"`)
				if !strings.Contains(w.Body.String(), `name="form" value="`+form.Get("form")+`"`) {
					t.Error("the form has another name")
				}
				if tc.name == "comma" {
					want(t, w, 422, `value="1,999"`, `value="came late"`, `value="re_1"`)
				}
			})
		}
		if _, steps := p.refunded(tc.id); steps != 0 {
			t.Fatalf("%s has refunded", tc.name)
		}
	}
}

// What the rules reject is explained in a sentence, with a link back to the sale.
func TestRefundIsNotPossible(t *testing.T) {
	p := open(t, site)
	p.market()
	freeSale, free := p.sell(5, 11)
	openSale, opened := p.sell(1, 11)
	lostSale, lost := p.sell(1, 12)
	goneSale, gone := p.sell(1, 13)
	p.must(p.sales.OpenChargeback(t.Context(), p.by(), sales.Chargeback{Transaction: opened, Fee: 100}))
	p.must(p.sales.OpenChargeback(t.Context(), p.by(), sales.Chargeback{Transaction: lost, Fee: 100}))
	p.must(p.sales.CloseChargeback(t.Context(), p.by(), sales.Outcome{Transaction: lost, State: lyceum.DisputeLost}))
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: gone}))
	for _, tc := range []struct {
		sale lyceum.SaleID
		id   lyceum.TransactionID
		says string
	}{
		{freeSale, free, "Nothing was charged for this transaction, so there is nothing to refund."},
		{openSale, opened, "This transaction has an open chargeback: the bank holds the money."},
		{lostSale, lost, "The buyer got this payment back through a chargeback"},
		{goneSale, gone, "This transaction is fully refunded."},
	} {
		before := p.journal()
		for _, w := range []struct{ method, to string }{{"GET", ""}, {"POST", ""}, {"POST", "/keep"}} {
			got := p.send(p.owner, w.method, refundPath(tc.id)+w.to, url.Values{"form": {"x"}, "amount": {"1.00"}})
			want(t, got, 409, "Nothing was refunded", tc.says, `href="`+salePath(tc.sale)+`"`)
		}
		if p.journal() != before {
			t.Errorf("transaction %d: something was done", tc.id)
		}
		for _, page := range []string{salePath(tc.sale), people + "/11", people + "/12", people + "/13"} {
			if strings.Contains(p.send(p.owner, "GET", page, nil).Body.String(), refundPath(tc.id)+`"`) {
				t.Errorf("%s offers to refund transaction %d", page, tc.id)
			}
		}
	}
}
