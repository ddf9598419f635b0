package console_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

const bulkPath = "/admin/bulk"

// work processes the pending bulk changes.
func (p *place) work() {
	p.t.Helper()
	for more := true; more; {
		var err error
		if more, err = p.bulk.Continue(p.t.Context(), 1); err != nil {
			p.t.Fatal(err)
		}
	}
}

// upload submits the form of a bulk change with a file.
func (p *place) upload(file string, pairs ...string) *httptest.ResponseRecorder {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(pairs); i += 2 {
		_ = form.WriteField(pairs[i], pairs[i+1])
	}
	if file != "" {
		part, err := form.CreateFormFile("file", "people.csv")
		if err != nil {
			p.t.Fatal(err)
		}
		_, _ = part.Write([]byte(file))
	}
	_ = form.Close()
	r := httptest.NewRequest(http.MethodPost, bulkPath, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.AddCookie(&http.Cookie{Name: "lyceum", Value: p.owner})
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	checkHeaders(p.t, "upload", w)
	return w
}

// An owner uploads a file, sees what would happen, starts the change and sees what happened.
func TestBulkChange(t *testing.T) {
	p := open(t, site)
	p.bundled()
	want(t, p.send(p.owner, "GET", bulkPath, nil), 200, "Show what would happen", "CSV with a column email or user_id")
	p.sell(1, 12)
	file := "\ufeffName;Email\nAda;ADA@example.com\nGrace;grace@example.com\nNobody;nobody@example.com\n;\nAda again;ada@example.com\n"
	before := p.state()
	leads(t, p.upload(file, "action", "enroll", "who", "file", "product_type", "course", "product", "Pottery"), bulkPath+"/1")
	p.untouched(before)
	want(t, p.send(p.owner, "GET", bulkPath+"/1", nil), 200, "Enroll: Pottery", "Not started", "What would happen", "Nothing has been changed yet.",
		"ada@example.com", "Will be done", "the user has access already", "Will fail", "no user of this school has this email address", "names nobody", "the same user is in line 2", "Line", "Will gain access", "1 person",
		"Deleted unless started by</dt><dd><time datetime=\""+p.clock.Now().Add(24*time.Hour).Format(time.RFC3339))
	want(t, p.send(p.owner, "GET", bulkPath+"/1?result=failed", nil), 200, "2 people", "nobody@example.com")
	want(t, p.send(p.owner, "GET", bulkPath, nil), 200, "Recent bulk changes", "Enroll: Pottery", "Not started")
	if got := lineCells.FindAllStringSubmatch(p.send(p.owner, "GET", bulkPath+"/1", nil).Body.String(), -1); len(got) != 5 || got[0][1] != "2" || got[4][1] != "6" {
		t.Errorf("lines %v", got)
	}
	leads(t, p.send(p.owner, "POST", bulkPath+"/1/start", url.Values{}), bulkPath+"/1")
	leads(t, p.send(p.owner, "POST", bulkPath+"/1/start", url.Values{}), bulkPath+"/1")
	want(t, p.send(p.owner, "GET", bulkPath+"/1", nil), 200, "Running", "0 of 5", "Stop")
	p.work()
	want(t, p.send(p.owner, "GET", bulkPath+"/1", nil), 200, "Finished", "What happened", "5 of 5", "Done", "Nothing to do", "Failed")
	want(t, p.send(p.owner, "GET", accessPath(11), nil), 200, "Given by hand", "Has access")
	leads(t, p.send(p.owner, "POST", bulkPath+"/1/cancel", url.Values{}), bulkPath+"/1")

	leads(t, p.send(p.owner, "POST", bulkPath, url.Values{"action": {"add_tags"}, "tags": {"vip, spring"}, "who": {"list"}, "list": {"11\n12\n"}}), bulkPath+"/2")
	want(t, p.send(p.owner, "GET", bulkPath+"/2", nil), 200, "Add tags: vip, spring", "grace@example.com")
	leads(t, p.send(p.owner, "POST", bulkPath+"/2/start", url.Values{}), bulkPath+"/2")
	p.work()
	leads(t, p.send(p.owner, "POST", bulkPath, url.Values{"action": {"unenroll"}, "product_type": {"course"}, "product": {"1"}, "who": {"filter"}, "with_tag": {"vip"}, "with_product_type": {"course"}, "with_product": {"Pottery"}}), bulkPath+"/3")
	want(t, p.send(p.owner, "GET", bulkPath+"/3", nil), 200, "End access: Pottery", "2 people")
	leads(t, p.send(p.owner, "POST", bulkPath+"/3/cancel", url.Values{}), bulkPath+"/3?done=discarded")
	want(t, p.send(p.owner, "GET", bulkPath+"/3?result=unchanged", nil), 200, "Cancelled", "Nobody here")
	wantNothingAhead(t, p.send(p.owner, "GET", bulkPath+"/3", nil), "What happened", "0 of 2", "Not done")
	want(t, p.send(p.owner, "GET", bulkPath+"/3?result=done", nil), 200, "Nobody here")
	if n := p.actors()["user:1"]; n == 0 {
		t.Error("the journal does not say who did it")
	}
}

// An owner sees which subscriptions end together with access, and why a change failed as a
// whole.
func TestBulkChangeThatEndsSalesOrFails(t *testing.T) {
	p := open(t, site)
	p.bundled()
	sale, _ := p.sell(2, 12)
	leads(t, p.send(p.owner, "POST", bulkPath, url.Values{"action": {"unenroll"}, "product_type": {"course"}, "product": {"1"}, "who": {"list"}, "list": {"12"}}), bulkPath+"/1")
	ends := fmt.Sprintf(`ends <a href="%s">sale %d</a>`, salePath(sale), sale)
	if page := p.send(p.owner, "GET", bulkPath+"/1", nil).Body.String(); !strings.Contains(page, ends) {
		t.Errorf("%s is not on the page: %s", ends, plain(page))
	}
	want(t, p.send(p.owner, "GET", bulkPath+"/1", nil), 200, "Will lose access to something", "Subscriptions and payment plans that will end", "ends access to Pottery")
	leads(t, p.send(p.owner, "POST", bulkPath+"/1/start", url.Values{}), bulkPath+"/1")
	p.work()
	want(t, p.send(p.owner, "GET", bulkPath+"/1", nil), 200, "Subscriptions and payment plans that ended", "stops charging for what ended", fmt.Sprintf("ended sale %d", sale))

	leads(t, p.send(p.owner, "POST", bulkPath, url.Values{"action": {"give_access"}, "product_type": {"course"}, "product": {"1"}, "who": {"list"}, "list": {"11"}}), bulkPath+"/2")
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Entitlements.Save(tx, lyceum.Entitlement{ID: lyceum.MaxID, User: 11, Product: lyceum.CourseID(2).Product(), StartsAt: p.clock.Now()})
		return err
	})
	leads(t, p.send(p.owner, "POST", bulkPath+"/2/start", url.Values{}), bulkPath+"/2")
	if _, err := p.bulk.Continue(t.Context(), 1); err == nil {
		t.Error("nobody hears of it")
	}
	want(t, p.send(p.owner, "GET", bulkPath+"/2", nil), 200, "Failed", "It stopped early: ada@example.com: no entitlement_id is left")
	leads(t, p.send(p.owner, "POST", bulkPath+"/2/cancel", url.Values{}), bulkPath+"/2")
}

