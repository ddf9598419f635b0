package sales_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// books is a school whose clock is moved by the test. Its plans are 1: once, 19.99 USD, course
// 1; 2: monthly, 5.00 EUR, course 1; 3: once, course 2, for 6 months; 4: free, course 2; 5:
// without a course; 6: monthly with a trial of 14 days; 7: once, one seat.
type books struct {
	store    lyceum.Store
	service  *sales.Service
	learning *learning.Service
	school   lyceum.SchoolID
	now      time.Time
}

func openBooks(tb testing.TB, store lyceum.Store) *books {
	tb.Helper()
	b := &books{store: store, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return b.now }
	b.learning = learning.New(store, clock)
	b.service = sales.New(store, clock, b.learning, people.New(store, clock))
	school, err := store.CreateSchool(tb.Context(), lyceum.School{Name: "Books", CreatedAt: b.now}, "test")
	if err != nil {
		tb.Fatal(err)
	}
	b.school = school.ID
	course := func(id lyceum.CourseID) lyceum.Opt[lyceum.CourseID] { return lyceum.Some(id) }
	month, one := lyceum.Some("month"), lyceum.Some(int32(1))
	err = store.Write(tb.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "test"}, func(tx lyceum.Tx) error {
		_, e1 := tx.Courses.Save(tx, []lyceum.Course{{ID: 1, Name: "Pottery", CreatedAt: b.now, UpdatedAt: b.now}, {ID: 2, Name: "Glass", CreatedAt: b.now, UpdatedAt: b.now}}...)
		_, e2 := tx.PricingPlans.Save(tx, []lyceum.PricingPlan{
			{ID: 1, CourseID: course(1), Name: "Once", Price: 1999, Currency: "USD", Frequency: lyceum.OneTimePayment},
			{ID: 2, CourseID: course(1), Name: "Monthly", Price: 500, Currency: "EUR", Frequency: lyceum.Subscription, BillingInterval: month, BillingIntervalCount: one},
			{ID: 3, CourseID: course(2), Name: "Half a year", Price: 3000, Currency: "USD", Frequency: lyceum.OneTimePayment, AccessLimitInterval: month, AccessLimitDuration: lyceum.Some(int32(6))},
			{ID: 4, CourseID: course(2), Name: "Free", Currency: "USD", Frequency: lyceum.Free},
			{ID: 5, Name: "Bundle", Price: 9000, Currency: "JPY", Frequency: lyceum.OneTimePayment},
			{ID: 6, CourseID: course(1), Name: "Trial", Price: 700, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: month, BillingIntervalCount: one, FreeTrialLength: lyceum.Some(int32(14))},
			{ID: 7, CourseID: course(2), Name: "One seat", Price: 100, Currency: "USD", Frequency: lyceum.OneTimePayment, EnrollmentCap: one},
		}...)
		_, e3 := tx.Users.Save(tx, []lyceum.User{{ID: 1, Email: "a@example.com", Role: lyceum.Student}, {ID: 2, Email: "b@example.com", Role: lyceum.Student}, {ID: 3, Email: "c@example.com", Role: lyceum.Student}}...)
		_, e4 := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 1})
		_, e5 := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 1})
		_, e6 := tx.Coupons.Save(tx, lyceum.Coupon{ID: 1})
		return errors.Join(e1, e2, e3, e4, e5, e6)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func newBooks(t *testing.T) *books {
	t.Helper()
	return openBooks(t, openStore(t))
}

func (b *books) by() lyceum.By { return lyceum.By{School: b.school, Actor: "test"} }

// configure sets what happens when sales end, and the time zone.
func (b *books) configure(ctx context.Context, p lyceum.SalePolicy, zone lyceum.TimeZone) error {
	_, err := b.service.Configure(ctx, b.by(), func(s *lyceum.School) { s.Policy, s.TimeZone = p, zone })
	return err
}

