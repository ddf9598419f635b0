package main

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Thousands of reports are for a campaign: go test ./cmd/lyceum -run TestReportsAreTheExport
// -reports 1000
var reportCount = flag.Int("reports", 60, "random reports that are compared with the export")

// TestReportsAreTheExport adds up what a sandbox exports, and compares random reports with the
// sums, and one month also with the statements and with what the console shows.
func TestReportsAreTheExport(t *testing.T) {
	t.Parallel()
	for engine, at := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "data") },
		"PostgreSQL": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			place := at(t)
			keep := []string{"--data", place}
			if sqlstore.IsPostgres(place) {
				keep = []string{"--database-url", place}
			}
			_, login := openSandbox(t, keep...)
			s := &shop{addr: strings.TrimPrefix(login.BaseURL, "http://"), key: login.APIKey}
			b := exported(t, keep)
			random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same reports each time
			for range *reportCount {
				b.hold(t, s, b.draw(random))
			}
			b.reconcile(t, s, login)
		})
	}
}

// paid is a paid line of the exported list of sales.
type paid struct {
	line                map[string]string
	at, back            time.Time // when it was recorded, and when it was refunded
	first, again, whole bool      // the buyer's first; of a sale that was paid for before; fully refunded
}

func (p *paid) amount(column string) int64 {
	n, _ := strconv.ParseInt(p.line[column], 10, 64)
	return n
}

// books is what a school exports.
type books struct {
	paid  []*paid // oldest first
	plans map[string]map[string]string
}

func exportedLines(t *testing.T, keep []string, kind string) (lines []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(command(t, append([]string{"export", kind}, keep...)...))).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d lines, %v", kind, len(all), err)
	}
	for _, cells := range all[1:] {
		line := map[string]string{}
		for i, name := range all[0] {
			line[name] = cells[i]
		}
		lines = append(lines, line)
	}
	return lines
}

func exported(t *testing.T, keep []string) *books {
	t.Helper()
	b := &books{plans: map[string]map[string]string{}}
	for _, plan := range exportedLines(t, keep, "pricing-plans") {
		b.plans[plan["id"]] = plan
	}
	moment := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, line := range exportedLines(t, keep, "transactions") {
		if line["status"] != "paid" {
			continue
		}
		p := &paid{line: line, at: moment(line["created_at"])}
		if p.back = p.at; line["refunded_at"] != "" {
			p.back = moment(line["refunded_at"])
		}
		p.whole = p.amount("amount_refunded") > 0 && p.amount("amount_refunded") >= p.amount("final_price")
		b.paid = append(b.paid, p)
	}
	slices.SortFunc(b.paid, func(x, y *paid) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.amount("id"), y.amount("id")))
	})
	buyers, sales := map[string]bool{}, map[string]bool{}
	for _, p := range b.paid {
		buyer, sale := p.line["user_id"], p.line["user_id"]+" "+p.line["sale_id"]
		p.first, p.again = !buyers[buyer], sales[sale]
		buyers[buyer], sales[sale] = true, true
	}
	if len(b.paid) < 1000 {
		t.Fatalf("only %d paid transactions", len(b.paid))
	}
	return b
}

const reportDay = "2006-01-02"

// reportRequest is the request for a report.
type reportRequest struct {
	from, until time.Time // midnight UTC of the days
	by          string
	zone        *time.Location
	filter      map[string]string
}

func (a reportRequest) query() string {
	q := url.Values{"from": {a.from.Format(reportDay)}, "until": {a.until.Format(reportDay)}, "time_zone": {a.zone.String()}}
	if a.by != "" {
		q.Set("by", a.by)
	}
	for name, value := range a.filter {
		q.Set(name, value)
	}
	return q.Encode()
}

var groupings = []string{"", "day", "week", "month", "course", "product", "plan", "author", "affiliate", "coupon", "currency"}