// TestBulkChangeStopped checks that the page of a change that was stopped does not announce what
// will no longer be done.
func TestBulkChangeStopped(t *testing.T) {
	p := open(t, site)
	p.bundled()
	sale, _ := p.sell(2, 12)
	leads(t, p.send(p.owner, "POST", bulkPath, url.Values{"action": {"unenroll"}, "product_type": {"course"}, "product": {"1"}, "who": {"list"}, "list": {"12"}}), bulkPath+"/1")
	leads(t, p.send(p.owner, "POST", bulkPath+"/1/start", url.Values{}), bulkPath+"/1")
	leads(t, p.send(p.owner, "POST", bulkPath+"/1/cancel", url.Values{}), bulkPath+"/1?done=discarded")
	w := p.send(p.owner, "GET", bulkPath+"/1", nil)
	wantNothingAhead(t, w, "What happened", "0 of 1", "Not done")
	if strings.Contains(w.Body.String(), salePath(sale)) {
		t.Errorf("the page links to a sale that did not end: %s", plain(w.Body.String()))
	}
}

// wantNothingAhead checks the page of a change that has ended.
func wantNothingAhead(t *testing.T, w *httptest.ResponseRecorder, says ...string) {
	t.Helper()
	want(t, w, 200, says...)
	text := plain(w.Body.String())
	for _, no := range []string{"Will ", "will end", "ends sale", "ends access"} {
		if strings.Contains(text, no) {
			t.Errorf("the page says %q: %s", no, text)
		}
	}
}

