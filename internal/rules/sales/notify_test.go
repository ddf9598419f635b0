package sales_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// optional are the emails that a school can turn on.
var optional = []lyceum.EmailKind{
	lyceum.ReceiptEmail, lyceum.PaymentFailedEmail, lyceum.AccessEndedEmail, lyceum.AbandonedOrderEmail,
}

// mailed is a school whose buyers get emails.
type mailed struct {
	*books

	mail *templates.Service
}

func openMailed(t *testing.T, store lyceum.Store, on ...lyceum.EmailKind) *mailed {
	t.Helper()
	m := &mailed{books: openBooks(t, store)}
	m.serve(func(context.Context, templates.Message) error { return nil })
	storetest.Write(t, store, m.school, func(tx lyceum.Tx) error {
		return tx.ChangeSchool(func(s *lyceum.School) {
			for _, kind := range on {
				s.Emails = s.Emails.With(kind, true)
			}
		})
	})
	return m
}

// serve creates the services of a server that sends emails with send; nil: it has no mail
// server.
func (m *mailed) serve(send templates.Send) {
	clock := func() time.Time { return m.now }
	m.mail = templates.New(m.store, clock, templates.Options{Log: slog.New(slog.DiscardHandler), Send: send})
	m.service = sales.New(m.store, clock, m.learning, people.New(m.store, clock)).Notifying(m.mail.Notify)
}

