package console

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// event is an event in the history of a sale.
type event struct {
	At          time.Time
	Class, What string
	Amount      string
	Of          lyceum.TransactionID // 0 if the event is about the whole sale
	Reason      string
	Reference   string
	SoFar       string                // all refunds of the transaction up to this one
	Again       lyceum.Opt[time.Time] // when a failed payment is retried
}

// history returns the history of a sale in chronological order.
func history(detail *sales.SaleDetail) []event {
	var events []event
	for i := range detail.Transactions {
		t := &detail.Transactions[i]
		events = append(events, charged(t, detail.References[t.ID].Name))
		if t.AmountRefunded > 0 && !slices.ContainsFunc(detail.Movements, func(m lyceum.Movement) bool {
			return m.TransactionID == t.ID && m.Kind == lyceum.Refunded
		}) {
			events = append(events, event{
				At: t.RefundedOn(), Class: "back", What: "Refunded", Amount: money(t.AmountRefunded, t.Currency), Of: t.ID,
			})
		}
		if lost := detail.LostElsewhere(t); lost.Total() > 0 {
			events = append(events, event{
				At: t.CreatedAt, Class: "bad", What: "Chargeback", Amount: money(lost.Total(), t.Currency), Of: t.ID,
			})
		}
	}
	for i := range detail.Movements {
		m := &detail.Movements[i]
		at := slices.IndexFunc(detail.Transactions, func(t lyceum.Transaction) bool { return t.ID == m.TransactionID })
		if at >= 0 {
			events = append(events, moved(m, &detail.Transactions[at], disputed(detail, m)))
		}
	}
	for i := range detail.Failures {
		f := &detail.Failures[i]
		events = append(events, event{
			At: f.OccurredAt, Class: "bad", What: "A payment failed", Reason: f.Reason.Value, Reference: f.Reference.Value,
			Again: f.NextAttemptAt,
		})
	}
	if detail.EndedAt.Present {
		events = append(events, event{At: detail.EndedAt.Value, Class: "end", What: endings[detail.EndReason.Value]})
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.At.Compare(b.At) })
	return events
}

var endings = map[lyceum.SaleEnd]string{
	lyceum.SaleCanceled:    "The sale was cancelled",
	lyceum.SaleRefunded:    "The refund ended the sale",
	lyceum.SaleChargedBack: "The chargeback ended the sale",
	lyceum.SaleVoided:      "The sale was voided",
	lyceum.SaleChanged:     "The plan was changed, and another sale followed",
	lyceum.SaleLapsed:      "The sale lapsed: it was not paid for",
}

func charged(t *lyceum.Transaction, reference string) event {
	e := event{
		At: t.CreatedAt, Class: "in", What: "Charged", Amount: money(t.FinalPrice+t.TaxCharge, t.Currency), Of: t.ID,
		Reference: reference,
	}
	switch {
	case t.FinalPrice+t.TaxCharge == 0:
		e.What = "Free"
	case !t.Paid:
		e.Class, e.What = "end", "Not paid"
	}
	return e
}

// disputed returns what the bank took in the dispute that a movement belongs to.
func disputed(detail *sales.SaleDetail, m *lyceum.Movement) lyceum.Minor {
	at := slices.IndexFunc(detail.Disputes, func(d lyceum.Dispute) bool { return m.Dispute == lyceum.Some(d.ID) })
	if at < 0 {
		return 0
	}
	return detail.Disputes[at].Amount
}

// moved returns the event for a movement of a transaction's money.
func moved(m *lyceum.Movement, t *lyceum.Transaction, disputed lyceum.Minor) event {
	e := event{At: m.At, Class: "back", Of: t.ID, Reason: m.Reason.Value, Reference: m.Reference.Value}
	switch m.Kind {
	case lyceum.Refunded:
		e.What, e.Amount = "Refunded", money(m.Amount+m.Tax, t.Currency)
		e.SoFar = money(m.Refunded+m.TaxRefunded, t.Currency) + " of " + money(t.FinalPrice+t.TaxCharge, t.Currency)
	case lyceum.ChargebackOpened:
		e.Class, e.What = "bad", "Chargeback of "+money(disputed, t.Currency)+" opened, with a fee of"
		e.Amount = money(m.Amount, t.Currency)
	case lyceum.ChargebackWon:
		e.Class, e.What, e.Amount = "in", "Chargeback won", money(disputed, t.Currency)
	case lyceum.ChargebackLost:
		e.Class, e.What, e.Amount = "bad", "Chargeback lost", money(disputed, t.Currency)
	}
	return e
}