func TestBulkChangeRefused(t *testing.T) {
	p := open(t, site)
	p.bundled()
	course := []string{"action", "give_access", "product_type", "course", "product", "1"}
	before := p.state()
	for _, row := range []struct {
		name, file string
		form       []string
		want       string
	}{
		{"nothing", "", nil, "What to do is required; choose what to do"},
		{"no file", "", append(course, "who", "file"), "File is required; choose a file"},
		{"an empty file", " \n", append(course, "who", "file"), "File names nobody"},
		{"a file with a header alone", "email\n", append(course, "who", "file"), "File names nobody"},
		{"no UTF-8", "\xff\xfe\n", append(course, "who", "file"), "File must be UTF-8 text; line 1 is not"},
		{"UTF-16 without a mark", "e\x00m\x00a\x00i\x00l\x00\n\x00a\x00d\x00a\x00\n\x00", append(course, "who", "file"), "File must be UTF-8 text; line 1 is not"},
		{"the number 0", "", append(course, "who", "list", "list", "11\n0"), "List must have only user IDs from 1 to 2147483647; line 2 has “0”"},
		{"numbers and addresses", "11\nada@example.com\n", append(course, "who", "file"), "File must have only user IDs or only email addresses, one per line; line 2 has “ada@example.com”, unlike the first"},
		{"addresses and numbers", "", append(course, "who", "list", "list", "ada@example.com\n12"), "List must have only user IDs or only email addresses, one per line; line 2 has “12”, unlike the first"},
		{"an address in a column of numbers", "name,user_id\nAnn,11\nBob,bob@example.com\n", append(course, "who", "file"), "File must have only user IDs from 1 to 2147483647; line 3 has “bob@example.com”"},
		{"a number that is none", "", append(course, "who", "list", "list", "99999999999"), "List must have only user IDs from 1 to 2147483647; line 1 has “99999999999”"},
		{"an open quote", "name,email\n\"Ann\" Lee,ann@example.com\nBob,bob@example.com\n", append(course, "who", "file"), "File cannot be read as CSV: parse error on line 2"},
		{"two on a line", "", append(course, "who", "list", "list", "ada@example.com, grace@example.com"), "List must have one person per line, or a column named email or user_id; line 1 has 2 cells"},
		{"too many", strings.Repeat("ada@example.com\n", 10_001), append(course, "who", "file"), "must have at most 10000 people"},
		{"an empty list", "", append(course, "who", "list"), "List names nobody"},
		{"an empty filter", "", append(course, "who", "filter"), "Tag must name a tag, a product or both"},
		{"a filter without people", "", append(course, "who", "filter", "with_tag", "vip"), "Tag matches no user"},
		{"a filter with an unknown product", "", append(course, "who", "filter", "with_product_type", "course", "with_product", "x"), "Their product matches nothing"},
		{"no way to say who", "", append(course, "who", "x"), "For whom is required"},
		{"no product", "", []string{"action", "enroll", "who", "list", "list", "11"}, "Product is required"},
		{"an end in the past", "", append(course, "who", "list", "list", "11", "ends_on", "2020-01-01"), "Last day must be in the future"},
		{"no tags", "", []string{"action", "add_tags", "who", "list", "list", "11"}, "Tags is required"},
	} {
		w := p.upload(row.file, row.form...)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(plain(w.Body.String()), row.want) {
			t.Errorf("%s: status %d, want 422 and %q: %s", row.name, w.Code, row.want, plain(w.Body.String()))
		}
	}
	const kept = `value="1"`
	want(t, p.upload(strings.Repeat("a", 2<<20), append(course, "who", "file")...), http.StatusRequestEntityTooLarge, "File is too large, so nothing was changed", kept)
	want(t, p.upload("", append(course, "who", "list", "list", strings.Repeat("a", 2<<20))...), http.StatusRequestEntityTooLarge, "List is too large", kept)
	for _, path := range []string{"/9", "/x", "/9/start", "/9/cancel"} {
		method := "GET"
		if strings.Count(path, "/") > 1 {
			method = "POST"
		}
		want(t, p.send(p.owner, method, bulkPath+path, nil), 404)
	}
	p.untouched(before)
}