func (b *books) sell(t *testing.T, n sales.NewSale) sales.SaleDetail {
	t.Helper()
	d, err := b.service.Record(t.Context(), b.by(), n)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// events returns what the journal announces after an entry, as "event id".
func (b *books) events(t *testing.T, after int64) []string {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), b.store, b.school, after, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range entries {
		if e.Event.Present {
			told = append(told, fmt.Sprint(e.Event.Value, " ", e.ObjectID))
		}
	}
	return told
}

func (b *books) last(t *testing.T) int64 {
	t.Helper()
	last, err := b.store.In(t.Context(), b.school).LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// access returns the enrollments of a user, with when they expire and ended.
func (b *books) access(t *testing.T, user lyceum.UserID) []string {
	t.Helper()
	v := b.store.In(t.Context(), b.school)
	found, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{User: lyceum.Some(user)})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range found {
		text := fmt.Sprint("course ", e.Course)
		if e.ExpiresAt.Present {
			text += " until " + e.ExpiresAt.Value.Format(time.DateOnly)
		}
		if e.EndedAt.Present {
			text += " ended " + e.EndedAt.Value.Format(time.DateOnly)
		}
		told = append(told, text)
	}
	return told
}

func (b *books) healthy(t interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
}, store lyceum.Store,
) {
	t.Helper()
	findings, err := store.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("check finds: %s", f.What)
	}
}

func some[T comparable](v T) lyceum.Opt[T] { return lyceum.Some(v) }

func TestRecordKeepsTheBooks(t *testing.T) {
	for _, tc := range []struct {
		name    string
		sale    sales.NewSale
		charge  lyceum.USDCents
		revenue lyceum.USDCents
		refused string // the error; "" means that it is recorded
	}{
		{name: "the plan's price", sale: sales.NewSale{User: 1, Plan: 1}, charge: 1999, revenue: 1999},
		{
			name: "tax and fees are not the school's own", charge: 2379, revenue: 1999 - 400 - 500,
			sale: sales.NewSale{User: 1, Plan: 1, Affiliate: some(lyceum.AffiliateID(1)), Author: some(lyceum.AuthorID(1)), Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(380)), AffiliateFees: some(lyceum.Minor(400)), AuthorFees: some(lyceum.Minor(500))}},
		},
		{
			name: "another currency, to the nearest cent", charge: 1081, revenue: 908, // 1081 × 1000 / 1190 = 908.4
			sale: sales.NewSale{User: 1, Plan: 5, Reference: some("ch_1"), Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(1000)), TaxCharge: some(lyceum.Minor(190)), Charge: some(lyceum.USDCents(1081))}},
		},
		{name: "free", sale: sales.NewSale{User: 1, Plan: 4}},
		{name: "fully discounted", sale: sales.NewSale{User: 1, Plan: 1, Coupon: some(lyceum.CouponID(1)), Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(0))}}},
		{name: "charge that is not the sum", sale: sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{Charge: some(lyceum.USDCents(2000))}}, refused: "charge must be the sum of final_price and tax_charge, 1999, or be left out"},
		{name: "another currency without the charge", sale: sales.NewSale{User: 1, Plan: 2}, refused: "charge is required: what the buyer paid in US cents cannot be derived from EUR"},
		{name: "more fees than price", sale: sales.NewSale{User: 1, Plan: 1, Affiliate: some(lyceum.AffiliateID(1)), Amounts: sales.Amounts{AffiliateFees: some(lyceum.Minor(2000))}}, refused: "author_fees and affiliate_fees together must not be more than the final_price of 1999"},
		{name: "fees for nobody", sale: sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{AuthorFees: some(lyceum.Minor(1))}}, refused: "author_fees must be 0 without an author_id"},
		{name: "negative", sale: sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(-1))}}, refused: "tax_charge must be from 0 to 2147483647"},
		{name: "above int32 together", sale: sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(2147483647))}}, refused: "tax_charge must not raise the price above 2147483647"},
		{name: "nobody", sale: sales.NewSale{User: 9, Plan: 1}, refused: "user_id 9 matches no user of this school"},
		{name: "nothing", sale: sales.NewSale{User: 1, Plan: 99}, refused: "pricing_plan_id 99 matches no pricing plan of this school"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBooks(t)
			before := b.last(t)
			d, err := b.service.Record(t.Context(), b.by(), tc.sale)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) || lyceum.KindOf(err) != lyceum.Invalid {
					t.Fatalf("%v, want %q", err, tc.refused)
				}
				if b.last(t) != before {
					t.Error("something was kept")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := d.Transactions[0]
			if got.Charge != tc.charge || got.Revenue != tc.revenue {
				t.Errorf("charge %d, revenue %d; want %d, %d", got.Charge, got.Revenue, tc.charge, tc.revenue)
			}
			shown, err := b.service.Show(t.Context(), b.by(), d.ID)
			if diff := cmp.Diff(d, shown); diff != "" || err != nil {
				t.Errorf("%v, shown otherwise than recorded:\n%s", err, diff)
			}
			b.healthy(t, b.store)
		})
	}
}

