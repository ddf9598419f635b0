package intake_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// reportsVariable is the environment variable with the number of reports that TestReports makes
// of each store.
const reportsVariable = "LYCEUM_REPORTS"

// soldProducts are the products that the plans of TestReports sell.
var soldProducts = map[lyceum.PricingPlanID]lyceum.Opt[lyceum.Product]{
	1: lyceum.Some(lyceum.CourseID(1).Product()), 2: lyceum.Some(lyceum.CourseID(1).Product()), 3: lyceum.Some(lyceum.CourseID(2).Product()),
	4: lyceum.Some(lyceum.Product{Kind: lyceum.CoachingKind, ID: 1}), 5: {},
}

// sold returns random sales around the days on which the clocks change.
func sold(r *rand.Rand, n int) []lyceum.Transaction {
	some := func(most int) lyceum.Opt[int32] {
		return lyceum.Opt[int32]{Value: 1 + r.Int32N(int32(most)), Present: true}
	}
	list := make([]lyceum.Transaction, n)
	for i := range list {
		begin := []time.Time{time.Date(2024, 3, 26, 0, 0, 0, 0, time.UTC), time.Date(2024, 10, 20, 0, 0, 0, 0, time.UTC)}[r.IntN(2)]
		at := begin.Add(time.Duration(r.IntN(20*24*60)) * time.Minute)
		t := lyceum.Transaction{
			ID: lyceum.TransactionID(i + 1), UserID: lyceum.UserID(1 + r.IntN(60)), PricingPlanID: lyceum.PricingPlanID(1 + r.IntN(len(soldProducts))),
			SaleID: lyceum.SaleID(1 + r.IntN(n/2)), CreatedAt: at, PurchasedAt: at, Charge: lyceum.USDCents(r.IntN(90000)), FinalPrice: lyceum.Minor(r.IntN(80000)),
			Currency: []lyceum.Currency{"USD", "EUR", "JPY", "KWD"}[r.IntN(4)], TaxCharge: lyceum.Minor(r.IntN(9000)), Revenue: lyceum.USDCents(r.IntN(70000)), Paid: r.IntN(10) > 0,
		}
		if r.IntN(3) == 0 {
			t.AffiliateID, t.AffiliateFees = lyceum.Some(lyceum.AffiliateID(some(3).Value)), lyceum.Minor(r.IntN(900))
		}
		if r.IntN(3) == 0 {
			t.AuthorID, t.AuthorFees = lyceum.Some(lyceum.AuthorID(some(3).Value)), lyceum.Minor(r.IntN(900))
		}
		if r.IntN(3) == 0 {
			t.CouponID = lyceum.Some(lyceum.CouponID(some(3).Value))
		}
		if r.IntN(5) == 0 {
			t.RefundedAt, t.AmountRefunded = lyceum.Some(at.Add(time.Duration(r.IntN(15*24*60)-600)*time.Minute)), lyceum.Minor(r.IntN(80000))
		}
		if r.IntN(5) == 0 {
			t.HasChargeback, t.ChargebackFee = lyceum.Some(r.IntN(2) == 0), lyceum.Some(lyceum.Minor(r.IntN(1500)))
		}
		list[i] = t
	}
	return list
}

// stock stores sales and everything that they refer to.
func stock(tx lyceum.Tx, sold []lyceum.Transaction) error {
	sales := map[lyceum.SaleID]lyceum.Sale{}
	for i := range sold {
		t := &sold[i]
		if s, known := sales[t.SaleID]; !known || t.CreatedAt.Before(s.CreatedAt) {
			sales[t.SaleID] = lyceum.Sale{ID: t.SaleID, CreatedAt: t.CreatedAt, PurchasedAt: t.PurchasedAt}
		}
	}
	var err error
	keep := func(_ lyceum.Saved, e error) {
		if err == nil {
			err = e
		}
	}
	for id := range lyceum.UserID(60) {
		keep(tx.Users.Save(tx, lyceum.User{ID: id + 1, Email: fmt.Sprintf("u%d@example.com", id), Role: lyceum.Student, CreatedAt: storetest.Begin}))
	}
	keep(tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery, and \"glazes\""}, lyceum.Course{ID: 2, Name: "=Weaving"}))
	keep(tx.Coaching.Save(tx, lyceum.Coaching{ID: 1, Name: "Kilns", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin}))
	for id, product := range soldProducts {
		p := lyceum.PricingPlan{ID: id, Frequency: lyceum.OneTimePayment, Currency: "USD", Name: fmt.Sprintf("Plan %d", id)}
		if product.Present && product.Value.Kind == lyceum.CourseKind {
			p.CourseID = lyceum.Some(lyceum.CourseID(product.Value.ID))
		} else {
			p.Other = product
		}
		keep(tx.PricingPlans.Save(tx, p))
	}
	for id := range int32(3) {
		keep(tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: lyceum.AffiliateID(id + 1)}))
		keep(tx.Authors.Save(tx, lyceum.AuthorProfile{ID: lyceum.AuthorID(id + 1), Name: lyceum.Some("Ida")}))
		keep(tx.Coupons.Save(tx, lyceum.Coupon{ID: lyceum.CouponID(id + 1), Code: lyceum.Some(fmt.Sprintf("CODE%d", id))}))
	}
	for _, s := range sales {
		keep(tx.Sales.Save(tx, s))
	}
	keep(tx.Transactions.Save(tx, sold...))
	return err
}

