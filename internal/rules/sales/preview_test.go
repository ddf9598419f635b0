package sales_test

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func (b *books) choose(t *testing.T, policy lyceum.SalePolicy) {
	t.Helper()
	err := b.store.Write(t.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "test"}, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.Policy = policy }) })
	if err != nil {
		t.Fatal(err)
	}
}

var firstPage = lyceum.Page{Number: 1, Size: 100}

// lines formats what a preview says about access, such as "course 1 ends 2026-01-31".
func lines(p *lyceum.AccessPreview) string {
	var told []string
	for i := range p.Changes.Rows {
		c := &p.Changes.Rows[i]
		line := fmt.Sprint(c.Product, " ", c.Effect())
		if c.Is.Ends.Present {
			line += " " + c.Is.Ends.Value.Format(time.DateOnly)
		}
		for _, e := range c.Keeps {
			line += fmt.Sprint(" (sale ", e.Sale.Value, " of ", e.Product, ")")
		}
		told = append(told, line)
	}
	return strings.Join(told, "; ")
}

// What a preview says is what happens.
func TestPreviewOfACancellation(t *testing.T) {
	for _, tc := range []struct {
		policy lyceum.Consequence
		wait   time.Duration
		plan   lyceum.PricingPlanID
		says   string
		access string
	}{
		{lyceum.Unenroll, 0, 2, "course 1 ends", "course 1 ended 2026-01-31"},
		{lyceum.Keep, 0, 2, "", "course 1"},
		{lyceum.AtPeriodEnd, 0, 2, "course 1 ends_earlier 2026-02-28 (sale 1 of course 1)", "course 1 until 2026-02-28"},
		{lyceum.AtPeriodEnd, 60 * 24 * time.Hour, 2, "course 1 ends", "course 1 ended 2026-04-01"},
		{lyceum.Unenroll, 0, 8, "", ""},
	} {
		t.Run(fmt.Sprint(tc.policy, tc.wait, tc.plan), func(t *testing.T) {
			b := newBooks(t)
			err := b.store.Write(t.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "test"}, func(tx lyceum.Tx) error {
				_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 8, Name: "Newsletter", Price: 100, Currency: "USD", Frequency: lyceum.Subscription})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			policy := lyceum.DefaultSalePolicy()
			policy.OnCancellation = tc.policy
			b.choose(t, policy)
			id := b.sell(t, sales.NewSale{User: 1, Plan: tc.plan, Amounts: sales.Amounts{Charge: some(lyceum.USDCents(map[lyceum.PricingPlanID]int64{2: 550, 8: 100}[tc.plan]))}}).ID
			b.now = b.now.Add(tc.wait)
			before := b.last(t)
			p, err := b.service.PreviewCancel(t.Context(), b.by(), sales.Ending{Sale: id}, firstPage)
			if err != nil || !p.EndsSale || p.Sale.EndReason != some(lyceum.SaleCanceled) || p.Money.Present || lines(&p.AccessPreview) != tc.says {
				t.Fatalf("the preview is %+v, %v; want %q", p, err, tc.says)
			}
			if b.last(t) != before {
				t.Error("to look has changed something")
			}
			got, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: id})
			if err != nil {
				t.Fatal(err)
			}
			got.UpdatedAt = p.Sale.UpdatedAt // set by the store
			if diff := cmp.Diff(p.Sale, got); diff != "" {
				t.Errorf("the sale (-preview +act):\n%s", diff)
			}
			if got := strings.Join(b.access(t, 1), "; "); got != tc.access {
				t.Errorf("the access is %q, want %q", got, tc.access)
			}
			if _, err := b.service.PreviewCancel(t.Context(), b.by(), sales.Ending{Sale: id}, firstPage); lyceum.Public(err).Code != "sale_ended" {
				t.Errorf("a second time: %v", err)
			}
		})
	}
	b := newBooks(t)
	once := b.sell(t, sales.NewSale{User: 1, Plan: 1}).ID
	monthly := b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: sales.Amounts{Charge: some(lyceum.USDCents(550))}}).ID
	p, err := b.service.PreviewCancel(t.Context(), b.by(), sales.Ending{Sale: monthly}, firstPage)
	if err != nil || lines(&p.AccessPreview) != "course 1 stays (sale 1 of course 1) (sale 2 of course 1)" || p.People.Keeping != 1 {
		t.Errorf("of what was also bought once: %q, %v", lines(&p.AccessPreview), err)
	}
	if _, err := b.service.PreviewCancel(t.Context(), b.by(), sales.Ending{Sale: once}, firstPage); lyceum.Public(err).Code != "not_recurring" {
		t.Errorf("of what is paid once: %v", err)
	}
	if _, err := b.service.PreviewCancel(t.Context(), b.by(), sales.Ending{Sale: 99}, firstPage); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("of what is not there: %v", err)
	}
	if _, err := b.service.PreviewCancel(t.Context(), lyceum.By{School: b.school + 1, Actor: "test"}, sales.Ending{Sale: once}, firstPage); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("of another school: %v", err)
	}
}