// draw draws a report with any parameters, for any days around those of the sales, in zones
// where clocks change and where days start at other times.
func (b *books) draw(random *rand.Rand) reportRequest {
	zones := []string{"UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "America/Sao_Paulo"}
	zone, err := time.LoadLocation(zones[random.IntN(len(zones))])
	if err != nil {
		panic(err)
	}
	first, last := b.paid[0].at.Truncate(24*time.Hour), b.paid[len(b.paid)-1].at
	a := reportRequest{zone: zone, by: groupings[random.IntN(len(groupings))], filter: map[string]string{}}
	a.from = first.AddDate(0, 0, random.IntN(int(last.Sub(first)/(24*time.Hour))+10)-5)
	a.until = a.from.AddDate(0, 0, []int{0, random.IntN(7), random.IntN(60), random.IntN(1000)}[random.IntN(4)])
	for range random.IntN(3) {
		some := b.paid[random.IntN(len(b.paid))]
		switch random.IntN(6) {
		case 0:
			a.filter["user_id"] = some.line["user_id"]
		case 1:
			a.filter["pricing_plan_id"] = some.line["pricing_plan_id"]
		case 2:
			a.filter["is_chargeback"] = strconv.FormatBool(random.IntN(2) == 0)
		case 3:
			a.filter["is_fully_refunded"] = strconv.FormatBool(random.IntN(2) == 0)
		case 4:
			if id := some.line["affiliate_id"]; id != "" {
				a.filter["affiliate_id"] = id
			}
		case 5:
			if id := b.plans[some.line["pricing_plan_id"]]["course_id"]; id != "" {
				a.filter["course_id"] = id
			}
		}
	}
	return a
}

func (a reportRequest) passes(p *paid, plan map[string]string) bool {
	has := map[string]string{
		"user_id": p.line["user_id"], "pricing_plan_id": p.line["pricing_plan_id"], "affiliate_id": p.line["affiliate_id"],
		"course_id": plan["course_id"], "is_chargeback": strconv.FormatBool(p.line["has_chargeback"] == "true"),
		"is_fully_refunded": strconv.FormatBool(p.whole),
	}
	for name, value := range a.filter {
		if has[name] != value {
			return false
		}
	}
	return true
}

// group returns the group that a payment on a day belongs to.
func (a reportRequest) group(p *paid, plan map[string]string, day time.Time) string {
	id := func(text string) string { return cmp.Or(text, "none") }
	switch a.by {
	case "day":
		return day.Format(reportDay)
	case "week":
		for day.Weekday() != time.Monday && day.After(a.from) {
			day = day.AddDate(0, 0, -1)
		}
		return day.Format(reportDay)
	case "month":
		for day.Day() != 1 && day.After(a.from) {
			day = day.AddDate(0, 0, -1)
		}
		return day.Format(reportDay)
	case "course":
		return id(plan["course_id"])
	case "product":
		if plan["course_id"] != "" {
			return "course " + plan["course_id"]
		}
		return id(strings.TrimSpace(plan["product_type"] + " " + plan["product_id"]))
	case "plan":
		return id(p.line["pricing_plan_id"])
	case "author", "affiliate", "coupon":
		return id(p.line[a.by+"_id"])
	case "currency":
		return p.line["currency"]
	}
	return ""
}

// sums are the expected sums, by group and currency; the group "all" is the whole.
type sums map[[2]string]map[string]int64

func (s sums) add(group string, p *paid, name string, n int64) {
	key := [2]string{group, p.line["currency"]}
	if s[key] == nil {
		s[key] = map[string]int64{}
	}
	s[key][name] += n
}

// sum adds up what the report must say.
func (b *books) sum(a reportRequest) sums {
	s := sums{}
	within := func(at time.Time) (time.Time, bool) {
		y, m, d := at.In(a.zone).Date()
		day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		return day, !day.Before(a.from) && !day.After(a.until)
	}
	one := map[bool]int64{true: 1}
	for _, p := range b.paid {
		plan := b.plans[p.line["pricing_plan_id"]]
		if !a.passes(p, plan) {
			continue
		}
		if day, is := within(p.at); is {
			chargeback := p.line["has_chargeback"] == "true"
			lost := one[chargeback] * (p.amount("final_price") - p.amount("amount_refunded"))
			net := p.amount("final_price") - p.amount("amount_refunded") - lost
			for _, fee := range []string{"chargeback_fee", "affiliate_fees", "author_fees"} {
				net -= p.amount(fee)
			}
			for _, group := range []string{"all", "group " + a.group(p, plan, day)} {
				for name, n := range map[string]int64{
					"sales_count": 1, "renewals_count": one[p.again], "new_buyers_count": one[p.first],
					"chargebacks_count": one[chargeback], "gross": p.amount("final_price"), "tax": p.amount("tax_charge"),
					"refunds_by_sale_day": p.amount("amount_refunded"), "chargebacks": lost,
					"chargeback_fees": p.amount("chargeback_fee"), "affiliate_fees": p.amount("affiliate_fees"),
					"author_fees": p.amount("author_fees"), "net": net, "charge": p.amount("charge"), "revenue": p.amount("revenue"),
				} {
					s.add(group, p, name, n)
				}
			}
		}
		if day, is := within(p.back); is {
			s.add("all", p, "refunds_by_refund_day", p.amount("amount_refunded"))
			s.add("group "+a.group(p, plan, day), p, "refunds_by_refund_day", p.amount("amount_refunded"))
		}
	}
	return s.settled()
}

// settled removes zeros.
func (s sums) settled() sums {
	for key, of := range s {
		maps.DeleteFunc(of, func(_ string, n int64) bool { return n == 0 })
		if len(of) == 0 {
			delete(s, key)
		}
	}
	return s
}

// figuresShown are the figures in a report.
type figuresShown struct {
	Revenue    int64            `json:"revenue"`
	Currencies []map[string]any `json:"currencies"`
}

func (f figuresShown) into(s sums, group string) {
	for _, of := range f.Currencies {
		key := [2]string{group, fmt.Sprint(of["currency"])}
		s[key] = map[string]int64{}
		for name, n := range of {
			if amount, is := n.(float64); is {
				s[key][name] = int64(amount)
			}
		}
	}
}

type reportShown struct {
	Report struct {
		Figures figuresShown `json:"figures"`
		Groups  []struct {
			ID      *int32       `json:"id"`
			Type    *string      `json:"type"`
			Name    *string      `json:"name"`
			From    *string      `json:"from"`
			Figures figuresShown `json:"figures"`
		} `json:"groups"`
	} `json:"report"`
}

// hold requests a report and compares it with the sums.
func (b *books) hold(t *testing.T, s *shop, a reportRequest) sums {
	t.Helper()
	var got reportShown
	path := "/lyceum/v1/reports/sales?" + a.query()
	if status, err := s.send(http.MethodGet, path, "", nil, &got); status != http.StatusOK || err != nil {
		t.Fatalf("%s: %d, %v", path, status, err)
	}
	shown := sums{}
	got.Report.Figures.into(shown, "all")
	for i, g := range got.Report.Groups {
		if i > 0 && g.From == nil && got.Report.Groups[i-1].Figures.Revenue < g.Figures.Revenue {
			t.Errorf("%s: group %d brought more than the one before", path, i)
		}
		name := "none"
		switch {
		case g.From != nil:
			name = *g.From
		case a.by == "currency":
			name = *g.Name
		case g.Type != nil:
			name = fmt.Sprint(*g.Type, " ", *g.ID)
		case g.ID != nil:
			name = strconv.Itoa(int(*g.ID))
		}
		g.Figures.into(shown, "group "+name)
	}
	want := b.sum(a)
	if a.by == "" {
		maps.DeleteFunc(want, func(key [2]string, _ map[string]int64) bool { return key[0] != "all" })
	}
	if diff := gocmp.Diff(want, shown.settled()); diff != "" {
		t.Fatalf("%s (-export +report):\n%s", path, diff)
	}
	return want
}

// reconcile compares a month's report, by affiliate and by author, with the statements and with
// the console's page and file.
func (b *books) reconcile(t *testing.T, s *shop, login credentials) {
	var school struct {
		School struct {
			TimeZone string `json:"time_zone"`
		} `json:"school"`
	}
	if status, err := s.send(http.MethodGet, "/lyceum/v1/school", "", nil, &school); status != http.StatusOK || err != nil {
		t.Fatal(status, err)
	}
	zone, err := time.LoadLocation(school.School.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	at := b.paid[len(b.paid)*3/4].at
	month := reportRequest{zone: zone, from: time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)}
	month.until = month.from.AddDate(0, 1, -1)
	until := month.until.AddDate(0, 0, 1)
	ends := url.Values{
		"from":  {time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, zone).UTC().Format(time.RFC3339)},
		"until": {time.Date(until.Year(), until.Month(), 1, 0, 0, 0, 0, zone).UTC().Format(time.RFC3339)},
	}
	pages := signedIn(t, s, login)
	compared := 0
	for _, by := range []string{"affiliate", "author", "course"} {
		month.by = by
		want := b.hold(t, s, month)
		page := pages(t, "/admin/reports/sales?"+month.query())
		for key, of := range want {
			if key[0] != "all" || key[1] != "USD" {
				continue
			}
			gross := strconv.FormatInt(of["gross"], 10)
			if amount := gross[:len(gross)-2] + "." + gross[len(gross)-2:]; !strings.Contains(strings.ReplaceAll(page, ",", ""), amount) {
				t.Errorf("the page of %s does not show %s", month.query(), amount)
			}
		}
		file := pages(t, "/lyceum/v1/reports/sales?format=csv&"+month.query())
		if diff := gocmp.Diff("\uFEFF"+file, pages(t, "/admin/reports/sales.csv?"+month.query())); diff != "" {
			t.Errorf("by %s, the console's file differs (-interface +console):\n%s", by, diff)
		}
		if by == "course" {
			continue
		}
		for key, of := range want {
			id, is := strings.CutPrefix(key[0], "group ")
			if !is || id == "none" {
				continue
			}
			var statement struct {
				Statement struct {
					Lines []struct {
						Kind     string `json:"kind"`
						Currency string `json:"currency"`
						Amount   int64  `json:"amount"`
					} `json:"lines"`
				} `json:"statement"`
			}
			path := "/lyceum/v1/" + by + "s/" + id + "/statement?" + ends.Encode()
			if status, err := s.send(http.MethodGet, path, "", nil, &statement); status != http.StatusOK || err != nil {
				t.Fatalf("%s: %d, %v", path, status, err)
			}
			owed := int64(0)
			for _, line := range statement.Statement.Lines {
				if line.Kind == "sale" && line.Currency == key[1] {
					owed += line.Amount
				}
			}
			if owed != of[by+"_fees"] {
				t.Errorf("%s %s is owed %d %s in the statement, %d in the report", by, id, owed, key[1], of[by+"_fees"])
			}
			compared++
		}
	}
	if compared < 3 {
		t.Errorf("only %d statements were compared", compared)
	}
}

// signedIn signs the owner in and returns a function that gets pages and paths that need a key.
func signedIn(t *testing.T, s *shop, login credentials) func(*testing.T, string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	base := "http://" + s.addr
	in, err := client.PostForm(base+"/secure/1/identity/sign_in", url.Values{
		"email": {login.Owner.Email}, "password": {login.Owner.Password}, "next": {"/admin"},
	})
	if err != nil {
		t.Fatal(err)
	}
	in.Body.Close()
	return func(t *testing.T, path string) string {
		t.Helper()
		request, err := http.NewRequest(http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("apiKey", s.key)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK || response.Request.URL.Path != strings.Split(path, "?")[0] {
			t.Fatalf("%s: %s at %s, %v", path, response.Status, response.Request.URL, err)
		}
		return string(text)
	}
}