func TestASaleEnrollsByItsPlan(t *testing.T) {
	b := newBooks(t)
	if err := b.learning.Expire(t.Context(), b.school); err != nil { // starting now
		t.Fatal(err)
	}
	b.sell(t, sales.NewSale{User: 1, Plan: 1})
	if diff := cmp.Diff([]string{"Sale.created 1", "Transaction.created 1", "Enrollment.created 1"}, b.events(t, 0)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	before := b.last(t)
	b.sell(t, sales.NewSale{User: 2, Plan: 3})
	b.sell(t, sales.NewSale{User: 3, Plan: 4})
	if diff := cmp.Diff([]string{"Sale.created 2", "Transaction.created 2", "Enrollment.created 2", "Sale.created 3", "Enrollment.created 3"}, b.events(t, before)); diff != "" {
		t.Errorf("a free sale moves no money (-want +got):\n%s", diff)
	}
	want := [][]string{{"course 1"}, {"course 2 until 2026-07-31"}, {"course 2"}}
	for i, w := range want {
		if diff := cmp.Diff(w, b.access(t, lyceum.UserID(i+1))); diff != "" {
			t.Errorf("user %d (-want +got):\n%s", i+1, diff)
		}
	}
	// What is already over when it is imported is history.
	err := b.store.Write(t.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "import"}, func(tx lyceum.Tx) error {
		return storetest.Enroll(tx, lyceum.Enrollment{ID: 50, User: 3, Course: 1, EnrolledAt: b.now.AddDate(-2, 0, 0), ExpiresAt: some(b.now.AddDate(-1, 0, 0))})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.now = time.Date(2026, 7, 31, 12, 0, 0, 0, time.UTC)
	before = b.last(t)
	overdue, err := b.store.FindOverdue(t.Context(), b.now)
	if err != nil || !slices.Equal(overdue, []lyceum.SchoolID{b.school}) {
		t.Fatal(overdue, err)
	}
	if err := b.learning.Expire(t.Context(), b.school); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Enrollment.disabled 2"}, b.events(t, before)); diff != "" {
		t.Errorf("at expiry (-want +got):\n%s", diff)
	}
	if overdue, err = b.store.FindOverdue(t.Context(), b.now); err != nil || len(overdue) > 0 {
		t.Error("still overdue", overdue, err)
	}
	if _, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 2, Plan: 7}); err != nil {
		t.Fatal(err)
	}
	if _, err = b.service.Record(t.Context(), b.by(), sales.NewSale{User: 3, Plan: 7}); lyceum.Public(err).Code != "sold_out" {
		t.Errorf("a second sale of one seat: %v", err)
	}
	b.healthy(t, b.store)
}