// exported returns the CSV export of sales: a row for each, in their order, keyed by column.
func exported(t *testing.T, sold []lyceum.Transaction) []map[string]string {
	t.Helper()
	var file bytes.Buffer
	w := intake.NewWriter(intake.Transactions(), &file, intake.CSV)
	for i := range sold {
		if err := w.Write(&sold[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return records(t, file.String())
}

func records(t *testing.T, file string) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// figureNames are the columns of a report that have figures.
var figureNames = []string{
	"sales_count", "renewals_count", "new_buyers_count", "chargebacks_count", "gross", "tax", "refunds_by_sale_day", "refunds_by_refund_day", "chargebacks",
	"chargeback_fees", "affiliate_fees", "author_fees", "net", "charge", "revenue",
}

// brute adds up an export row by row, as docs/glossary.md defines the figures.
func brute(rows []map[string]string, q reports.Query, zone *time.Location) map[string]map[string]int64 {
	sums := map[string]map[string]int64{}
	first, last := q.From.Value.String(), q.Until.Value.String()
	buyers, paidFor := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		n := func(name string) int64 { v, _ := strconv.ParseInt(row[name], 10, 64); return v }
		if row["status"] != "paid" {
			continue
		}
		isNew, renews := !buyers[row["user_id"]], paidFor[row["sale_id"]+" "+row["user_id"]]
		buyers[row["user_id"]], paidFor[row["sale_id"]+" "+row["user_id"]] = true, true
		product := soldProducts[lyceum.PricingPlanID(n("pricing_plan_id"))]
		course := ""
		if product.Present && product.Value.Kind == lyceum.CourseKind {
			course = strconv.Itoa(int(product.Value.ID))
		}
		f, full := q.Filter, n("amount_refunded") > 0 && n("amount_refunded") >= n("final_price")
		if f.UserID.Present && int64(f.UserID.Value) != n("user_id") || f.AffiliateID.Present && strconv.Itoa(int(f.AffiliateID.Value)) != row["affiliate_id"] ||
			f.CourseID.Present && strconv.Itoa(int(f.CourseID.Value)) != course || f.PricingPlanID.Present && int64(f.PricingPlanID.Value) != n("pricing_plan_id") ||
			f.FullyRefunded.Present && f.FullyRefunded.Value != full || f.Chargeback.Present && f.Chargeback.Value != (row["has_chargeback"] == "true") {
			continue
		}
		add := func(moment string, figures map[string]int64) {
			at, _ := time.Parse(time.RFC3339, moment)
			day := at.In(zone).Format(time.DateOnly)
			if day < first || day > last {
				return
			}
			days, kind, id := first+" "+last, "", ""
			switch date, _ := time.Parse(time.DateOnly, day); q.By.Value {
			case reports.ByDay:
				days = day + " " + day
			case reports.ByWeek:
				for date.Weekday() != time.Monday {
					date = date.AddDate(0, 0, -1)
				}
				days = max(first, date.Format(time.DateOnly)) + " " + min(last, date.AddDate(0, 0, 6).Format(time.DateOnly))
			case reports.ByMonth:
				begin := date.AddDate(0, 0, 1-date.Day())
				days = max(first, begin.Format(time.DateOnly)) + " " + min(last, begin.AddDate(0, 1, -1).Format(time.DateOnly))
			case reports.ByCourse:
				id = course
			case reports.ByProduct:
				if product.Present {
					kind, id = string(product.Value.Kind), strconv.Itoa(int(product.Value.ID))
				}
			case reports.ByPlan:
				id = row["pricing_plan_id"]
			case reports.ByAuthor:
				id = row["author_id"]
			case reports.ByAffiliate:
				id = row["affiliate_id"]
			case reports.ByCoupon:
				id = row["coupon_id"]
			}
			key := strings.Join([]string{days, kind, id, row["currency"]}, " ")
			if sums[key] == nil {
				sums[key] = map[string]int64{}
			}
			for name, amount := range figures {
				sums[key][name] += amount
			}
		}
		refunded := min(n("amount_refunded"), max(0, n("final_price"))) // without tax, as the prices are
		figures := map[string]int64{
			"sales_count": 1, "gross": n("final_price"), "tax": n("tax_charge"), "refunds_by_sale_day": refunded, "chargeback_fees": n("chargeback_fee"),
			"affiliate_fees": n("affiliate_fees"), "author_fees": n("author_fees"), "charge": n("charge"), "revenue": n("revenue"),
		}
		if isNew {
			figures["new_buyers_count"] = 1
		}
		if renews {
			figures["renewals_count"] = 1
		}
		if row["has_chargeback"] == "true" {
			figures["chargebacks_count"], figures["chargebacks"] = 1, max(0, n("final_price")-refunded)
		}
		figures["net"] = n("final_price") - refunded - figures["chargebacks"] - n("chargeback_fee") - n("affiliate_fees") - n("author_fees")
		add(row["created_at"], figures)
		if refunded != 0 {
			add(row["refunded_at"], map[string]int64{"refunds_by_refund_day": refunded})
		}
	}
	return sums
}

// figuresIn parses the figures of a report's file, in smallest units.
func figuresIn(t *testing.T, file string) map[string]map[string]int64 {
	t.Helper()
	sums := map[string]map[string]int64{}
	for _, row := range records(t, file) {
		figures := map[string]int64{}
		for _, name := range figureNames {
			n, err := strconv.ParseInt(strings.Replace(row[name], ".", "", 1), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if n != 0 {
				figures[name] = n
			}
		}
		sums[strings.Join([]string{row["from"], row["until"], row["type"], row["id"], row["currency"]}, " ")] = figures
	}
	return sums
}

// randomReport returns a random report of days around those of the sales.
func randomReport(r *rand.Rand) (reports.Query, lyceum.TimeZone) {
	from := lyceum.Day{Year: 2024, Month: time.Month(3 + 7*r.IntN(2)), Day: 1 + r.IntN(31)}
	if r.IntN(4) == 0 {
		from = lyceum.Day{Year: 2023, Month: 1, Day: 1 + r.IntN(31)}
	}
	zone := []lyceum.TimeZone{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"}[r.IntN(4)]
	q := reports.Query{
		From: lyceum.Some(from), Until: lyceum.Some(from.Add(r.IntN(20 * (1 + 40*r.IntN(2))))), Zone: lyceum.Some(zone),
		By: lyceum.Some(reports.Groupings()[r.IntN(len(reports.Groupings()))]),
	}
	for bit, narrow := range []func(){
		func() { q.Filter.UserID = lyceum.Some(lyceum.UserID(1 + r.IntN(60))) },
		func() { q.Filter.AffiliateID = lyceum.Some(lyceum.AffiliateID(1 + r.IntN(4))) },
		func() { q.Filter.CourseID = lyceum.Some(lyceum.CourseID(1 + r.IntN(3))) },
		func() { q.Filter.PricingPlanID = lyceum.Some(lyceum.PricingPlanID(1 + r.IntN(6))) },
		func() { q.Filter.FullyRefunded = lyceum.Some(r.IntN(2) == 0) },
		func() { q.Filter.Chargeback = lyceum.Some(r.IntN(2) == 0) },
	} {
		if r.IntN(5) == 0 && bit < 6 {
			narrow()
		}
	}
	return q, zone
}

// TestReports compares random reports of each store with brute-force sums over the exported file,
// to the cent.
func TestReports(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 1))
	sales := sold(r, 300)
	inOrder := slices.SortedFunc(slices.Values(sales), func(a, b lyceum.Transaction) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return int(a.ID - b.ID)
	})
	rows := exported(t, inOrder)
	services, schools := map[string]*reports.Service{}, map[string]lyceum.SchoolID{}
	add := func(name string, store lyceum.Store, err error) lyceum.Store {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		schools[name] = storetest.MakeSchool(t, store)
		storetest.Write(t, store, schools[name], func(tx lyceum.Tx) error { return stock(tx, sales) })
		services[name] = &reports.Service{Store: store, Clock: time.Now}
		return store
	}
	sqlite, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	add("SQLite", sqlite, err)
	postgres, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
	add("PostgreSQL", postgres, err)
	indexed := salesindex.Over(sqlite, salesindex.Options{Memory: 1 << 30})
	if err := indexed.Prepare(schools["SQLite"]); err != nil {
		t.Fatal(err)
	}
	schools["the index"], services["the index"] = schools["SQLite"], &reports.Service{Store: indexed, Clock: time.Now}
	t.Cleanup(func() { _ = indexed.Close() })

	n := 100
	if text := os.Getenv(reportsVariable); text != "" {
		n, _ = strconv.Atoi(text)
	}
	groups := 0
	for range n {
		q, name := randomReport(r)
		zone, err := name.Location()
		if err != nil {
			t.Fatal(err)
		}
		want := brute(rows, q, zone)
		for _, figures := range want {
			for name, amount := range figures {
				if amount == 0 {
					delete(figures, name)
				}
			}
		}
		groups += len(want)
		for name, service := range services {
			report, err := service.Sales(t.Context(), lyceum.By{School: schools[name], Actor: "test"}, q)
			if err != nil {
				t.Fatalf("%s %+v: %v", name, q, err)
			}
			file, _ := wire.SalesReportCSV{Report: report}.AppendJSON(nil)
			if diff := cmp.Diff(want, figuresIn(t, string(file))); diff != "" {
				t.Fatalf("%s %+v\n%s", name, q, diff)
			}
		}
	}
	if !t.Failed() {
		t.Logf("%d reports of %d stores equal the export: %d lines each", n, len(services), groups)
	}
}
