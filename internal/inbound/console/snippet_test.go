package console_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// An owner adds HTML to the pages of learners, previews it, and removes it.
func TestSnippet(t *testing.T) {
	p := open(t, site)
	const path = "/admin/settings/page-snippet"
	post := func(do, body string) *httptest.ResponseRecorder {
		return p.send(p.owner, "POST", path, url.Values{"do": {do}, "body": {body}})
	}
	want(t, p.send(p.owner, "GET", emailsPath, nil), 200, `href="`+path+`"`)
	want(t, p.send(p.owner, "GET", path, nil), 200, "Snippet for learners’ pages", "{{ user.id }}", "\n</textarea>")

	want(t, post("preview", "<b>{{ user.name | escape }}</b>\r\n{{ user.id }}"), 200, "&lt;b&gt;Ana Silva&lt;/b&gt;\n11</pre>")
	want(t, p.send(p.owner, "GET", path, nil), 200, "\n</textarea>")
	want(t, post("save", "{{ link }}"), 422, "is not a valid template: line 1: undefined variable", "{{ link }}</textarea>")
	want(t, post("preview", strings.Repeat("x", 32<<10+1)), 422, "a template has at most 32768 bytes; this one has 32769")
	want(t, post("preview", "{% for i in (1..9999) %}"+strings.Repeat("x", 1000)+"{% endfor %}"), 422, "the template produces more than 262144 bytes")

	leads(t, post("save", "<b>{{ user.id }}</b>"), path+"?done=changed")
	want(t, p.send(p.owner, "GET", path+"?done=changed", nil), 200, "The changes are saved.", "&lt;b&gt;{{ user.id }}&lt;/b&gt;</textarea>")
	want(t, p.send(p.owner, "GET", "/admin/settings/audit-log", nil), 200, `<a href="`+path+`"><bdi>Snippet for learners’ pages</bdi></a>`)
	leads(t, post("save", ""), path+"?done=changed")
	want(t, p.send(p.owner, "GET", path, nil), 200, "\n</textarea>")
	want(t, p.send(p.learner, "GET", path, nil), 403)
}