// sent makes the waiting emails, and returns for each what it is, and who gets it or why it is
// canceled.
func (m *mailed) sent(t *testing.T) (told []string, texts []string) {
	t.Helper()
	claimed, err := m.mail.Claim(t.Context(), m.school, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range claimed {
		made, canceled, err := m.mail.Make(t.Context(), &claimed[i])
		if err != nil {
			t.Fatal(err)
		}
		if canceled == "" {
			canceled = made.To
		}
		told = append(told, fmt.Sprintf("%s: %s", templates.NameOf(claimed[i].Kind), canceled))
		texts = append(texts, made.Subject+"\n"+made.Text)
	}
	return told, texts
}

// deed is something that happens in a school.
type deed func(context.Context, *mailed) error

// did turns a method that also returns a result into a deed.
func did[Q, T any](do func(*sales.Service, context.Context, lyceum.By, Q) (T, error), q Q) deed {
	return func(ctx context.Context, m *mailed) error {
		_, err := do(m.service, ctx, m.by(), q)
		return err
	}
}

func passed(d time.Duration) deed {
	return func(_ context.Context, m *mailed) error {
		m.now = m.now.Add(d)
		return nil
	}
}

// TestBuyersAreTold checks when each optional email is sent according to
// contract/lyceum/email_templates.yaml. Everything starts on 31 January 2026 at noon.
func TestBuyersAreTold(t *testing.T) {
	opened, day := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), 24*time.Hour
	const (
		receipt, failed = "receipt: a@example.com", "payment_failed: a@example.com"
		ended           = "access_ended: a@example.com"
	)
	sell := func(n sales.NewSale) deed { return did((*sales.Service).Record, n) }
	once, monthly := sell(sales.NewSale{User: 1, Plan: 1}), sell(sales.NewSale{User: 1, Plan: 2, Amounts: charged(2)})
	paidAt := func(plan lyceum.PricingPlanID, at time.Time) deed {
		n := sales.NewSale{User: 1, Plan: plan, Reference: some("ch_1"), Amounts: charged(plan)}
		n.OccurredAt = some(at)
		return sell(n)
	}
	renew := did((*sales.Service).Renew, sales.Renewal{Sale: 1, Amounts: charged(2)})
	fail := did((*sales.Service).FailPayment, sales.NewFailure{Sale: 1, Reference: some("fail_1")})
	failAt := func(at time.Time) deed {
		return did((*sales.Service).FailPayment, sales.NewFailure{Sale: 1, OccurredAt: some(at)})
	}
	cancel := did((*sales.Service).Cancel, sales.Ending{Sale: 1})
	refund := func(r sales.Refund) deed {
		r.Transaction = 1
		return did((*sales.Service).Refund, r)
	}
	on := func(change func(*lyceum.SalePolicy)) deed {
		return func(ctx context.Context, m *mailed) error {
			policy := lyceum.DefaultSalePolicy()
			change(&policy)
			return m.configure(ctx, policy, lyceum.UTC)
		}
	}
	cancelAt := func(c lyceum.Consequence) deed { return on(func(p *lyceum.SalePolicy) { p.OnCancellation = c }) }
	clock := func(ctx context.Context, m *mailed) error {
		for _, due := range []func(context.Context, lyceum.SchoolID) error{
			m.learning.Expire, m.service.EndPeriods, m.service.Lapse, m.service.Abandon,
		} {
			if err := due(ctx, m.school); err != nil {
				return err
			}
		}
		return nil
	}
	course := learning.UserProduct{User: 1, Product: lyceum.CourseID(1).Product()}
	give := func(ctx context.Context, m *mailed) error {
		_, err := m.learning.Give(ctx, m.by(), learning.Gift{UserProduct: course})
		return err
	}
	order := func(address string) deed {
		return did((*sales.Service).OpenOrder, sales.NewOrder{Email: address, Plan: 1, ReturnURL: some("https://shop.example.com/cart/7")})
	}
	complete := did((*sales.Service).CompleteOrder, sales.OrderPayment{Order: 1})
	abandon := did((*sales.Service).AbandonOrder, lyceum.OrderID(1))
	erase := func(user lyceum.UserID) deed {
		return func(ctx context.Context, m *mailed) error {
			_, err := people.New(m.store, func() time.Time { return m.now }).Erase(ctx, m.by(), user, people.Doors{
				Close: m.learning.Close,
				Left:  func(lyceum.SchoolID, string) {},
			})
			return err
		}
	}
	off := func(name templates.EmailName) deed {
		return func(ctx context.Context, m *mailed) error {
			_, err := m.mail.Change(ctx, m.by(), templates.Draft{Name: name, Enabled: some(false)})
			return err
		}
	}

	rows := []struct {
		name  string
		deeds []deed
		told  []string
	}{
		{"a payment", []deed{once}, []string{receipt}},
		{"each payment", []deed{monthly, renew}, []string{receipt, receipt}},
		{"the same payment again", []deed{paidAt(1, opened), paidAt(1, opened)}, []string{receipt}},
		{"nothing to pay", []deed{sell(sales.NewSale{User: 1, Plan: 4})}, nil},
		{"a trial", []deed{sell(sales.NewSale{User: 1, Plan: 6, Amounts: charged(6)})}, nil},
		{"a payment a day ago", []deed{paidAt(1, opened.Add(-day))}, []string{receipt}},
		{"a payment before that", []deed{paidAt(1, opened.Add(-day-time.Second))}, nil},
		{"an order that was paid", []deed{order("new@example.com"), complete}, []string{"receipt: new@example.com"}},
		{"a payment that is refunded before the email is sent", []deed{once, refund(sales.Refund{EndAccess: some(false)})}, []string{"receipt: the payment was refunded"}},
		{"a payment that is refunded in part", []deed{once, refund(sales.Refund{Amount: some(lyceum.Minor(1))})}, []string{receipt}},
		{"a payment of somebody who was erased", []deed{once, erase(1)}, nil},
		{"receipts are turned off meanwhile", []deed{once, off(templates.Receipt), once}, []string{"receipt: the school has turned it off"}},
		{"an import", []deed{func(ctx context.Context, m *mailed) error {
			_, problems, err := m.service.Import(m.by(), lyceum.RefuseMissing).Save(ctx, []lyceum.Transaction{{
				ID: 1, UserID: 1, PricingPlanID: 1, SaleID: 1, CreatedAt: opened, PurchasedAt: opened, Charge: 1999, FinalPrice: 1999,
				Currency: "USD", Revenue: 1999, Paid: true,
			}})
			if err == nil && len(problems) > 0 {
				err = fmt.Errorf("%+v", problems)
			}
			return err
		}}, nil},

		{"a failed payment", []deed{monthly, passed(time.Hour), fail}, []string{receipt, failed}},
		{"the same failed payment again", []deed{monthly, passed(day), fail, fail}, []string{receipt, failed}},
		{"a payment that failed a day ago", []deed{monthly, passed(2 * day), failAt(opened.Add(day))}, []string{receipt, failed}},
		{"a payment that failed before that", []deed{monthly, passed(2 * day), failAt(opened.Add(day - time.Second))}, []string{receipt}},
		{"paid since it failed", []deed{monthly, passed(day), fail, passed(time.Hour), renew}, []string{receipt, "payment_failed: the sale was paid for since", receipt}},
		{"ended since it failed", []deed{monthly, passed(day), fail, cancel}, []string{receipt, "payment_failed: the sale has ended"}},

		{"a refund", []deed{once, refund(sales.Refund{Amount: some(lyceum.Minor(1999))})}, []string{"receipt: the payment was refunded", ended}},
		{"a refund that keeps access", []deed{monthly, refund(sales.Refund{EndAccess: some(false), Amount: some(lyceum.Minor(1))})}, []string{receipt}},
		{"a part that ends access", []deed{once, refund(sales.Refund{EndAccess: some(true), Amount: some(lyceum.Minor(1))})}, []string{receipt, ended}},
		{"a refund a day ago", []deed{once, passed(2 * day), refund(sales.Refund{OccurredAt: some(opened.Add(day))})}, []string{"receipt: the payment was refunded", ended}},
		{"a refund before that", []deed{once, passed(2 * day), refund(sales.Refund{OccurredAt: some(opened.Add(day - time.Second))})}, []string{"receipt: the payment was refunded"}},
		{"what a refund would do", []deed{once, func(ctx context.Context, m *mailed) error {
			_, err := m.service.PreviewRefund(ctx, m.by(), sales.Refund{Transaction: 1}, lyceum.Page{Number: 1, Size: 10})
			return err
		}}, []string{receipt}},
		{"a dispute that is lost", []deed{
			once, did((*sales.Service).OpenDispute, sales.NewDispute{Transaction: 1}),
			did((*sales.Service).CloseDispute, sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeLost}),
		}, []string{receipt, ended}},
		{"lost, and won before the email is sent", []deed{
			once, did((*sales.Service).OpenDispute, sales.NewDispute{Transaction: 1}),
			did((*sales.Service).CloseDispute, sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeLost}),
			did((*sales.Service).CloseDispute, sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeWon}),
		}, []string{receipt, "access_ended: the sale was opened again"}},
		{"voided", []deed{once, did((*sales.Service).EndNow, sales.Ending{Sale: 1})}, []string{receipt, ended}},
		{"cancelled, before its period ends", []deed{monthly, cancel, passed(28*day - time.Second), clock}, []string{receipt}},
		{"cancelled, when its period ends", []deed{monthly, cancel, passed(28 * day), clock, clock}, []string{receipt, ended}},
		{"cancelled, and noted more than a day late", []deed{monthly, cancel, passed(29*day + time.Second), clock}, []string{receipt}},
		{"cancelled at once", []deed{cancelAt(lyceum.Unenroll), monthly, cancel}, []string{receipt, ended}},
		{"cancelled at once, then refunded", []deed{cancelAt(lyceum.Unenroll), monthly, cancel, refund(sales.Refund{})}, []string{"receipt: the payment was refunded", ended}},
		{"cancelled, and access stays", []deed{cancelAt(lyceum.Keep), monthly, cancel, passed(40 * day), clock}, []string{receipt}},
		{"cancelled, and less is paid for", []deed{monthly, renew, cancel, passed(30 * day), refund(sales.Refund{})}, []string{"receipt: the payment was refunded", receipt, ended}},
		{"lapsed", []deed{monthly, passed(43 * day), clock, clock}, []string{receipt, ended}},
		{"lapsed, and noted more than a day late", []deed{monthly, passed(44*day + time.Second), clock}, []string{receipt}},
		{"lapsed, and paid before the email is sent", []deed{monthly, passed(43 * day), clock, renew}, []string{receipt, "access_ended: the sale was opened again", receipt}},
		{"lapsed, with access by hand", []deed{monthly, give, passed(43 * day), clock}, []string{receipt, "access_ended: the user has access for another reason"}},
		{"another plan", []deed{monthly, did((*sales.Service).ChangePlan, to(1, 6, ""))}, []string{receipt, receipt}},
		{"another plan, then nothing", []deed{
			monthly, did((*sales.Service).ChangePlan, to(1, 6, "")), did((*sales.Service).EndNow, sales.Ending{Sale: 2}),
		}, []string{receipt, receipt, ended}},
		{"another plan when the period ends", []deed{
			monthly, did((*sales.Service).ChangePlan, sales.PlanChange{Ending: sales.Ending{Sale: 1}, NewSale: sales.NewSale{Plan: 6}, AtPeriodEnd: true}),
			passed(28 * day), clock,
		}, []string{receipt}},
		{"unenrolled by hand", []deed{once, func(ctx context.Context, m *mailed) error {
			return m.learning.Unenroll(ctx, m.by(), course)
		}}, []string{receipt}},
		{"an old sale that is recorded today, and cancelled", []deed{cancelAt(lyceum.Unenroll), paidAt(2, opened.Add(-2*day)), cancel}, nil},
		{"one that was recorded yesterday", []deed{cancelAt(lyceum.Unenroll), paidAt(2, opened.Add(-2*day)), passed(day + time.Second), cancel}, []string{ended}},

		{"abandoned", []deed{order("new@example.com"), abandon}, []string{"order_abandoned: new@example.com"}},
		{"abandoned by a user", []deed{order("A@example.com"), abandon}, []string{"order_abandoned: A@example.com"}},
		{"abandoned by the clock", []deed{order("new@example.com"), passed(time.Hour), clock, clock}, []string{"order_abandoned: new@example.com"}},
		{"abandoned, and noted more than a day late", []deed{order("new@example.com"), passed(25*time.Hour + time.Second), clock}, nil},
		{"abandoned without return_url", []deed{did((*sales.Service).OpenOrder, sales.NewOrder{Email: "new@example.com", Plan: 1}), abandon}, nil},
		{"abandoned, and paid before the email is sent", []deed{order("new@example.com"), abandon, complete}, []string{"order_abandoned: the order was completed", "receipt: new@example.com"}},
		{"abandoned by somebody who was erased", []deed{order("a@example.com"), abandon, erase(1)}, nil},
		{"abandoned by somebody who became a user and was erased", []deed{order("new@example.com"), abandon, order("new@example.com"), did((*sales.Service).CompleteOrder, sales.OrderPayment{Order: 2}), erase(4)}, []string{"order_abandoned: its receiver was erased"}},
	}
	stores := engines(t)
	t.Run("texts", func(t *testing.T) { whatBuyersRead(t, stores) })
	store := stores["SQLite"]
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			m := openMailed(t, store, optional...)
			for _, deed := range row.deeds {
				if err := deed(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			if told, _ := m.sent(t); !cmp.Equal(row.told, told) {
				t.Error(cmp.Diff(row.told, told))
			}
		})
	}
	openBooks(t, store).healthy(t, store)
}

