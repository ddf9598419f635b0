package console

import (
	"crypto/rand"
	"net/http"

	"github.com/lyceum-school/lyceum"
)

// maxFormName is longer than any name that newForm gives.
const maxFormName = 64

// newForm names a form that is about to be shown.
func newForm() string { return rand.Text() }

// sends is the visitor as one who makes a change once, however often they send a form
// whose answer shows a secret: a reload, or the way forward after back, sends it again
// and is led to what the first sending made. What was shown is not kept.
func (v *visit) sends(r *http.Request) lyceum.By {
	form := r.PostForm.Get("form")
	if !isForm(form) {
		form = newForm()
	}
	return v.once(form, string(v.session[:]), r.URL.Path, r.PostForm.Encode())
}
