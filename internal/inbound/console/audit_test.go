package console_test

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

const auditLog = "/admin/settings/audit-log"

// note writes journal entries of an actor.
func (p *place) note(actor string, entries ...lyceum.EntryType) {
	p.t.Helper()
	stamp := lyceum.Stamp{School: 1, At: p.clock.Now(), Actor: actor}
	err := p.store.Write(p.t.Context(), stamp, func(tx lyceum.Tx) error {
		for _, e := range entries {
			tx.Note(e, 2)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) newKey(by lyceum.By, name string) {
	p.t.Helper()
	if _, _, err := p.keys.Create(p.t.Context(), by, name, lyceum.Read, access.NewEntropy()); err != nil {
		p.t.Fatal(err)
	}
}

// The audit log says in words who changed what, and can be filtered by kind, actor, number and
// day.
func TestAuditLog(t *testing.T) {
	p := open(t, site)
	owner := lyceum.By{School: 1, Actor: "user:1", Staff: lyceum.OwnerRole, Person: 1}
	p.newKey(owner, "=Books()")
	p.note("api_key:1", lyceum.SaleCreated, lyceum.UserErased)
	p.note("command", lyceum.SchoolUpdated)
	p.clock.Set(p.clock.Now().Add(48 * time.Hour))
	p.session()
	p.note("clock", lyceum.EnrollmentUpdated)
	if _, err := p.options.Staff.Invite(t.Context(), owner, access.Invitation{Email: "bo@example.com", Role: lyceum.BookkeeperRole}); err != nil {
		t.Fatal(err)
	}

	for _, tc := range []struct {
		query    string
		has, not []string
	}{
		{"", []string{"API key created", "=Books()", "owner@example.com In a browser", "Sale created", "Sale 2", "Settings changed The school Command line", "Enrollment changed", "Added to the staff as bookkeeper", "bo@example.com", "Signed in with a password"}, nil},
		{"kind=sign_ins", []string{"Signed in with a password", `aria-current="true">Sign-ins`}, []string{"Sale created", "Settings changed"}},
		{"kind=settings", []string{"Settings changed"}, []string{"Signed in with", "Sale created"}},
		{"kind=keys", []string{"API key created"}, []string{"Signed in with", "Sale created"}},
		{"kind=staff", []string{"Added to the staff as bookkeeper"}, []string{"Sale created"}},
		{"kind=money", []string{"Sale created"}, []string{"Enrollment changed"}},
		{"kind=people", []string{"Person erased", "Enrollment changed"}, []string{"Sale created"}},
		{"actor=api_key:1", []string{"Sale created", "By: API key =Books()"}, []string{"Settings changed The school"}},
		{"actor=user:2", []string{"By: learner@example.com", "Signed in"}, []string{"Sale created"}},
		{"actor=user:1&kind=keys", []string{"API key created"}, []string{"Signed in with"}},
		{"id=2&kind=money", []string{"Sale 2", "Number 2"}, []string{"API key created"}},
		{"from=2026-03-15", []string{"Enrollment changed"}, []string{"Sale created"}},
		{"until=2026-03-14", []string{"Sale created"}, []string{"Enrollment changed"}},
		{"from=2027-01-01", []string{"No changes match this filter"}, nil},
	} {
		w := p.send(p.owner, "GET", auditLog+"?"+tc.query, nil)
		want(t, w, 200, tc.has...)
		page := plain(regexp.MustCompile(`(?s)<select.*?</select>`).ReplaceAllString(w.Body.String(), ""))
		for _, text := range tc.not {
			if strings.Contains(page, text) {
				t.Errorf("%s shows %q: %s", tc.query, text, page)
			}
		}
	}

	leads(t, p.send(p.owner, "GET", auditLog+"?kind=money&find=2", nil), auditLog+"?id=2&kind=money")
	leads(t, p.send(p.owner, "GET", auditLog+"?find=Learner@", nil), auditLog+"?actor=user%3A2")
	want(t, p.send(p.owner, "GET", auditLog+"?find=example.com", nil), 200, "Person: which one?", "learner@example.com")
	for query, sentence := range map[string]string{
		"find=nobody": "Find matches nobody", "kind=x": "Kind of change must be sign_ins, settings, keys, staff, money or people",
		"id=0": "Number must be a whole number from 1", "from=x": "From must be a day", "from=2026-03-02&until=2026-03-01": "must not be before",
		"before=x": "must be the number of a change", "before=-1": "must be the number of a change", "before=3&after=1": "cannot be combined",
		"actor=" + strings.Repeat("x", 65): "By must be one of the choices", "actor=%00": "By must be one of the choices",
		"find=" + strings.Repeat("x", 10_000): "Find matches nobody",
	} {
		want(t, p.send(p.owner, "GET", auditLog+"?"+query, nil), 422, sentence)
	}
}

// Each change is on exactly one of the pages, and exactly once in the file.
func TestAuditLogPages(t *testing.T) {
	p := open(t, site)
	for n := range 60 {
		p.note("import", lyceum.SaleCreated, lyceum.CourseUpdated)
		if n%20 == 0 {
			p.clock.Set(p.clock.Now().Add(time.Hour))
		}
	}
	link := func(body, text string) string {
		found := regexp.MustCompile(`href="([^"]+)"[^>]*>` + text + `<`).FindStringSubmatch(body)
		if found == nil {
			return ""
		}
		return strings.ReplaceAll(found[1], "&amp;", "&")
	}
	var sizes, back []int
	address := auditLog + "?kind=money"
	for address != "" {
		w := p.send(p.owner, "GET", address, nil)
		sizes = append(sizes, strings.Count(w.Body.String(), "Sale created"))
		if next := link(w.Body.String(), "Older"); next != "" {
			address = next
			continue
		}
		for up := link(w.Body.String(), "Newer"); up != ""; up = link(w.Body.String(), "Newer") {
			w = p.send(p.owner, "GET", up, nil)
			back = append(back, strings.Count(w.Body.String(), "Sale created"))
		}
		break
	}
	if !slices.Equal(sizes, []int{50, 10}) || !slices.Equal(back, []int{50}) {
		t.Errorf("pages have %v changes, and %v on the way back", sizes, back)
	}

	w := p.send(p.owner, "GET", auditLog+".csv?kind=money", nil)
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(rows) != 61 || rows[1][2] != "sale.created" || rows[0][0] != "\uFEFFnumber" || rows[1][6] != "Import of a file" {
		t.Fatalf("%d lines, %v: %v", len(rows), err, rows[:min(len(rows), 2)])
	}
	leads(t, p.send(p.owner, "GET", auditLog+".csv?"+url.Values{"kind": {"x"}}.Encode(), nil), auditLog+"?kind=x")
}

// A name that a spreadsheet would run is text in the file.
func TestAuditLogFormula(t *testing.T) {
	p := open(t, site)
	p.newKey(lyceum.By{School: 1, Actor: "user:1"}, "=cmd()")
	w := p.send(p.owner, "GET", auditLog+".csv?kind=keys", nil)
	if rows, err := csv.NewReader(w.Body).ReadAll(); err != nil || len(rows) != 2 || rows[1][5] != "'=cmd()" {
		t.Errorf("%v, %v", rows, err)
	}
}

// Every type of change has its own description, noun and verb.
func TestAuditLogWords(t *testing.T) {
	p := open(t, site)
	p.note("test", lyceum.EntryTypes()...)
	w := p.send(p.owner, "GET", auditLog+".csv", nil)
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(rows) < len(lyceum.EntryTypes()) {
		t.Fatalf("%d lines, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		if row[3] == "" || row[5] == "" || strings.ContainsAny(row[3]+row[5], "_.") && !strings.Contains(row[5], "@") {
			t.Errorf("%s is %q of %q", row[2], row[3], fmt.Sprint(row[5]))
		}
	}
}
