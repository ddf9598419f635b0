package console_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

const (
	transactions = "/admin/transactions"
	hostile      = `<script>alert("1")</script>` + "\u202Egnp.exe"
)

// market gives school 1 two courses, and these plans: 1: once, 19.99 USD, course 1; 2: monthly,
// 5.00 EUR, course 1; 3: once, 9,000 JPY; 4: once, 1.500 BHD, course 2; 5: free, course 2. Its
// buyers are 11 to 13.
func (p *place) market() {
	p.t.Helper()
	day, none := p.clock.Now(), lyceum.None[lyceum.CourseID]()
	course := func(id lyceum.CourseID) lyceum.Opt[lyceum.CourseID] { return lyceum.Some(id) }
	p.write(func(tx lyceum.Tx) error {
		_, e1 := tx.Courses.Save(tx, []lyceum.Course{{ID: 1, Name: "Pottery", CreatedAt: day, UpdatedAt: day}, {ID: 2, Name: "Glass", CreatedAt: day, UpdatedAt: day}}...)
		_, e2 := tx.PricingPlans.Save(tx, []lyceum.PricingPlan{
			{ID: 1, CourseID: course(1), Name: "Pottery in full", Price: 1999, Currency: "USD", Frequency: lyceum.OneTimePayment},
			{ID: 2, CourseID: course(1), Name: "Pottery club", Price: 500, Currency: "EUR", Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month"), BillingIntervalCount: lyceum.Some(int32(1))},
			{ID: 3, CourseID: none, Name: "Kiln & clay", Price: 9000, Currency: "JPY", Frequency: lyceum.OneTimePayment},
			{ID: 4, CourseID: course(2), Name: "Glass in full", Price: 1500, Currency: "BHD", Frequency: lyceum.OneTimePayment},
			{ID: 5, CourseID: course(2), Name: "Glass, a taste", Currency: "USD", Frequency: lyceum.Free},
		}...)
		_, e3 := tx.Users.Save(tx, []lyceum.User{
			{ID: 11, Email: "ada@example.com", Name: lyceum.Some("Ada Lovelace"), Role: lyceum.Student, CreatedAt: day},
			{ID: 12, Email: "grace@example.com", Role: lyceum.Student, CreatedAt: day},
			{ID: 13, Email: "mallory@example.com", Name: lyceum.Some(hostile), Role: lyceum.Student, CreatedAt: day},
		}...)
		_, e4 := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 7})
		return errors.Join(e1, e2, e3, e4)
	})
}

func (p *place) write(change func(lyceum.Tx) error) {
	p.t.Helper()
	if err := p.store.Write(p.t.Context(), lyceum.Stamp{School: 1, At: p.clock.Now(), Actor: "test"}, change); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) by() lyceum.By { return lyceum.By{School: 1, Actor: "test"} }

// sell returns a sale of a plan of the market, and its first transaction.
func (p *place) sell(plan lyceum.PricingPlanID, buyer lyceum.UserID, change ...func(*sales.NewSale)) (lyceum.SaleID, lyceum.TransactionID) {
	p.t.Helper()
	n := sales.NewSale{User: buyer, Plan: plan}
	if cents, foreign := map[lyceum.PricingPlanID]lyceum.USDCents{2: 545, 3: 6000, 4: 398}[plan]; foreign {
		n.Charge = lyceum.Some(cents)
	}
	for _, c := range change {
		c(&n)
	}
	d, err := p.sales.Record(p.t.Context(), p.by(), n)
	if err != nil {
		p.t.Fatal(err)
	}
	return d.ID, d.Transactions[0].ID
}

func taxed(tax lyceum.Minor) func(*sales.NewSale) {
	return func(n *sales.NewSale) { n.TaxCharge = lyceum.Some(tax) }
}

func (p *place) must(_ sales.TransactionDetail, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// refunded returns how much of a transaction was refunded, and in how many steps.
func (p *place) refunded(id lyceum.TransactionID) (amount lyceum.Minor, steps int) {
	p.t.Helper()
	d, err := p.sales.ShowTransaction(p.t.Context(), p.by(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return d.AmountRefunded + d.TaxRefunded, len(d.Movements)
}

var listed = regexp.MustCompile(`class="more" href="/admin/sales/(\d+)"`)

// salesOn returns the sales that a list shows, in its order.
func salesOn(w *httptest.ResponseRecorder) string {
	var ids []string
	for _, found := range listed.FindAllStringSubmatch(w.Body.String(), -1) {
		ids = append(ids, found[1])
	}
	return strings.Join(ids, " ")
}

func refundPath(id lyceum.TransactionID) string { return fmt.Sprintf("%s/%d/refund", transactions, id) }
func salePath(id lyceum.SaleID) string          { return fmt.Sprintf("/admin/sales/%d", id) }
