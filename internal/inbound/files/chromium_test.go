package files_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// stealingPDF sends requests to the school when it is displayed.
const stealingPDF = `%PDF-1.7
1 0 obj <</Type/Catalog /Pages 2 0 R /OpenAction 4 0 R /AA <</WC 4 0 R>>>> endobj
2 0 obj <</Type/Pages /Kids[3 0 R] /Count 1>> endobj
3 0 obj <</Type/Page /Parent 2 0 R /MediaBox[0 0 200 200] /AA <</O 4 0 R>>>> endobj
4 0 obj <</S/JavaScript /JS(this.submitForm\("/stolen"\); app.launchURL\("/stolen", false\);)>> endobj
trailer <</Root 1 0 R>>
%%EOF`

// TestFilesInABrowser checks that no script in a file runs with the school's origin, and that a
// page of another origin can send a file in parts and as a form.
func TestFilesInABrowser(t *testing.T) {
	tab := webtest.Browser(t)
	s, ours, _ := newClassroom(t)
	var stolen atomic.Int32
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("/stolen", func(http.ResponseWriter, *http.Request) { stolen.Add(1) })
	school := httptest.NewServer(mux)
	t.Cleanup(school.Close)
	const steal = `<script>var x = new XMLHttpRequest(); x.open("GET", "/stolen", false); x.send()</script>`
	for extension, content := range map[string]string{
		"svg": `<svg xmlns="http://www.w3.org/2000/svg">` + steal + `</svg>`, "html": steal, "pdf": stealingPDF,
	} {
		q := handout
		q.Extension = extension
		made, err := s.attach(t, ours, lyceum.ImageAttachment, base+s.sent(t, q, content))
		if err != nil {
			t.Fatal(err)
		}
		address := strings.TrimPrefix(s.addresses(t, ours, made.ID)["one"], base)
		err = chromedp.Do(tab, chromedp.Navigate(school.URL+address))
		if err != nil && extension == "svg" { // the others are downloaded, which ends the navigation with an error
			t.Error(extension, err)
		}
		if n := stolen.Load(); n > 0 {
			t.Errorf("%s: ran %d times", extension, n)
		}
	}

	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>elsewhere</title>"))
	}))
	t.Cleanup(elsewhere.Close)
	webtest.Do(t, tab, chromedp.Navigate(elsewhere.URL))
	inParts, first := s.slot(t, pattern)
	asForm, second := s.slot(t, pattern)
	got := webtest.Eval[string](t, tab, `(async (parts, form) => {
		const told = [];
		const send = async (address, options) => {
			const r = await fetch(address, options);
			told.push(r.status + " " + r.headers.get("Upload-Offset"));
		};
		const part = (range, body) => ({method: "PUT", headers: {"Content-Range": range, "Content-Type": "application/pdf"}, body});
		await send(parts, part("bytes 0-4/9", "%PDF-"));
		await send(parts, {method: "HEAD"});
		await send(parts, part("bytes 5-8/9", "1234"));
		const fields = new FormData();
		fields.append("note", "a field");
		fields.append("file", new Blob(["%PDF-form"]), "a.pdf");
		await send(form, {method: "POST", body: fields});
		return told.join();
	})("`+school.URL+inParts+`", "`+school.URL+asForm+`")`)
	if want := "308 5,200 5,200 9,200 9"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, permanent := range []string{first, second} {
		s.want(t, "sent by a page", permanent, http.StatusForbidden, "this file needs a link")
	}
}
