package console

import (
	"crypto/rand"
	"net/http"

	"github.com/lyceum-school/lyceum"
)

// maxFormName is longer than any name that newForm returns.
const maxFormName = 64

// newForm returns a unique name for a form that is about to be shown.
func newForm() string { return rand.Text() }

// sends returns the visitor as the caller of a change that happens only once, for a form whose
// response shows a secret. Reloading the response, or going back and forward, submits the form
// again; that redirects to what the first submission made. The secret that was shown is not
// stored.
func (v *visit) sends(r *http.Request) lyceum.By {
	form := r.PostForm.Get("form")
	if !isForm(form) {
		form = newForm()
	}
	return v.once(form, string(v.session[:]), r.URL.Path, r.PostForm.Encode())
}
