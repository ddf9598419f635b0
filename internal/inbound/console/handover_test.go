package console_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// The file with a user's data has what the school holds about them, and nobody else's data;
// that it was made is recorded.
func TestHandingOverAPersonsData(t *testing.T) {
	p := open(t, site)
	p.market()
	sale, transaction := p.sell(1, 11)
	p.sell(1, 12)
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: transaction, Total: lyceum.Some(lyceum.Minor(500))}))
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.SetTags(11, []string{"vip"})
		return err
	})
	want(t, p.send(p.owner, "POST", people, p.form(people, "email", "ada@example.com")), 200)
	want(t, p.send(p.owner, "GET", people+"/11", nil), 200, "Download their data")
	w := p.send(p.owner, "POST", people+"/11/data", url.Values{})
	if w.Code != 200 || w.Header().Get("Content-Disposition") != `attachment; filename="person-11.zip"` {
		t.Fatal(w.Code, w.Header())
	}
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	data := map[string][]map[string]any{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, not := range []string{"grace@", "owner@", "$argon", "lyceum_link"} {
			if strings.Contains(string(text), not) {
				t.Errorf("%s has %s: %s", f.Name, not, text)
			}
		}
		if name, is := strings.CutSuffix(f.Name, ".json"); is {
			var rows []map[string]any
			if err := json.Unmarshal(text, &rows); err != nil {
				t.Fatalf("%s: %v in %s", f.Name, err, text)
			}
			data[name] = rows
		}
	}
	for name, n := range map[string]int{"profile": 1, "sales": 1, "transactions": 1, "refunds": 1, "enrollments": 1, "access": 1, "progress": 1, "tags": 1, "links": 1} {
		if len(data[name]) != n {
			t.Errorf("%s has %v, want %d", name, data[name], n)
		}
	}
	profile := data["profile"][0]
	if profile["email"] != "ada@example.com" || profile["name"] != "Ada Lovelace" || profile["created_at"] != "2026-03-14T09:26:53Z" {
		t.Errorf("the profile is %v", profile)
	}
	if got := data["sales"][0]["sale_id"]; got != float64(sale) {
		t.Errorf("the sale is %v", got)
	}
	last := data["journal"][len(data["journal"])-1]
	if last["type"] != string(lyceum.DataHandedOver) || last["actor"] != "user:1" {
		t.Errorf("the journal ends with %v", last)
	}
	want(t, p.send(p.owner, "POST", people+"/99/data", url.Values{}), 404)
	p.stale = true
	p.clock.Pass(access.FreshFor)
	leads(t, p.send(p.owner, "POST", people+"/11/data", url.Values{}), "/secure/1/identity/confirm?next=%2Fadmin%2Fpeople%2F11%3Fdone%3Dunconfirmed")
}