func TestRefunds(t *testing.T) {
	b := newBooks(t)
	d := b.sell(t, sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(100))}, Reference: some("ch_1")})
	id := d.Transactions[0].ID
	before := b.last(t)
	refund := func(amount lyceum.Opt[lyceum.Minor], want string) sales.TransactionDetail {
		t.Helper()
		got, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, Amount: amount, Reason: some("asked")})
		if text := fmt.Sprint(err); !strings.Contains(text, want) {
			t.Fatalf("%v, want %q", err, want)
		}
		return got
	}
	refund(some(lyceum.Minor(2000)), "at most 2099 is left of transaction 1, 1999 of the price and 100 of the tax, in the smallest unit of USD")
	refund(some(lyceum.Minor(0)), "amount must be at least 1")
	if got := refund(some(lyceum.Minor(999)), "nil"); got.AmountRefunded != 999 || got.TaxRefunded != 50 || got.FullyRefunded() ||
		len(got.Movements) != 1 || got.Movements[0].Refunded != 999 || got.Movements[0].TaxRefunded != 50 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{"course 1"}, b.access(t, 1)); diff != "" {
		t.Error(diff)
	}
	if got := refund(some(lyceum.Minor(1000)), "nil"); !got.FullyRefunded() || got.TaxRefunded != 100 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{"course 1 ended 2026-01-31"}, b.access(t, 1)); diff != "" {
		t.Error(diff)
	}
	refund(lyceum.None[lyceum.Minor](), "fully refunded")
	want := []string{"Transaction.refunded 1", "Transaction.refunded 1", "Enrollment.disabled 1"}
	if diff := cmp.Diff(want, b.events(t, before)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shown, err := b.service.ShowTransaction(t.Context(), b.by(), id)
	if err != nil || len(shown.Movements) != 2 || shown.Reference != some("ch_1") {
		t.Errorf("%+v %v", shown, err)
	}
	if sale, err := b.service.Show(t.Context(), b.by(), d.ID); err != nil || sale.EndReason != some(lyceum.SaleRefunded) {
		t.Errorf("%+v %v", sale.Sale, err)
	}
	if _, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 2, Plan: 1, Reference: some("ch_1")}); lyceum.Public(err).Code != "reference_taken" {
		t.Errorf("the same payment twice: %v", err)
	}
	b.healthy(t, b.store)
}

func TestChargebacks(t *testing.T) {
	b := newBooks(t)
	id := b.sell(t, sales.NewSale{User: 1, Plan: 1}).Transactions[0].ID
	open := func(want string) {
		t.Helper()
		if _, err := b.service.OpenChargeback(t.Context(), b.by(), sales.Chargeback{Transaction: id, Fee: 1500}); lyceum.Public(err).Code != want && (err != nil || want != "") {
			t.Fatalf("open: %v, want %q", err, want)
		}
	}
	closing := func(outcome lyceum.DisputeState, want string) {
		t.Helper()
		if _, err := b.service.CloseChargeback(t.Context(), b.by(), sales.Outcome{Transaction: id, State: outcome}); lyceum.Public(err).Code != want && (err != nil || want != "") {
			t.Fatalf("%s: %v, want %q", outcome, err, want)
		}
	}
	closing(lyceum.DisputeWon, "no_open_chargeback")
	open("")
	open("charged_back")
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id}); lyceum.Public(err).Code != "chargeback_open" {
		t.Errorf("refund of what is with the bank: %v", err)
	}
	closing(lyceum.DisputeWon, "")
	v := b.store.In(t.Context(), b.school)
	if x, _ := v.Transactions.Get(v, id); x.HasChargeback != some(false) || x.ChargebackFee != some(lyceum.Minor(1500)) {
		t.Errorf("won: %+v", x)
	}
	open("")
	if diff := cmp.Diff([]string{"course 1"}, b.access(t, 1)); diff != "" {
		t.Error(diff)
	}
	closing(lyceum.DisputeLost, "")
	closing(lyceum.DisputeLost, "no_open_chargeback")
	if x, _ := v.Transactions.Get(v, id); x.HasChargeback != some(true) || x.ChargebackFee != some(lyceum.Minor(3000)) {
		t.Errorf("lost: %+v", x)
	}
	if diff := cmp.Diff([]string{"course 1 ended 2026-01-31"}, b.access(t, 1)); diff != "" {
		t.Error(diff)
	}
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id}); lyceum.Public(err).Code != "charged_back" {
		t.Errorf("refund of what went back: %v", err)
	}
	b.healthy(t, b.store)
}