func TestPreviewOfARefund(t *testing.T) {
	for _, tc := range []struct {
		policy lyceum.Consequence
		amount lyceum.Opt[lyceum.Minor] // of 2099, of which the price is 1999
		asked  lyceum.Opt[bool]
		ends   bool
		access []string
	}{
		{lyceum.Unenroll, some(lyceum.Minor(1998)), lyceum.None[bool](), false, []string{"course 1"}},
		{lyceum.Unenroll, some(lyceum.Minor(1999)), lyceum.None[bool](), true, []string{"course 1 ended 2026-01-31"}},
		{lyceum.Unenroll, lyceum.None[lyceum.Minor](), lyceum.None[bool](), true, []string{"course 1 ended 2026-01-31"}},
		{lyceum.Keep, lyceum.None[lyceum.Minor](), lyceum.None[bool](), false, []string{"course 1"}},
		{lyceum.Keep, lyceum.None[lyceum.Minor](), some(true), true, []string{"course 1 ended 2026-01-31"}},
		{lyceum.Unenroll, lyceum.None[lyceum.Minor](), some(false), false, []string{"course 1"}},
		{lyceum.Keep, some(lyceum.Minor(1)), some(true), true, []string{"course 1 ended 2026-01-31"}},
	} {
		t.Run(fmt.Sprint(tc.policy, tc.amount, tc.asked), func(t *testing.T) {
			b := newBooks(t)
			policy := lyceum.DefaultSalePolicy()
			policy.OnRefund = tc.policy
			b.choose(t, policy)
			d := b.sell(t, sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(100))}})
			refund := sales.Refund{Transaction: d.Transactions[0].ID, Amount: tc.amount, EndAccess: tc.asked, Reference: some("re_1")}
			p, err := b.service.PreviewRefund(t.Context(), b.by(), refund, firstPage)
			if err != nil || p.EndsSale != tc.ends || (lines(&p.AccessPreview) == "course 1 ends") != tc.ends || p.People.Losing != int64(len(p.Changes.Rows)) {
				t.Fatalf("the preview is %+v, %v", p, err)
			}
			got, err := b.service.Refund(t.Context(), b.by(), refund)
			m := p.Money.Value
			if err != nil || !cmp.Equal(got.Transaction, m.Transaction) || got.AmountRefunded != m.Refunded.Price || got.TaxRefunded != m.Refunded.Tax || m.Refunded.Plus(m.Left) != (lyceum.Part{Price: 1999, Tax: 100}) {
				t.Fatalf("%+v, %v; %+v was foreseen", got, err, m)
			}
			if diff := cmp.Diff(tc.access, b.access(t, 1)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			sale, err := b.service.Show(t.Context(), b.by(), d.ID)
			if diff := cmp.Diff(p.Sale, sale.Sale); err != nil || diff != "" {
				t.Errorf("the sale (-preview +act): %v\n%s", err, diff)
			}
			again, err := b.service.PreviewRefund(t.Context(), b.by(), refund, firstPage)
			if err != nil || again.Changes.Total != 0 || again.EndsSale || again.Money.Value.Refunded.Total() != 0 {
				t.Errorf("the same refund once more: %+v, %v", again, err)
			}
		})
	}
}