// whatBuyersRead checks the standard texts of the emails about sales. Emails that are turned
// off are not sent, nor does a server without a mail server send any.
func whatBuyersRead(t *testing.T, stores map[string]lyceum.Store) {
	t.Helper()
	everything := func(m *mailed) {
		t.Helper()
		for _, do := range []deed{
			func(ctx context.Context, m *mailed) error {
				return m.configure(ctx, lyceum.DefaultSalePolicy(), "Asia/Tokyo")
			},
			did((*sales.Service).Record, sales.NewSale{User: 1, Plan: 1, Amounts: sales.Amounts{TaxCharge: some(lyceum.Minor(380))}}),
			did((*sales.Service).Record, sales.NewSale{User: 1, Plan: 2, Amounts: charged(2)}),
			passed(4 * time.Hour),
			did((*sales.Service).FailPayment, sales.NewFailure{Sale: 2, NextAttemptAt: some(m.now.AddDate(0, 0, 3))}),
			did((*sales.Service).Record, sales.NewSale{User: 2, Plan: 1}),
			did((*sales.Service).EndNow, sales.Ending{Sale: 3}),
			did((*sales.Service).OpenOrder, sales.NewOrder{Email: "new@example.com", Plan: 2, ReturnURL: some("https://shop.example.com/cart/7")}),
			did((*sales.Service).AbandonOrder, lyceum.OrderID(1)),
		} {
			if err := do(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{
		"Your payment to Books\n" +
			"Thank you for your payment of $23.79 on 2026-01-31.\n\nPottery, Once\nPrice: $19.99\nTaxes: $3.80\nTotal: $23.79\nPayment number: 1\n",
		"Your payment to Books\n" +
			"Thank you for your payment of €5.00 on 2026-01-31.\n\nPottery, Monthly\nPrice: €5.00\nTaxes: €0.00\nTotal: €5.00\nPayment number: 2\n",
		"A payment to Books failed\n" +
			"The payment for Pottery, Monthly failed on 2026-02-01.\nIt will be tried again on 2026-02-03. " +
			"Please check that your payment details are up to date, or get in touch with the school.\n",
		"Your payment to Books\n" +
			"Thank you for your payment of $19.99 on 2026-02-01.\n\nPottery, Once\nPrice: $19.99\nTaxes: $0.00\nTotal: $19.99\nPayment number: 3\n",
		"Your access at Books has ended\nYour access to Pottery at Books has ended.\n\nIf you did not expect this, get in touch with the school.\n",
		"Your order at Books\nYou began to order Pottery, Monthly for €5.00.\nYou can continue the order here:\n\n" +
			"https://shop.example.com/cart/7\n\nIf you no longer want it, you can ignore this email: nothing was charged.\n",
	}
	for engine, store := range stores {
		m := openMailed(t, store, optional...)
		everything(m)
		_, texts := m.sent(t)
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Error(engine, diff)
		}

		m = openMailed(t, store)
		everything(m)
		if told, _ := m.sent(t); told != nil {
			t.Error(engine, "turned off:", told)
		}
		m = openMailed(t, store, optional...)
		m.serve(nil)
		everything(m)
		if told, _ := m.sent(t); told != nil {
			t.Error(engine, "without a mail server:", told)
		}
	}
}
