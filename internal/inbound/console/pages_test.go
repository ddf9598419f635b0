package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// An invalid page number is reported at its field, together with the first page of the same
// list.
func TestPagesThatAreNone(t *testing.T) {
	p := open(t, site)
	p.talk()
	p.sell(1, 11)
	if _, err := p.sales.ChangeSeller(t.Context(), p.by(), sales.SellerChange{Name: lyceum.Some("Northwind")}); err != nil {
		t.Fatal(err)
	}
	p.sell(2, 11)
	p.upload("", "action", "add_tags", "tags", "clay", "who", "list", "list", "ada@example.com")
	const job = "/admin/bulk/1"
	for _, tc := range []struct{ path, shows string }{
		{people + "?q=ada", "Ada Lovelace"},
		{people + "/11/access", "Pottery"},
		{commentsPath + "?status=approved", "Thanks"},
		{receiptsPath + "?user_id=11", "1 receipt"},
		{"/admin/attention", "Nothing needs a look"},
		{"/admin/sales_to_stop", "Nothing to stop"},
		{job + "?result=done", ""},
		{transactions + "?user_id=11", "2 transactions"},
	} {
		for _, page := range []string{"0", "abc", "-1", "2147483648"} {
			at, err := url.Parse(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			query := at.Query()
			query.Set("page", page)
			at.RawQuery = query.Encode()
			w := p.send(p.owner, "GET", at.String(), nil)
			want(t, w, 422, "Page must be a whole number from 1 to 2147483647, or be left empty", tc.shows)
		}
	}
	want(t, p.send(p.owner, "GET", people+"?q=ada&page=abc", nil), 422, `value="ada"`, `value="abc"`, `id="page-error"`)
	want(t, p.send(p.owner, "GET", receiptsPath+"?user_id=x", nil), 422, "The buyer must be a whole number from 1 to 2147483647")
}

// A page that only shows something does not say of a wrong filter that nothing was changed.
func TestWrongFilterSaysNothingOfChanges(t *testing.T) {
	p := open(t, site)
	p.talk()
	p.upload("", "action", "add_tags", "tags", "clay", "who", "list", "list", "ada@example.com")
	hook, _ := p.hook()
	for _, path := range []string{
		"/admin/search?q=" + strings.Repeat("a", 321), transactions + "?from=x", people + "?q=a", people + "/11/access?page=x",
		commentsPath + "?page=x", receiptsPath + "?page=x", "/admin/attention?page=x", "/admin/sales_to_stop?page=x",
		"/admin/bulk/1?page=x", hook + "?state=lost", auditLog + "?from=x", requests + "?request_id=%21", "/admin/reports/sales?by=hour",
	} {
		w := p.send(p.owner, "GET", path, nil)
		want(t, w, 422, "1 field needs correction to show what you asked for.")
		if strings.Contains(w.Body.String(), "Nothing was changed") {
			t.Errorf("%s speaks of changes", path)
		}
	}
	want(t, p.send(p.owner, "POST", keysPath, url.Values{"name": {"x"}}), 422, "1 field needs correction. Nothing was changed.")
}
