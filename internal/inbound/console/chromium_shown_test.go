package console_test

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// An owner saves a form that somebody else has changed since it was opened: they are told, with
// the focus on the message, and save it knowingly.
func TestOvertakenInABrowser(t *testing.T) {
	w, p := show(t)
	p.register("Ledger", "https://app.example.com/cb", "1")
	const receipt = "/admin/settings/emails/receipt"
	w.eachAppearance(func() {
		leads(t, p.send(p.owner, "POST", appsPath+"/1", url.Values{"name": {"Ledger"}, "redirect_url": {"https://app.example.com/cb"}}), appsPath+"/1?done=changed")
		w.open(appsPath + "/1")
		w.do(chromedp.SetValue("#name", "Books"))
		leads(t, p.send(p.owner, "POST", appsPath+"/1", url.Values{"name": {"Ledger"}, "redirect_url": {"https://new.example.com/cb"}}), appsPath+"/1?done=changed")
		w.press("section form.stack button.primary")
		w.until("document.activeElement.matches('.error') && document.activeElement.innerText.includes('Redirect URL: https://new.example.com/cb')")
		w.sound("422")
		w.press("section form.stack button.primary")
		w.until("location.search === '?done=changed' && document.querySelector('h1').textContent === 'Books'")

		w.open(receipt)
		w.do(chromedp.SetValue("#body", "Mine"))
		leads(t, p.send(p.owner, "POST", receipt, url.Values{"do": {"save"}, "subject": {"Receipt"}, "body": {"Theirs,\nin two lines"}}), receipt+"?done=changed")
		w.press("button[value=save]")
		w.until("document.querySelector('.error pre').textContent.startsWith('Theirs')")
		w.sound("422")
		w.press("button[value=save]")
		w.until("location.search === '?done=changed' && document.getElementById('body').value === 'Mine'")
	})
}
