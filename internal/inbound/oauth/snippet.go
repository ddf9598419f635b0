package oauth

import (
	"net/http"
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
)

const (
	snippetPath = "/account/snippet"

	// snippetPolicy allows a snippet to do anything within its frame, but as if it came from
	// another server: it can access neither the page around it nor its cookies. This also
	// applies if the frame is opened as a page.
	snippetPolicy = "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox; " +
		"default-src https: data: 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'"
	snippetBegin = `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
		`<meta name="viewport" content="width=device-width, initial-scale=1"><title>Snippet</title>` +
		`<base target="_blank"></head><body>` + "\n"
	snippetEnd = "\n</body></html>\n"
)

// showSnippet serves GET /account/snippet: what the school adds to learners' pages.
func (p *pages) showSnippet(w http.ResponseWriter, r *http.Request, v *visit) error {
	html, err := p.Emails.SnippetFor(r.Context(), &v.School, &v.User)
	if err != nil {
		return err
	}
	if html == "" {
		return lyceum.Errorf(lyceum.NotFound, "The school adds nothing to its learners’ pages.")
	}
	text := snippetBegin + html + snippetEnd
	header := w.Header()
	web.Protect(header)
	header.Set("Content-Security-Policy", snippetPolicy)
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("Referrer-Policy", "strict-origin")
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write([]byte(text)) // #nosec G705 -- it is HTML that the school wrote, for a frame of its own
	return nil
}

// framed allows a page to contain the frame of the snippet.
func framed(header http.Header) {
	web.Protect(header)
	header.Set("Content-Security-Policy", header.Get("Content-Security-Policy")+"; frame-src 'self'")
}