// A dispute takes money when it is opened and access when it is lost, and returns both when it
// is won.
func TestPreviewOfADispute(t *testing.T) {
	b := newBooks(t)
	d := b.sell(t, sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(100))}})
	id := d.Transactions[0].ID
	opening := sales.NewDispute{Transaction: id, Fee: 1500}
	p, err := b.service.PreviewOpenDispute(t.Context(), b.by(), opening, firstPage)
	if err != nil || p.Changes.Total != 0 || p.Money.Value.Disputed != (lyceum.Part{Price: 1999, Tax: 100}) || p.Money.Value.Fee != 1500 || p.Money.Value.Left.Total() != 0 {
		t.Errorf("opened: %+v, %v", p, err)
	}
	if _, err := b.service.PreviewCloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeLost}, firstPage); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("a preview has opened a dispute: %v", err)
	}
	if _, err := b.service.OpenDispute(t.Context(), b.by(), opening); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		outcome  sales.DisputeOutcome
		says     string
		disputed lyceum.Minor
		fee      lyceum.Minor
	}{
		{sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeLost}, "course 1 ends", 0, 0},
		{sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeLost}, "", 0, 0},
		{sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeWon, FeeReturned: some(true)}, "course 1 opens (sale 1 of course 1)", -2099, -1500},
	} {
		p, err := b.service.PreviewCloseDispute(t.Context(), b.by(), tc.outcome, firstPage)
		if m := p.Money.Value; err != nil || lines(&p.AccessPreview) != tc.says || m.Disputed.Total() != tc.disputed || m.Fee != tc.fee {
			t.Errorf("%s: %q, %+v, %v", tc.outcome.State, lines(&p.AccessPreview), m, err)
		}
		if _, err := b.service.CloseDispute(t.Context(), b.by(), tc.outcome); err != nil {
			t.Fatal(err)
		}
	}
}

// The preview of a refund rejects what Refund rejects, with the same error.
func TestPreviewRefuses(t *testing.T) {
	b := newBooks(t)
	paid := func(user lyceum.UserID) lyceum.TransactionID {
		return b.sell(t, sales.NewSale{User: user, Plan: 1}).Transactions[0].ID
	}
	free, open, won, lost, gone, good := b.sell(t, sales.NewSale{User: 1, Plan: 4}).Transactions[0].ID, paid(1), paid(1), paid(2), paid(2), paid(3)
	for _, id := range []lyceum.TransactionID{open, won, lost} {
		if _, err := b.service.OpenChargeback(t.Context(), b.by(), sales.Chargeback{Transaction: id, Fee: 100}); err != nil {
			t.Fatal(err)
		}
	}
	for id, outcome := range map[lyceum.TransactionID]lyceum.DisputeState{won: lyceum.DisputeWon, lost: lyceum.DisputeLost} {
		if _, err := b.service.CloseChargeback(t.Context(), b.by(), sales.Outcome{Transaction: id, State: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: gone}); err != nil {
		t.Fatal(err)
	}
	long := some(strings.Repeat("ü", 501))
	for _, tc := range []struct {
		name   string
		id     lyceum.TransactionID
		refund sales.Refund
		want   string
	}{
		{"free", free, sales.Refund{}, "nothing was charged"},
		{"open chargeback", open, sales.Refund{}, "the bank holds the money"},
		{"lost chargeback", lost, sales.Refund{}, "by a chargeback"},
		{"refunded", gone, sales.Refund{}, "fully refunded"},
		{"unknown", 99, sales.Refund{}, ""},
		{"nothing", good, sales.Refund{Amount: some(lyceum.Minor(0))}, "amount must be at least 1"},
		{"a total of nothing", good, sales.Refund{Total: some(lyceum.Minor(0))}, "total must be at least 1"},
		{"amount and total", good, sales.Refund{Amount: some(lyceum.Minor(1)), Total: some(lyceum.Minor(1))}, "total must not be sent together with amount"},
		{"more than is left", good, sales.Refund{Amount: some(lyceum.Minor(2000))}, "at most 1999 is left of transaction"},
		{"a total beyond what is left", good, sales.Refund{Total: some(lyceum.Minor(2000))}, "at most 1999 is left of transaction"},
		{"long reason", good, sales.Refund{Reason: long}, "reason must be at most 500 characters long"},
		{"long reference", good, sales.Refund{Reference: long}, "reference must be at most 500 characters long"},
		{"NUL", good, sales.Refund{Reason: some("a\x00b")}, "reason must be UTF-8 text without NUL characters"},
		{"no UTF-8", good, sales.Refund{Reason: some("a\xff")}, "reason must be UTF-8 text without NUL characters"},
	} {
		tc.refund.Transaction = tc.id
		_, foreseen := b.service.PreviewRefund(t.Context(), b.by(), tc.refund, firstPage)
		_, happened := b.service.Refund(t.Context(), b.by(), tc.refund)
		if foreseen == nil || happened == nil || foreseen.Error() != happened.Error() || !strings.Contains(happened.Error(), tc.want) {
			t.Errorf("%s: foreseen %v, happened %v, want %q", tc.name, foreseen, happened, tc.want)
		}
	}
	for _, id := range []lyceum.TransactionID{won, good} { // 500 characters are allowed, and money that came back can be refunded
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, Reason: some(strings.Repeat("ü", 500))}); err != nil {
			t.Error(err)
		}
	}
}