// A bulk change with more rows than fit on a page shows one page.
func TestBulkChangeByPages(t *testing.T) {
	p := open(t, site)
	p.bundled()
	var list strings.Builder
	for n := range 250 {
		fmt.Fprintf(&list, "nobody%d@example.com\n", n)
	}
	leads(t, p.upload(list.String(), "action", "enroll", "who", "file", "product_type", "course", "product", "1"), bulkPath+"/1")
	want(t, p.send(p.owner, "GET", bulkPath+"/1", nil), 200, "Being prepared", "50 of 250", "Checking what would happen")
	p.work()
	want(t, p.send(p.owner, "GET", bulkPath+"/1", nil), 200, "Not started", "250 people, page 1 of 3", "nobody99@example.com")
	want(t, p.send(p.owner, "GET", bulkPath+"/1?page=3&result=failed", nil), 200, "page 3 of 3", "nobody249@example.com")
	want(t, p.send(p.owner, "GET", bulkPath+"/1?page=4&result=failed", nil), 200,
		"There is no page 4", "The last page is 3", bulkPath+`/1?page=3&amp;result=failed">To the last page`)
}

// TestPeopleOfAFile checks which users a file names, including files that other programs wrote.
// Each line names a user or is reported as naming nobody.
func TestPeopleOfAFile(t *testing.T) {
	p := open(t, site)
	p.bundled()
	for i, row := range []struct{ name, file, want string }{
		{"one per line", "ada@example.com\n\n  grace@example.com\n", "ada@example.com grace@example.com"},
		{"numbers", "11\n12\n", "ada@example.com grace@example.com"},
		{"lines of Windows", "Email\r\nada@example.com\r\ngrace@example.com\r\n", "ada@example.com grace@example.com"},
		{"tabs", "name\tE-Mail\nAda\tada@example.com\n", "ada@example.com"},
		{"quotes", "name,email\n\"Lovelace, Ada\",ada@example.com\n\"two\nlines\",\"grace@example.com\"\n", "ada@example.com grace@example.com"},
		{"ids of another program", "id,email,name\n11,grace@example.com,Grace\n", "grace@example.com"},
		{"ids of users", "user_id,tags\n12,vip\n", "grace@example.com"},
		{"lines of an old Mac", "email,name\rada@example.com,Ada\rgrace@example.com,Grace\r", "ada@example.com grace@example.com"},
		{"blank lines first", " \n\n11\n12\n", "ada@example.com grace@example.com"},
		{"blank rows before the header", "\n;;\n;name;email\n;Ada;ada@example.com\n", "ada@example.com"},
		{"empty cells", "name,email\nAda,\nGrace\nGrace,grace@example.com\n", "Unknown Unknown grace@example.com"},
	} {
		path := fmt.Sprintf("%s/%d", bulkPath, i+1)
		leads(t, p.upload(row.file, "action", "enroll", "who", "file", "product_type", "course", "product", "1"), path)
		page := p.send(p.owner, "GET", path, nil).Body.String()
		var got []string
		for _, cell := range rowHeads.FindAllStringSubmatch(page, -1) {
			got = append(got, plain(cell[1]))
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

var lineCells = regexp.MustCompile(`data-label="Line">(\d+)<`)

var rowHeads = regexp.MustCompile(`(?s)<th role="rowheader" scope="row">(.*?)</th>`)