func TestSubscriptions(t *testing.T) {
	usd := func(cents lyceum.USDCents) sales.Amounts { return sales.Amounts{Charge: some(cents)} }
	for _, tc := range []struct {
		policy lyceum.Consequence
		access []string
	}{
		{lyceum.AtPeriodEnd, []string{"course 1 until 2026-03-31"}},
		{lyceum.Unenroll, []string{"course 1 ended 2026-03-01"}},
		{lyceum.Keep, []string{"course 1"}},
	} {
		t.Run(string(tc.policy), func(t *testing.T) {
			b := newBooks(t)
			policy := lyceum.DefaultSalePolicy()
			policy.OnCancellation = tc.policy
			if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
				t.Fatal(err)
			}
			d := b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: usd(540)})
			if want := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC); d.PaidUntil != some(want) {
				t.Errorf("paid until %v, want the end of the shorter month", d.PaidUntil)
			}
			b.now = time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC)
			before := b.last(t)
			r, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: d.ID, Amounts: usd(541)})
			if err != nil || r.FinalPrice != 500 || r.Charge != 541 || r.SaleID != d.ID {
				t.Fatalf("%+v %v", r, err)
			}
			b.now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: d.ID}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.access, b.access(t, 1)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := map[lyceum.Consequence][]string{
				lyceum.AtPeriodEnd: {"Transaction.created 2"}, // it stays active until then
				lyceum.Unenroll:    {"Transaction.created 2", "Sale.subscription_canceled 1", "Enrollment.disabled 1"},
				lyceum.Keep:        {"Transaction.created 2", "Sale.subscription_canceled 1"},
			}[tc.policy]
			if diff := cmp.Diff(want, b.events(t, before)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: d.ID, Amounts: usd(541)}); lyceum.Public(err).Code != "sale_ended" {
				t.Errorf("renewed after its end: %v", err)
			}
			b.healthy(t, b.store)
		})
	}
	b := newBooks(t)
	once := b.sell(t, sales.NewSale{User: 1, Plan: 1})
	if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: once.ID}); lyceum.Public(err).Code != "not_recurring" {
		t.Errorf("cancelled what is paid once: %v", err)
	}
	trial := b.sell(t, sales.NewSale{User: 2, Plan: 6, Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(0))}})
	if want := b.now.AddDate(0, 0, 14); trial.PaidUntil != some(want) {
		t.Errorf("the trial ends %v, want %v", trial.PaidUntil, want)
	}
	if r, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: trial.ID}); err != nil || r.FinalPrice != 700 {
		t.Errorf("after the trial %+v %v", r, err)
	}
}

// TestRenewalsAreAsTheFirstPayment checks what the contract says at createRenewal about fields
// that are not sent.
func TestRenewalsAreAsTheFirstPayment(t *testing.T) {
	minor := func(n lyceum.Minor) lyceum.Opt[lyceum.Minor] { return some(n) }
	first := sales.Amounts{
		FinalPrice: minor(1000), Currency: some(lyceum.Currency("USD")), TaxCharge: minor(190), AffiliateFees: minor(200), AuthorFees: minor(300),
	}
	for _, tc := range []struct {
		name                          string
		sent                          sales.Amounts
		price, tax, affiliate, author lyceum.Minor
		currency                      lyceum.Currency
		charge, revenue               lyceum.USDCents
	}{
		{"nothing is sent", sales.Amounts{}, 1000, 190, 200, 300, "USD", 1190, 500},
		{"another tax", sales.Amounts{TaxCharge: minor(70)}, 1000, 70, 200, 300, "USD", 1070, 500},
		{"no fees", sales.Amounts{AffiliateFees: minor(0), AuthorFees: minor(0)}, 1000, 190, 0, 0, "USD", 1190, 1000},
		{"another price", sales.Amounts{FinalPrice: minor(900)}, 900, 0, 0, 0, "USD", 900, 900},
		{"another currency", sales.Amounts{Currency: some(lyceum.Currency("EUR")), Charge: some(lyceum.USDCents(1100))}, 1000, 0, 0, 0, "EUR", 1100, 1100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBooks(t)
			d := b.sell(t, sales.NewSale{User: 1, Plan: 2, Affiliate: some(lyceum.AffiliateID(1)), Author: some(lyceum.AuthorID(1)), Amounts: first, Reference: some("ch_1")})
			for range 2 {
				b.now = b.now.AddDate(0, 1, 0)
				r, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: d.ID, Amounts: tc.sent})
				if err != nil {
					t.Fatal(err)
				}
				if r.FinalPrice != tc.price || r.TaxCharge != tc.tax || r.AffiliateFees != tc.affiliate || r.AuthorFees != tc.author ||
					r.Currency != tc.currency || r.Charge != tc.charge || r.Revenue != tc.revenue {
					t.Errorf("%+v, want %+v", r.Transaction, tc)
				}
			}
			b.healthy(t, b.store)
		})
	}
}