// Access that a lost dispute cut short to that of a shorter purchase lasts longer again when
// the dispute is won.
func TestPreviewOfALongerPurchase(t *testing.T) {
	b := newBooks(t)
	b.sell(t, sales.NewSale{User: 1, Plan: 3})
	id := b.sell(t, sales.NewSale{User: 1, Plan: 7}).Transactions[0].ID
	if _, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: id}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		state lyceum.DisputeState
		says  string
		then  lyceum.AccessCount
	}{
		{lyceum.DisputeLost, "course 2 ends_earlier 2026-07-31 (sale 1 of course 2)", lyceum.AccessCount{Losing: 1}},
		{lyceum.DisputeWon, "course 2 ends_later (sale 2 of course 2) (sale 1 of course 2)", lyceum.AccessCount{Gaining: 1}},
	} {
		o := sales.DisputeOutcome{Dispute: 1, State: tc.state}
		p, err := b.service.PreviewCloseDispute(t.Context(), b.by(), o, firstPage)
		if err != nil || lines(&p.AccessPreview) != tc.says || p.People != tc.then {
			t.Errorf("%s: %q, %+v, %v", tc.state, lines(&p.AccessPreview), p.People, err)
		}
		if _, err := b.service.CloseDispute(t.Context(), b.by(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// A change of plan ends one sale and links to another; the full refund of that reopens the
// first one, and its preview says so.
func TestPreviewOfAChangeOfPlan(t *testing.T) {
	b := newBooks(t)
	old := b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: sales.Amounts{Charge: some(lyceum.USDCents(550))}}).ID
	change := sales.PlanChange{Ending: sales.Ending{Sale: old}, NewSale: sales.NewSale{Plan: 1, Reference: some("ch_2")}}
	p, err := b.service.PreviewChangePlan(t.Context(), b.by(), change, firstPage)
	if err != nil || !p.EndsSale || p.Reopens.Present || p.Money.Present || lines(&p.AccessPreview) != "course 1 stays (sale 2 of course 1)" {
		t.Errorf("the change: %+v, %q, %v", p, lines(&p.AccessPreview), err)
	}
	fresh, err := b.service.ChangePlan(t.Context(), b.by(), change)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.service.PreviewChangePlan(t.Context(), b.by(), change, firstPage)
	if err != nil || again.EndsSale || again.Changes.Total != 0 {
		t.Errorf("the same change once more: %+v, %v", again, err)
	}
	r := sales.Refund{Transaction: fresh.Transactions[0].ID}
	p, err = b.service.PreviewRefund(t.Context(), b.by(), r, firstPage)
	if err != nil || !p.EndsSale || p.Reopens != some(old) || lines(&p.AccessPreview) != "course 1 stays (sale 1 of course 1)" {
		t.Errorf("the refund: %+v, %q, %v", p, lines(&p.AccessPreview), err)
	}
	if _, err := b.service.Refund(t.Context(), b.by(), r); err != nil {
		t.Fatal(err)
	}
	if sale, err := b.service.Show(t.Context(), b.by(), old); err != nil || sale.EndedAt.Present {
		t.Errorf("the sale that opens again: %+v, %v", sale.Sale, err)
	}
}

// A refund of one of two purchases takes no access, and its preview says so; a bundle is listed
// course by course.
func TestPreviewOfASecondPurchase(t *testing.T) {
	b := newBooks(t)
	b.bundle(t)
	first, second := b.sell(t, sales.NewSale{User: 1, Plan: 1}), b.sell(t, sales.NewSale{User: 1, Plan: 20})
	for _, tc := range []struct {
		sale *sales.SaleDetail
		says string
		then lyceum.AccessCount
	}{
		{&second, "course 2 ends; course 1 stays (sale 1 of course 1)", lyceum.AccessCount{Losing: 1}},
		{&first, "course 1 stays (sale 2 of product collection 1)", lyceum.AccessCount{Keeping: 1}},
	} {
		p, err := b.service.PreviewRefund(t.Context(), b.by(), sales.Refund{Transaction: tc.sale.Transactions[0].ID}, firstPage)
		if err != nil || !p.EndsSale || lines(&p.AccessPreview) != tc.says || p.People != tc.then {
			t.Errorf("sale %d: %q, %+v, %v", tc.sale.ID, lines(&p.AccessPreview), p.People, err)
		}
		if p.Users[1].Email != "a@example.com" || p.Names[lyceum.CourseID(1).Product()].Name != "Pottery" {
			t.Errorf("names: %v, %v", p.Users, p.Names)
		}
	}
	p, err := b.service.PreviewRefund(t.Context(), b.by(), sales.Refund{Transaction: second.Transactions[0].ID}, lyceum.Page{Number: 2, Size: 1})
	if err != nil || lines(&p.AccessPreview) != "course 1 stays (sale 1 of course 1)" || p.Changes.Total != 2 || p.Changes.More || len(p.Products) != 2 {
		t.Errorf("the second page: %q of %d, %v", lines(&p.AccessPreview), p.Changes.Total, err)
	}
}

// bundle creates collection 1 of courses 1 and 2, sold by plan 20.
func (b *books) bundle(t *testing.T) {
	t.Helper()
	err := b.store.Write(t.Context(), b.by().Stamp(b.now), func(tx lyceum.Tx) error {
		bundle := lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
		_, e1 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: b.now, UpdatedAt: b.now})
		_, e2 := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: 1, In: 1, Product: lyceum.CourseID(1).Product(), CreatedAt: b.now},
			lyceum.CollectionProduct{ID: 2, In: 1, Product: lyceum.CourseID(2).Product(), CreatedAt: b.now})
		_, e3 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 20, Other: some(bundle), Name: "All", Price: 900, Currency: "USD", Frequency: lyceum.OneTimePayment})
		return errors.Join(e1, e2, e3)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPreviewLeavesNothing checks that previews of every act leave all tables unchanged and use
