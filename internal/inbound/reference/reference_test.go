package reference_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/reference"
)

// small is a document with a request body, a path parameter, a long path, a bearer token, a list
// in prose, and a response without a body.
var small = contract.Document{Name: "small", YAML: []byte("openapi: 3.0.3\n"), JSON: []byte(`{
  "openapi": "3.0.3",
  "info": {"title": "Small API", "version": "2.0.0", "description": "Two things:\n\n- one <b>\n- two ` + "`code`" + `\n"},
  "tags": [{"name": "Notes"}],
  "paths": {
    "/notes/{note_id}/a_path_that_is_wider_than_a_phone": {
      "parameters": [{"name": "note_id", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 1, "maximum": 9}, "example": 4}],
      "patch": {
        "operationId": "updateNote", "tags": ["Notes"], "summary": "Update a note",
        "security": [{"bearer": []}],
        "requestBody": {"content": {"application/json": {
          "schema": {"type": "object", "properties": {"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}},
          "example": {"text": "it's", "tags": []}}}},
        "responses": {"204": {"description": "Done."}}
      }
    }
  },
  "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "From the token endpoint."}}}
}`)}

func handler(t *testing.T, documents ...contract.Document) http.Handler {
	t.Helper()
	h, err := reference.Handler(reference.Options{Documents: documents})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// send sends a request to the server, as example.com unless a header says otherwise.
func send(h http.Handler, method, path, etag string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestResponses(t *testing.T) {
	one := handler(t, contract.V1())
	several := handler(t, contract.V1(), small)
	for _, tc := range []struct {
		name         string
		handler      http.Handler
		method, path string
		status       int
		contentType  string
		contains     string
	}{
		{"the only document's page", one, "GET", "/docs", 200, "text/html; charset=utf-8", "<h1>Lyceum v1 API</h1>"},
		{"the same under its name", one, "GET", "/docs/v1", 200, "text/html; charset=utf-8", "<h1>Lyceum v1 API</h1>"},
		{"the list of several", several, "GET", "/docs", 200, "text/html; charset=utf-8", `<a href="/docs/small">Small API</a>`},
		{"one of several", several, "GET", "/docs/small", 200, "text/html; charset=utf-8", "<h1>Small API</h1>"},
		{"a group of operations", one, "GET", "/docs/v1/transactions", 200, "text/html; charset=utf-8", "<h1>Transactions</h1>"},
		{"no such group", one, "GET", "/docs/v1/frogs", 404, "text/html; charset=utf-8", `at the <a href="/docs">first page</a>`},
		{"no such page", several, "GET", "/docs/nope", 404, "text/html; charset=utf-8", "<h1>Page not found</h1>"},
		{"no such page for others", one, "POST", "/docs/nope", 405, "text/plain; charset=utf-8", ""},
		{"script", one, "GET", "/docs/copy.js", 200, "text/javascript; charset=utf-8", "clipboard"},
		{"style", one, "GET", "/docs/style.css", 200, "text/css; charset=utf-8", "prefers-color-scheme"},
		{"YAML", one, "GET", "/openapi/v1.yaml", 200, "application/yaml", "openapi: 3.0.3"},
		{"JSON", one, "GET", "/openapi/v1.json", 200, "application/json", `"openapi": "3.0.3"`},
		{"head", one, "HEAD", "/docs", 200, "text/html; charset=utf-8", ""},
		{"a slash too many", one, "GET", "/docs/", 301, "text/html; charset=utf-8", `href="/docs"`},
		{"no such document", one, "GET", "/docs/v9", 404, "text/html; charset=utf-8", "<title>Page not found"},
		{"no such form", one, "GET", "/openapi/v1.xml", 404, "text/plain; charset=utf-8", ""},
		{"another method", one, "POST", "/docs", 405, "text/plain; charset=utf-8", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := send(tc.handler, tc.method, tc.path, "")
			if got.Code != tc.status {
				t.Errorf("status %d, want %d", got.Code, tc.status)
			}
			if ct := got.Header().Get("Content-Type"); ct != tc.contentType {
				t.Errorf("content type %q, want %q", ct, tc.contentType)
			}
			if !strings.Contains(got.Body.String(), tc.contains) {
				t.Errorf("no %q in\n%s", tc.contains, got.Body)
			}
		})
	}
}

func TestHeadersOfEveryFile(t *testing.T) {
	h := handler(t, contract.V1())
	for _, path := range []string{"/docs", "/docs/v1/courses", "/docs/style.css", "/docs/copy.js", "/openapi/v1.yaml", "/openapi/v1.json"} {
		t.Run(path, func(t *testing.T) {
			first := send(h, "GET", path, "")
			for name, want := range map[string]string{
				"Cache-Control":          "no-cache",
				"X-Content-Type-Options": "nosniff",
				"Vary":                   "Accept-Encoding",
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
					"base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
			} {
				if got := first.Header().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			etag := first.Header().Get("ETag")
			if again := send(h, "GET", path, etag); etag == "" || again.Code != http.StatusNotModified || again.Body.Len() != 0 {
				t.Errorf("with its ETag %q the answer is %d with %d bytes, want 304 without", etag, again.Code, again.Body.Len())
			}
		})
	}
}

// TestDocumentsNameTheirServer checks that a document is served unchanged except for the address
// of the server, which is absolute because generators append paths to it.
func TestDocumentsNameTheirServer(t *testing.T) {
	h := handler(t, contract.All()...)
	set, err := reference.Handler(reference.Options{Documents: contract.All(), BaseURL: "https://school.example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		handler http.Handler
		headers []string
		want    string
	}{
		{"as it is asked", h, nil, "http://example.com"},
		{"by another name", h, []string{"Host: 127.0.0.1:8080"}, "http://127.0.0.1:8080"},
		{"by IPv6", h, []string{"Host: [::1]:8080"}, "http://[::1]:8080"},
		{"what is no host", h, []string{"Host: $(id)"}, "http://127.0.0.1:8080"},
		{"markup", h, []string{"Host: a\"><b"}, "http://127.0.0.1:8080"},
		{"a header that says otherwise", h, []string{"X-Forwarded-Host: evil.example.com"}, "http://example.com"},
		{"with an address of its own", set, []string{"Host: 127.0.0.1:8080"}, "https://school.example.com"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, d := range contract.All() {
				text := bytes.Replace(d.YAML, []byte("- url: /\n"), []byte("- url: "+tc.want+"\n"), 1)
				if got := send(tc.handler, "GET", "/openapi/"+d.Name+".yaml", "", tc.headers...); bytes.Equal(text, d.YAML) || !bytes.Equal(got.Body.Bytes(), text) {
					t.Errorf("%s.yaml differs", d.Name)
				}
				text = bytes.Replace(d.JSON, []byte(`"url": "/"`), []byte(`"url": "`+tc.want+`"`), 1)
				if got := send(tc.handler, "GET", "/openapi/"+d.Name+".json", "", tc.headers...); bytes.Equal(text, d.JSON) || !bytes.Equal(got.Body.Bytes(), text) {
					t.Errorf("%s.json differs", d.Name)
				}
			}
			if got := plain(send(tc.handler, "GET", "/docs/v1/users", "", tc.headers...).Body.String()); !strings.Contains(got, `"`+tc.want+"/v1/users") {
				t.Error("samples have another address")
			}
		})
	}
}

// TestResponsesAreCompressed checks that a response in gzip is the same text, in at most a third of
// the bytes, with its own ETag.
func TestResponsesAreCompressed(t *testing.T) {
	h := handler(t, contract.All()...)
	for _, path := range []string{"/docs/v1", "/docs/v1/courses", "/docs/lyceum/sales", "/openapi/v1.yaml", "/openapi/lyceum.json", "/docs/search?q=user_id"} {
		plain, zipped := send(h, "GET", path, ""), send(h, "GET", path, "", "Accept-Encoding: br, gzip")
		if zipped.Header().Get("Content-Encoding") != "gzip" || plain.Header().Get("Content-Encoding") != "" || zipped.Body.Len() > plain.Body.Len()/3 {
			t.Errorf("%s takes %d bytes of %d", path, zipped.Body.Len(), plain.Body.Len())
		}
		if one, two := plain.Header().Get("ETag"), zipped.Header().Get("ETag"); one != "" && one == two {
			t.Errorf("%s has one tag %s for two forms", path, one)
		}
		again := send(h, "GET", path, zipped.Header().Get("ETag"), "Accept-Encoding: gzip")
		if zipped.Header().Get("ETag") != "" && again.Code != http.StatusNotModified {
			t.Errorf("%s is sent again: %d", path, again.Code)
		}
		r, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || !bytes.Equal(text, plain.Body.Bytes()) {
			t.Errorf("%s is another text in gzip: %v", path, err)
		}
	}
}

// TestKeyStandsInSamplesOfASandboxAlone checks that only the samples of a sandbox have a key. A
// server without one has a variable there, and nothing with the prefix of keys.
func TestKeyStandsInSamplesOfASandboxAlone(t *testing.T) {
	sandbox, err := reference.Handler(reference.Options{Documents: contract.All(), Key: "lyceum_key_1_sample"})
	if err != nil {
		t.Fatal(err)
	}
	serve := handler(t, contract.All()...)
	for _, path := range []string{"/docs/v1", "/docs/v1/courses", "/docs/lyceum/sales", "/docs/v2/courses"} {
		with, without := plain(send(sandbox, "GET", path, "").Body.String()), plain(send(serve, "GET", path, "").Body.String())
		if strings.Contains(path[1:], "/v1/") && (!strings.Contains(with, `--header "apiKey: lyceum_key_1_sample"`) || strings.Contains(with, "$API_KEY")) {
			t.Errorf("%s of a sandbox has no key", path)
		}
		if names := "They name objects that a new sandbox has."; path == "/docs/v1" && (!strings.Contains(with, names) || strings.Contains(without, names)) {
			t.Errorf("%s says of the samples of a server what is so in a sandbox, or does not say it there", path)
		}
		if strings.Contains(without, "lyceum_key_") || strings.Contains(path[1:], "/v1/") && !strings.Contains(without, `--header "apiKey: $API_KEY"`) {
			t.Errorf("%s of a server has a key, or no variable for it", path)
		}
	}
}

func TestSearch(t *testing.T) {
	h := handler(t, contract.All()...)
	for _, tc := range []struct {
		query, first, says string
	}{
		{"is_fully_refunded", "/docs/v1/transactions#ListTransactions", "6 operations found"},
		{"was_charged_back", "/docs/v2/transactions#listTransactions", "1 operation found"},
		{"show LECTURE", "/docs/v1/lectures#ShowLecture", "operations found"},
		{"/v1/enroll", "/docs/v1/enrollments#EnrollUser", ""},
		{"refund create", "/docs/lyceum/sales#createRefund", ""},
		{"id", "", ", showing the best 50"},
		{"frogs", "", "Nothing found."},
		{"", "", "Type part of a path"},
		{"   ", "", "Type part of a path"},
		{`"><script>alert(1)</script>`, "", "Nothing found."},
		{"\xff\x00", "", "Nothing found."},
		{strings.Repeat("ä", 5000), "", "Nothing found."},
	} {
		w := send(h, "GET", "/docs/search?q="+url.QueryEscape(tc.query), "")
		text := w.Body.String()
		found := submatches(regexp.MustCompile(`<h2><a href="([^"]*)"`), text)
		if w.Code != http.StatusOK || tc.first != "" && (len(found) == 0 || found[0] != tc.first) || !strings.Contains(text, tc.says) || strings.Contains(text, "<script") || len(text) > 100_000 {
			t.Errorf("%.40q is answered with %d, %v and %d bytes", tc.query, w.Code, found, len(text))
		}
		for _, link := range found {
			page, fragment, _ := strings.Cut(link, "#")
			if !slices.Contains(submatches(ids, send(h, "GET", page, "").Body.String()), fragment) {
				t.Errorf("%s leads nowhere", link)
			}
		}
	}
}

func TestPageShowsTheOperation(t *testing.T) {
	text := send(handler(t, contract.V1()), "GET", "/docs/v1/transactions", "").Body.String()
	var wanted []string
	for _, name := range []string{ // contract/v1.yaml
		"user_id", "affiliate_id", "course_id", "pricing_plan_id", "is_fully_refunded", "is_chargeback",
		"start", "end", "page", "per", "sort_direction",
		"sale_id", "created_at", "purchased_at", "charge", "final_price", "currency", "tax_charge", "revenue",
		"status", "has_chargeback", "chargeback_fee", "affiliate_fees", "author_id", "author_fees", "coupon_id",
		"refunded_at", "amount_refunded",
		"total", "from", "to", "per_page", "number_of_pages",
		"ETag", "X-Request-Id", "RateLimit-Limit", "X-RateLimit-Remaining-Minute", "Retry-After",
	} {
		wanted = append(wanted, "<code>"+name+"</code>")
	}
	for _, status := range []string{"304", "400", "401", "403", "404", "405", "429", "500", "503"} {
		wanted = append(wanted, `">`+status+"</span>")
	}
	wanted = append(wanted,
		"List transactions", "<code>/v1/transactions</code>", "<code>apiKey</code>",
		"at least 1", "default 20", "one of asc, desc", "200 OK",
		"No API key found in request", "Invalid authentication credentials", "API rate limit exceeded",
		"no Route matched with those values")
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	// The nullable fields are status, has_chargeback, chargeback_fee, affiliate_id, author_id,
	// coupon_id and refunded_at.
	if got, want := strings.Count(text, `<span class="chip">yes</span>`), 7; got != want {
		t.Errorf("%d fields are shown as nullable, want %d", got, want)
	}
}

// TestEveryOperationHasItsPlace checks that every operation is on exactly one page, that of its
// group, and that the overview links to it.
func TestEveryOperationHasItsPlace(t *testing.T) {
	h := handler(t, contract.All()...)
	for _, d := range contract.All() {
		overview := send(h, "GET", "/docs/"+d.Name, "").Body.String()
		operations := submatches(regexp.MustCompile(`(?m)^      operationId: (\S+)$`), string(d.YAML))
		places := map[string]int{}
		for _, page := range submatches(regexp.MustCompile(`<h3><a href="([^"]*)"`), overview) {
			text := send(h, "GET", page, "").Body.String()
			for _, id := range operations {
				if strings.Contains(text, `<h2 id="`+id+`"`) && strings.Contains(overview, `href="`+page+"#"+id+`"`) {
					places[id]++
				}
			}
		}
		for _, id := range operations {
			if places[id] != 1 {
				t.Errorf("%s of %s stands on %d pages", id, d.Name, places[id])
			}
		}
		if len(operations) == 0 {
			t.Errorf("%s has no operations", d.Name)
		}
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// plain returns the visible text of a page.
func plain(page string) string {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&#43;", "+", "&lt;", "<", "&gt;", ">", "&amp;", "&").
		Replace(tags.ReplaceAllString(page, ""))
}

func TestSamples(t *testing.T) {
	h := handler(t, contract.V1(), contract.Lyceum(), small)
	for _, tc := range []struct{ path, sample string }{
		{"/docs/lyceum/sandbox", `/lyceum/v1/clock" \
  --header "apiKey: $API_KEY" \
  --json '{"advance": "31d"}'`}, // the first of several examples
		{"/docs/v1", "Credentials explains where to get them:"},
		{"/docs/v1", "API_KEY='…'"},
		{"/docs/v1/transactions", `curl --get "http://example.com/v1/transactions" \
  --header "apiKey: $API_KEY" \
  --data-urlencode "start=2023-12-31T23:59:59Z" \
  --data-urlencode "per=2"`},
		{"/docs/v1/transactions", `"number_of_pages": 642
  }
}`},
		{"/docs/small/notes", `curl --request PATCH "http://example.com/notes/4/a_path_that_is_wider_than_a_phone" \
  --header "Authorization: bearer $ACCESS_TOKEN" \
  --json '{"text": "it'\''s", "tags": []}'`},
	} {
		if got := plain(send(h, "GET", tc.path, "").Body.String()); !strings.Contains(got, tc.sample) {
			t.Errorf("%s has no\n%s", tc.path, tc.sample)
		}
	}
}

func TestPageShowsWhatV1DoesNotHave(t *testing.T) {
	h := handler(t, small)
	text := send(h, "GET", "/docs", "").Body.String() + send(h, "GET", "/docs/small/notes", "").Body.String()
	for _, want := range []string{
		"<ul><li>one &lt;b&gt;</li><li>two <code>code</code></li></ul>",
		"Path parameters", "from 1 to 9", "required",
		"Body", "array of string", "may be absent",
		"204 No Content", "Access token",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

var (
	links    = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids      = regexp.MustCompile(` id="([^"]*)"`)
	headings = regexp.MustCompile(`<h([1-6])`)
)

func submatches(pattern *regexp.Regexp, text string) []string {
	var all []string
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

func TestPagesAreSound(t *testing.T) {
	h := handler(t, contract.V1(), small)
	for _, path := range []string{"/docs", "/docs/v1", "/docs/v1/courses", "/docs/v1/oauth", "/docs/small", "/docs/small/notes", "/docs/search?q=note"} {
		t.Run(path, func(t *testing.T) {
			text := send(h, "GET", path, "").Body.String()
			found := submatches(ids, text)
			slices.Sort(found)
			if distinct := slices.Compact(slices.Clone(found)); len(distinct) != len(found) {
				t.Errorf("an id stands twice among %v", found)
			}
			for _, link := range submatches(links, text) {
				checkLink(t, h, link, found)
			}
			level := "0"
			for _, heading := range submatches(headings, text) {
				if heading[0] > level[0]+1 {
					t.Errorf("an h%s follows an h%s", heading, level)
				}
				level = heading
			}
			if own := strings.ReplaceAll(text, `<script src="/docs/copy.js"></script>`, ""); strings.Contains(own, "<script") || strings.Contains(text, "style=") {
				t.Error("the page has a script or a style of its own, which its policy forbids")
			}
		})
	}
}

// checkLink checks that a link points to something on this server or on this page.
func checkLink(t *testing.T, h http.Handler, link string, ids []string) {
	t.Helper()
	u, err := url.Parse(link)
	switch {
	case err != nil:
		t.Errorf("%s: %v", link, err)
	case u.Scheme == "data":
	case u.Scheme != "" || u.Host != "":
		t.Errorf("%s leads to another host", link)
	case u.Path == "":
		if !slices.Contains(ids, u.Fragment) {
			t.Errorf("%s leads nowhere", link)
		}
	default:
		if got := send(h, "GET", u.Path, ""); got.Code != http.StatusOK {
			t.Errorf("%s is answered with %d", link, got.Code)
		}
	}
}

// TestWrongDocuments checks that nothing is served of wrong documents, and that the log says why.
func TestWrongDocuments(t *testing.T) {
	document := func(text string) contract.Document {
		return contract.Document{Name: "d", JSON: []byte(text)}
	}
	for _, tc := range []struct {
		name, mention string
		documents     []contract.Document
	}{
		{"the same name twice", "twice", []contract.Document{small, small}},
		{"the name of the search", "twice", []contract.Document{{Name: "search", JSON: small.JSON}}},
		{"the name of the style sheet", "twice", []contract.Document{{Name: "style.css", JSON: small.JSON}}},
		{"no JSON", "EOF", []contract.Document{document(`{"info": {`)}},
		{"two values", "one JSON value", []contract.Document{document(`{} {}`)}},
		{"no OpenAPI", "no title", []contract.Document{document(`{"hello": "world"}`)}},
		{"a reference to nothing", "#/nowhere", []contract.Document{
			document(`{"info": {"title": "T"}, "paths": {"/": {"$ref": "#/nowhere"}}}`),
		}},
		{"a reference to another document", "other.json", []contract.Document{
			document(`{"info": {"title": "T"}, "paths": {"/": {"$ref": "other.json#/a"}}}`),
		}},
		{"an operation without a listed tag", "tag", []contract.Document{
			document(`{"info": {"title": "T"}, "paths": {"/": {"get": {"tags": ["x"]}}}}`),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log bytes.Buffer
			h, err := reference.Handler(reference.Options{Documents: tc.documents, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/docs", "/docs/search?q=x", "/openapi/d.json"} {
				log.Reset()
				if got := send(h, "GET", path, ""); got.Code != http.StatusInternalServerError || !strings.Contains(log.String(), tc.mention) {
					t.Errorf("%s is answered with %d and the log is %q, want 500 and one that mentions %q", path, got.Code, &log, tc.mention)
				}
			}
		})
	}
}