func TestOrders(t *testing.T) {
	b := newBooks(t)
	open := func(email string) lyceum.OrderID {
		t.Helper()
		o, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: email, Name: some("Nia"), Plan: 1})
		if err != nil {
			t.Fatal(err)
		}
		return o.ID
	}
	bought, left, late := open("new@example.com"), open("a@example.com"), open("late@example.com")
	if _, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: "nobody", Plan: 1}); lyceum.KindOf(err) != lyceum.Invalid {
		t.Error(err)
	}
	before := b.last(t)
	d, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: bought})
	if err != nil || d.UserID != some(lyceum.UserID(4)) {
		t.Fatalf("%+v %v", d.Sale, err)
	}
	if _, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: bought}); lyceum.Public(err).Code != "order_completed" {
		t.Error(err)
	}
	if _, err := b.service.AbandonOrder(t.Context(), b.by(), left); err != nil {
		t.Fatal(err)
	}
	if _, err := b.service.AbandonOrder(t.Context(), b.by(), left); lyceum.Public(err).Code != "order_closed" {
		t.Error(err)
	}
	if err := b.service.Abandon(t.Context(), b.school); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Hour)
	if err := b.service.Abandon(t.Context(), b.school); err != nil {
		t.Fatal(err)
	}
	want := []string{"User.created 4", "Sale.created 1", "Transaction.created 1", "Enrollment.created 1", "AbandonedOrder.created 2", "AbandonedOrder.created 3"}
	if diff := cmp.Diff(want, b.events(t, before)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: late}); err != nil || d.ID != 2 {
		t.Errorf("who comes back buys: %+v %v", d.Sale, err)
	}
	b.healthy(t, b.store)
}

func TestR18_OnceForAKey(t *testing.T) {
	b := newBooks(t)
	once := func(key, request string) lyceum.By {
		by := b.by()
		by.Once = &lyceum.Once{Key: key, Request: lyceum.KeyHash{request[0]}, Render: func(v any) ([]byte, error) {
			return fmt.Appendf(nil, "sale %d", v.(sales.SaleDetail).ID), nil
		}}
		return by
	}
	outcomes := make(chan error, 50)
	for range 50 {
		go func() {
			_, err := b.service.Record(t.Context(), once("k", "a"), sales.NewSale{User: 1, Plan: 1})
			outcomes <- err
		}()
	}
	fresh := 0
	for range 50 {
		err := <-outcomes
		repeated, ok := errors.AsType[*lyceum.RepeatError](err)
		switch {
		case err == nil:
			fresh++
		case !ok || string(repeated.Body) != "sale 1":
			t.Errorf("%v", err)
		}
	}
	if fresh != 1 {
		t.Errorf("%d effects of one key", fresh)
	}
	if _, err := b.service.Record(t.Context(), once("k", "b"), sales.NewSale{User: 2, Plan: 1}); lyceum.Public(err).Code != "idempotency_key_reused" {
		t.Errorf("another request with the key: %v", err)
	}
	// A failed request leaves nothing behind, so it can be corrected with the same key.
	if _, err := b.service.Record(t.Context(), once("f", "a"), sales.NewSale{User: 99, Plan: 1}); lyceum.KindOf(err) != lyceum.Invalid {
		t.Error(err)
	}
	if d, err := b.service.Record(t.Context(), once("f", "c"), sales.NewSale{User: 2, Plan: 1}); err != nil || d.ID != 2 {
		t.Errorf("%+v %v", d.Sale, err)
	}
}