// up neither an Idempotency-Key nor a reference.
func TestPreviewLeavesNothing(t *testing.T) {
	dir, address := t.TempDir(), storetest.Postgres(t)
	for engine, open := range map[string]func() (lyceum.Store, *sql.DB, error){
		"SQLite": func() (lyceum.Store, *sql.DB, error) {
			store, e1 := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
			db, e2 := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlstore.FileName)+"?mode=ro")
			return store, db, errors.Join(e1, e2)
		},
		"PostgreSQL": func() (lyceum.Store, *sql.DB, error) {
			store, e1 := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
			db, e2 := sql.Open("pgx", address)
			return store, db, errors.Join(e1, e2)
		},
	} {
		t.Run(engine, func(t *testing.T) {
			store, db, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = store.Close(), db.Close() }()
			previewAll(t, openBooks(t, store), db)
		})
	}
}

func previewAll(t *testing.T, b *books, db *sql.DB) {
	b.bundle(t)
	ctx := t.Context()
	once := b.sell(t, sales.NewSale{User: 1, Plan: 20})
	monthly := b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: sales.Amounts{Charge: some(lyceum.USDCents(550))}})
	disputed := b.sell(t, sales.NewSale{User: 2, Plan: 1}).Transactions[0].ID
	if _, err := b.service.OpenDispute(ctx, b.by(), sales.NewDispute{Transaction: disputed}); err != nil {
		t.Fatal(err)
	}
	id, by := once.Transactions[0].ID, b.by()
	by.Once = &lyceum.Once{Key: "key", Render: func(any) ([]byte, error) { return nil, nil }}
	refund := sales.Refund{Transaction: id, Reference: some("re_1"), EndAccess: some(true)}
	removal := learning.Removal[lyceum.ProductCollectionID]{ProductIn: learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: lyceum.CourseID(1).Product()}}
	before := tablesOf(t, db)
	lost := sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeLost}
	for name, look := range map[string]func() (any, error){
		"refund": func() (any, error) { return b.service.PreviewRefund(ctx, by, refund, firstPage) },
		"cancel": func() (any, error) {
			return b.service.PreviewCancel(ctx, by, sales.Ending{Sale: monthly.ID}, firstPage)
		},
		"end": func() (any, error) { return b.service.PreviewEndNow(ctx, by, sales.Ending{Sale: once.ID}, firstPage) },
		"unenroll": func() (any, error) {
			return b.learning.PreviewUnenroll(ctx, by, learning.UserProduct{User: 1, Product: lyceum.CourseID(1).Product()}, firstPage)
		},
		"close": func() (any, error) { return b.service.PreviewCloseDispute(ctx, by, lost, firstPage) },
		"remove": func() (any, error) {
			return b.learning.CollectionProducts().PreviewRemove(ctx, by, removal, firstPage)
		},
		"open": func() (any, error) {
			return b.service.PreviewOpenDispute(ctx, by, sales.NewDispute{Transaction: id, Reference: some("dp_1")}, firstPage)
		},
		"open the only one": func() (any, error) {
			return b.service.PreviewOpenChargeback(ctx, by, sales.Chargeback{Transaction: id, Fee: 1}, firstPage)
		},
		"close the only one": func() (any, error) {
			return b.service.PreviewCloseChargeback(ctx, by, sales.Outcome{Transaction: disputed, State: lyceum.DisputeLost}, firstPage)
		},
	} {
		if _, err := look(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for table, rows := range tablesOf(t, db) {
			if diff := cmp.Diff(before[table], rows); diff != "" {
				t.Errorf("%s left something in %s (-before +after):\n%s", name, table, diff)
			}
		}
	}
	if _, err := b.service.Refund(ctx, by, refund); err != nil {
		t.Errorf("the refund after its preview: %v", err)
	}
	if maps.EqualFunc(before, tablesOf(t, db), slices.Equal) {
		t.Error("a refund leaves the tables as they were")
	}
}

// tablesOf returns all rows of all tables of a database, sorted.
func tablesOf(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	var names []string
	rows, err := db.QueryContext(t.Context(), "SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		rows, err = db.QueryContext(t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
	}
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, name := range names {
		all[name] = rowsOf(t, db, name)
	}
	return all
}

func rowsOf(t *testing.T, db *sql.DB, table string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(any)
		}
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		for i := range row {
			row[i] = *row[i].(*any)
		}
		all = append(all, fmt.Sprintf("%v", row))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
