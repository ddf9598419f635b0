package oauth_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// buy gives the learner a course and a download, with a receipt and a credit note for a part of
// the price.
func (w *window) buy() {
	w.t.Helper()
	now := lyceum.Second(time.Now())
	storetest.Write(w.t, w.store, w.school, func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: 3, Name: "Oil on Canvas", IsPublished: true, CreatedAt: now, UpdatedAt: now})
		if err == nil {
			_, err = tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Colour charts", IsPublished: true, CreatedAt: now, UpdatedAt: now})
		}
		if err == nil {
			_, err = tx.DownloadAttachments.Save(tx, lyceum.DownloadAttachment{
				ID: 1, DigitalDownloadID: 1, Kind: lyceum.DownloadFile, URL: "https://files.example.com/charts.pdf",
				Filename: lyceum.Some("charts.pdf"), SizeInBytes: lyceum.Some(int64(1_234_567)), CreatedAt: now, UpdatedAt: now,
			})
		}
		if err == nil {
			_, err = tx.PricingPlans.Save(tx, lyceum.PricingPlan{
				ID: 1, CourseID: lyceum.Some(lyceum.CourseID(3)), Name: "Full course", Price: 14900, Currency: "EUR", Frequency: lyceum.OneTimePayment,
			}, lyceum.PricingPlan{
				ID: 2, Other: lyceum.Some(lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}), Name: "Charts", Price: 0, Currency: "EUR", Frequency: lyceum.Free,
			})
		}
		return err
	})
	by := lyceum.By{School: w.school, Actor: "test"}
	_, err := w.sales.ChangeSeller(w.t.Context(), by, sales.SellerChange{
		Name: lyceum.Some("Fernwood School of Craft Ltd"), Address: lyceum.Some("1 Mill Lane\nDublin\nIreland"),
		TaxNumber: lyceum.Some("IE6388047V"), Prefix: lyceum.Some("FW-"),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	n := sales.NewSale{User: 7, Plan: 1}
	n.TaxCharge, n.Charge = lyceum.Some(lyceum.Minor(3427)), lyceum.Some(lyceum.USDCents(20000))
	sale, err := w.sales.Record(w.t.Context(), by, n)
	if err == nil {
		_, err = w.sales.Refund(w.t.Context(), by, sales.Refund{Transaction: sale.Transactions[0].ID, Total: lyceum.Some(lyceum.Minor(5000))})
	}
	if err == nil {
		_, err = w.sales.Record(w.t.Context(), by, sales.NewSale{User: 7, Plan: 2})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// A learner finds what is theirs, and changes their profile, without JavaScript.
func TestAccountWithoutScripts(t *testing.T) {
	w := show(t)
	w.buy()
	webtest.Scripts(t, w.tab, false)
	w.open(w.at + "/secure/sign_in?next=/account")
	w.do(chromedp.SendKeys("input[name=email]", email), chromedp.SendKeys("input[name=password]", password), chromedp.Click("button.primary"))
	w.do(chromedp.WaitVisible("nav.account"), chromedp.Click("a[href='/account/receipts']"))
	w.do(chromedp.WaitVisible("a[href='/account/receipts/1']"), chromedp.Click("a[href='/account/receipts/1']"))
	w.do(chromedp.WaitVisible("a[href='/account/receipts/2']"), chromedp.Click("a[href='/account/profile']"))
	w.do(chromedp.WaitVisible("input[name=phone_number]"), chromedp.SetValue("input[name=name]", "Mira Lind"), chromedp.Click("input[name=marketing]"), chromedp.Click("main form.stack button.primary"))
	w.do(chromedp.WaitVisible("p.notice"))
	webtest.Scripts(t, w.tab, true)
	v := w.store.In(t.Context(), w.school)
	user, err := v.Users.Get(v, 7)
	if err != nil || user.Name.Value != "Mira Lind" || user.Marketing != lyceum.Some(true) || user.PhoneNumber.Present {
		t.Errorf("the profile is %+v, %v", user, err)
	}
}

// The amounts of a receipt stay on one line next to what was sold, also on a phone.
func TestReceiptOnAPhone(t *testing.T) {
	w := show(t)
	w.buy()
	w.open(w.at + "/secure/sign_in?next=/account/receipts/1")
	w.signIn(password)
	for _, width := range []int64{webtest.Phone, 320} {
		webtest.Look(t, w.tab, width, 844, false)
		broken := webtest.Eval[[]string](t, w.tab, `(() => {
			document.querySelectorAll(".books dt").forEach(e => e.textContent = "Throwing and glazing on the wheel, paid in full ".repeat(4))
			return [...document.querySelectorAll(".books .whole")].filter(e => {
				const text = document.createRange()
				text.selectNodeContents(e)
				return new Set([...text.getClientRects()].map(r => r.top)).size !== 1
			}).map(e => e.textContent)
		})()`)
		for _, amount := range broken {
			t.Errorf("at width %d, %q is on several lines", width, amount)
		}
		if n := w.text("String(document.querySelectorAll('.books .whole').length)"); n != "3" {
			t.Errorf("there are %s amounts, want 3", n)
		}
		w.sound()
	}
}
