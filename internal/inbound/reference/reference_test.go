package reference_test

import (
	"bytes"
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

// small is a document that has what v1 does not have yet: a body, a parameter
// of the path, a long path, a bearer token, a list in prose, an answer without
// a body.
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
	h, err := reference.Handler(documents)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(h http.Handler, method, path, etag string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
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
		{"style", one, "GET", "/docs/style.css", 200, "text/css; charset=utf-8", "prefers-color-scheme"},
		{"YAML", one, "GET", "/openapi/v1.yaml", 200, "application/yaml", "openapi: 3.0.3"},
		{"JSON", one, "GET", "/openapi/v1.json", 200, "application/json", `"openapi": "3.0.3"`},
		{"head", one, "HEAD", "/docs", 200, "text/html; charset=utf-8", ""},
		{"a slash too many", one, "GET", "/docs/", 301, "text/html; charset=utf-8", `href="/docs"`},
		{"no such document", one, "GET", "/docs/v9", 404, "text/plain; charset=utf-8", ""},
		{"no such form", one, "GET", "/openapi/v1.xml", 404, "text/plain; charset=utf-8", ""},
		{"another method", one, "POST", "/docs", 405, "text/plain; charset=utf-8", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ask(tc.handler, tc.method, tc.path, "")
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
	for _, path := range []string{"/docs", "/docs/style.css", "/openapi/v1.yaml", "/openapi/v1.json"} {
		t.Run(path, func(t *testing.T) {
			first := ask(h, "GET", path, "")
			for name, want := range map[string]string{
				"Cache-Control":          "no-cache",
				"X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; " +
					"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			} {
				if got := first.Header().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			etag := first.Header().Get("ETag")
			if again := ask(h, "GET", path, etag); etag == "" || again.Code != http.StatusNotModified || again.Body.Len() != 0 {
				t.Errorf("with its ETag %q the answer is %d with %d bytes, want 304 without", etag, again.Code, again.Body.Len())
			}
		})
	}
}

func TestDocumentsAreServedAsTheyAre(t *testing.T) {
	h := handler(t, contract.All()...)
	for _, d := range contract.All() {
		if got := ask(h, "GET", "/openapi/"+d.Name+".yaml", ""); !bytes.Equal(got.Body.Bytes(), d.YAML) {
			t.Errorf("%s.yaml differs", d.Name)
		}
		if got := ask(h, "GET", "/openapi/"+d.Name+".json", ""); !bytes.Equal(got.Body.Bytes(), d.JSON) {
			t.Errorf("%s.json differs", d.Name)
		}
	}
}

func TestPageShowsTheOperation(t *testing.T) {
	text := ask(handler(t, contract.V1()), "GET", "/docs/v1", "").Body.String()
	var wanted []string
	for _, name := range []string{ // contract.md, and our sort_direction
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
	if got, want := strings.Count(text, `<span class="chip">yes</span>`), 93; got != want {
		t.Errorf("%d fields are shown as nullable, want %d", got, want)
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// plain gives the text of a page as a person sees it.
func plain(page string) string {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&#43;", "+", "&lt;", "<", "&gt;", ">", "&amp;", "&").
		Replace(tags.ReplaceAllString(page, ""))
}

func TestSamples(t *testing.T) {
	h := handler(t, contract.V1(), small)
	for _, tc := range []struct{ path, sample string }{
		{"/docs/v1", "BASE_URL=http://127.0.0.1:8080\nAPI_KEY='…'"},
		{"/docs/v1", `curl --get "$BASE_URL/v1/transactions" \
  --header "apiKey: $API_KEY" \
  --data-urlencode "start=2023-12-31T23:59:59Z" \
  --data-urlencode "per=2"`},
		{"/docs/v1", `"number_of_pages": 642
  }
}`},
		{"/docs/small", `curl --request PATCH "$BASE_URL/notes/4/a_path_that_is_wider_than_a_phone" \
  --header "Authorization: bearer $ACCESS_TOKEN" \
  --json '{"text": "it'\''s", "tags": []}'`},
	} {
		if got := plain(ask(h, "GET", tc.path, "").Body.String()); !strings.Contains(got, tc.sample) {
			t.Errorf("%s has no\n%s", tc.path, tc.sample)
		}
	}
}

func TestPageShowsWhatV1DoesNotHave(t *testing.T) {
	text := ask(handler(t, small), "GET", "/docs", "").Body.String()
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
	for _, path := range []string{"/docs", "/docs/v1", "/docs/small"} {
		t.Run(path, func(t *testing.T) {
			text := ask(h, "GET", path, "").Body.String()
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
			if strings.Contains(text, "<script") || strings.Contains(text, "style=") {
				t.Error("the page has a script or a style of its own, which its policy forbids")
			}
		})
	}
}

// checkLink wants a link to lead to something on this server or on this page.
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
		if got := ask(h, "GET", u.Path, ""); got.Code != http.StatusOK {
			t.Errorf("%s is answered with %d", link, got.Code)
		}
	}
}

func TestHandlerRefusesDocuments(t *testing.T) {
	document := func(text string) contract.Document {
		return contract.Document{Name: "d", JSON: []byte(text)}
	}
	for _, tc := range []struct {
		name, mention string
		documents     []contract.Document
	}{
		{"the same name twice", "twice", []contract.Document{small, small}},
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
			_, err := reference.Handler(tc.documents)
			if err == nil || !strings.Contains(err.Error(), tc.mention) {
				t.Errorf("error is %v, want one that mentions %q", err, tc.mention)
			}
		})
	}
}
