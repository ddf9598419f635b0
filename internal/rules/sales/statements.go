package sales

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// StatementQuery selects the lines of a statement. From is included, Until is not; an absent
// end is open.
type StatementQuery[ID ~int32] struct {
	Of          ID
	From, Until lyceum.Opt[time.Time]
	After       StatementPlace
	Limit       int // in lines
}

// MaxStatement is the maximum number of lines of a statement.
const MaxStatement = 10_000

// StatementKind is the reason for a line of a statement.
type StatementKind string

// The kinds of lines.
const (
	StatementSale   StatementKind = "sale"
	StatementRefund StatementKind = "refund"
	StatementLost   StatementKind = "dispute_lost"
	StatementWon    StatementKind = "dispute_won"
)

// StatementPlace is the position of a line in the order of all lines. The zero place is before
// all of them.
type StatementPlace struct {
	At          time.Time
	Transaction lyceum.TransactionID
	Step        int32
}

// The steps of a payment: the payment itself, an imported refund and an imported chargeback. The
// step of a movement is its id plus the last of them.
const (
	paymentStep int32 = iota
	refundStep
	chargebackStep
)

func (p StatementPlace) compare(q StatementPlace) int {
	return cmp.Or(p.At.Compare(q.At), cmp.Compare(p.Transaction, q.Transaction), cmp.Compare(p.Step, q.Step))
}

func (p StatementPlace) String() string {
	return fmt.Sprintf("%d.%d.%d", p.At.Unix(), p.Transaction, p.Step)
}

// ParseStatementPlace parses the result of String.
func ParseStatementPlace(text string) (StatementPlace, error) {
	var p StatementPlace
	parts := strings.Split(text, ".")
	wrong := lyceum.Invalidf("must be the next of an earlier response")
	if len(parts) != 3 {
		return p, wrong
	}
	at, e1 := strconv.ParseInt(parts[0], 10, 48)
	transaction, e2 := strconv.ParseInt(parts[1], 10, 32)
	step, e3 := strconv.ParseInt(parts[2], 10, 32)
	p = StatementPlace{time.Unix(at, 0).UTC(), lyceum.TransactionID(transaction), int32(step)}
	if errors.Join(e1, e2, e3) != nil || p.String() != text {
		return StatementPlace{}, wrong
	}
	return p, nil
}

// StatementLine is one line of a statement: an amount that is owed, or, if negative, taken
// back.
type StatementLine struct {
	StatementPlace

	Kind     StatementKind
	Sale     lyceum.SaleID
	Movement lyceum.Opt[lyceum.MovementID]
	Currency lyceum.Currency
	Amount   lyceum.Minor
}

// Statement is a part of what an affiliate or an author is owed, in order.
type Statement struct {
	From, Until lyceum.Opt[time.Time]
	Lines       []StatementLine
	Next        lyceum.Opt[StatementPlace] // the place to continue after, if there are more lines
}

// StatementSum is the sum of the lines in one currency.
type StatementSum struct {
	Currency lyceum.Currency
	Amount   lyceum.Minor
}

// Sums returns the sums of the lines, by currency.
func (s *Statement) Sums() []StatementSum {
	of := map[lyceum.Currency]lyceum.Minor{}
	for i := range s.Lines {
		of[s.Lines[i].Currency] += s.Lines[i].Amount
	}
	var sums []StatementSum
	for _, currency := range slices.Sorted(maps.Keys(of)) {
		sums = append(sums, StatementSum{currency, of[currency]})
	}
	return sums
}

// AffiliateStatement lists what an affiliate is owed.
func (s *Service) AffiliateStatement(
	ctx context.Context, by lyceum.By, q StatementQuery[lyceum.AffiliateID],
) (Statement, error) {
	return s.statement(ctx, by, &stating{
		from: q.From, until: q.Until, after: q.After, limit: q.Limit,
		known: func(v lyceum.View) error {
			_, err := v.Affiliates.Get(v, q.Of)
			return err
		},
		sales: lyceum.TransactionQuery{TransactionFilter: lyceum.TransactionFilter{AffiliateID: lyceum.Some(q.Of)}},
		steps: lyceum.MovementFilter{Affiliate: lyceum.Some(q.Of)},
		fee:   func(t *lyceum.Transaction) lyceum.Minor { return t.AffiliateFees },
	})
}

// AuthorStatement lists what an author is owed.
func (s *Service) AuthorStatement(
	ctx context.Context, by lyceum.By, q StatementQuery[lyceum.AuthorID],
) (Statement, error) {
	return s.statement(ctx, by, &stating{
		from: q.From, until: q.Until, after: q.After, limit: q.Limit,
		known: func(v lyceum.View) error {
			_, err := v.Authors.Get(v, q.Of)
			return err
		},
		sales: lyceum.TransactionQuery{TransactionFilter: lyceum.TransactionFilter{AuthorID: lyceum.Some(q.Of)}},
		steps: lyceum.MovementFilter{Author: lyceum.Some(q.Of)},
		fee:   func(t *lyceum.Transaction) lyceum.Minor { return t.AuthorFees },
	})
}

// stating is a statement in progress.
type stating struct {
	from, until lyceum.Opt[time.Time]
	after       StatementPlace
	limit       int

	known func(lyceum.View) error
	sales lyceum.TransactionQuery
	steps lyceum.MovementFilter
	fee   func(*lyceum.Transaction) lyceum.Minor

	places   []StatementPlace // of lines, unordered
	payments map[lyceum.TransactionID]lyceum.Transaction
}

func (s *Service) statement(ctx context.Context, by lyceum.By, of *stating) (Statement, error) {
	made := Statement{From: of.from, Until: of.until}
	if of.from.Present && of.until.Present && !of.from.Value.Before(of.until.Value) {
		return made, lyceum.InvalidFields(lyceum.FieldError{Field: "until", Message: "must be after from"})
	}
	err := s.store.SalesAtOnce(ctx, by.School, func(v lyceum.View) error {
		of.places, of.payments = nil, map[lyceum.TransactionID]lyceum.Transaction{}
		if err := of.known(v); err != nil {
			return err
		}
		if err := of.collect(v); err != nil {
			return err
		}
		slices.SortFunc(of.places, StatementPlace.compare)
		made.Next = lyceum.None[StatementPlace]()
		if len(of.places) > of.limit {
			of.places = of.places[:of.limit]
			made.Next = lyceum.Some(of.places[of.limit-1])
		}
		var err error
		made.Lines, err = of.lines(v)
		return err
	})
	return made, err
}

// period returns the times that lines can have, both ends included: times are stored to the
// second.
func (of *stating) period() lyceum.Period {
	var p lyceum.Period
	if from := of.from; from.Present || !of.after.At.IsZero() {
		p.After = of.after.At
		if from.Present && from.Value.After(p.After) {
			p.After = from.Value
		}
		p.After = p.After.Add(-time.Second)
	}
	if of.until.Present {
		p.Until = of.until.Value.Add(-time.Second)
	}
	return p
}

// errEnough stops reading a list once it has more places than the limit.
var errEnough = errors.New("enough")

// collect finds the places of the next lines. Each of the three lists is in order, so none
// needs more than one more than the limit.
func (of *stating) collect(v lyceum.View) error {
	taken := 0
	take := func(p StatementPlace) error {
		if p.compare(of.after) <= 0 {
			return nil
		}
		of.places = append(of.places, p)
		if taken++; taken > of.limit {
			return errEnough
		}
		return nil
	}
	sold := of.sales
	sold.Created, sold.Order = of.period(), lyceum.OldestFirst
	err := v.Transactions.Each(v, sold, func(t *lyceum.Transaction) error {
		if !t.Paid || of.fee(t) == 0 {
			return nil
		}
		of.payments[t.ID] = *t
		err := take(StatementPlace{At: t.CreatedAt, Transaction: t.ID, Step: paymentStep})
		if err != nil || !t.HasChargeback.Value {
			return err
		}
		return take(StatementPlace{At: t.CreatedAt, Transaction: t.ID, Step: chargebackStep})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	taken = 0
	refunded := of.sales
	refunded.RefundedElsewhere = lyceum.Some(of.period())
	err = v.Transactions.Each(v, refunded, func(t *lyceum.Transaction) error {
		if !t.Paid || of.fee(t) == 0 {
			return nil
		}
		of.payments[t.ID] = *t
		return take(StatementPlace{At: lyceum.Second(t.RefundedOn()), Transaction: t.ID, Step: refundStep})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	taken = 0
	steps := of.steps
	steps.In = lyceum.Some(of.period())
	steps.Kinds = []lyceum.MovementKind{lyceum.Refunded, lyceum.ChargebackLost, lyceum.ChargebackWon}
	err = v.Movements.Each(v, steps, func(m *lyceum.Movement) error {
		return take(StatementPlace{At: m.At, Transaction: m.TransactionID, Step: chargebackStep + int32(m.ID)})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// readAtOnce is the most transactions that one SQL statement names.
const readAtOnce = 500

// lines returns the lines at the places.
func (of *stating) lines(v lyceum.View) ([]StatementLine, error) {
	var unread, moved []lyceum.TransactionID
	seen := map[lyceum.TransactionID]bool{}
	for _, p := range of.places {
		if p.Step == paymentStep || seen[p.Transaction] {
			continue
		}
		seen[p.Transaction] = true
		moved = append(moved, p.Transaction)
		if _, read := of.payments[p.Transaction]; !read {
			unread = append(unread, p.Transaction)
		}
	}
	for ids := range slices.Chunk(unread, readAtOnce) {
		found, err := v.Transactions.Find(v, ids...)
		if err != nil {
			return nil, err
		}
		for id := range found {
			of.payments[id] = found[id]
		}
	}
	changes := map[StatementPlace]change{}
	for ids := range slices.Chunk(moved, readAtOnce) {
		if err := of.follow(v, ids, changes); err != nil {
			return nil, err
		}
	}
	var lines []StatementLine
	for _, p := range of.places {
		t := of.payments[p.Transaction]
		line := StatementLine{
			StatementPlace: p, Kind: StatementSale, Sale: t.SaleID, Currency: t.Currency, Amount: of.fee(&t),
		}
		if p.Step > paymentStep {
			line.Kind, line.Amount = changes[p].kind, changes[p].amount
		}
		if p.Step > chargebackStep {
			line.Movement = lyceum.Some(lyceum.MovementID(p.Step - chargebackStep))
		}
		if line.Amount != 0 {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// change is what a step changes about the amount owed for a payment.
type change struct {
	kind   StatementKind
	amount lyceum.Minor
}

// follow adds what each movement of some payments changed.
func (of *stating) follow(
	v lyceum.View, ids []lyceum.TransactionID, changes map[StatementPlace]change,
) error {
	movements, err := lyceum.All(v.Movements, v, lyceum.MovementFilter{Transactions: ids})
	if err != nil {
		return err
	}
	disputes, err := lyceum.All(v.Disputes, v, lyceum.DisputeFilter{Transactions: ids})
	if err != nil {
		return err
	}
	byPayment := map[lyceum.TransactionID][]lyceum.Movement{}
	for i := range movements {
		id := movements[i].TransactionID
		byPayment[id] = append(byPayment[id], movements[i])
	}
	for _, id := range ids {
		a := account{Transaction: of.payments[id], disputes: disputesOf(disputes, id)}
		for p, c := range of.changesOf(&a, byPayment[id]) {
			changes[p] = c
		}
	}
	return nil
}

// changesOf returns what each step changed about the amount owed for one payment: the fee's
// share of the money that was returned. Shares are computed from everything returned so far, so
// that they add up.
func (of *stating) changesOf(a *account, movements []lyceum.Movement) map[StatementPlace]change {
	t, changes := &a.Transaction, map[StatementPlace]change{}
	parts := map[lyceum.DisputeID]lyceum.Minor{}
	for i := range a.disputes {
		parts[a.disputes[i].ID] = a.disputes[i].Part().Price
	}
	var back, taken lyceum.Minor // of the price, of the fee
	step := func(p StatementPlace, kind StatementKind, price lyceum.Minor) {
		back += price
		whole := max(t.FinalPrice, 0) // a file may contain one below 0
		due := of.fee(t).Share(min(back, whole), whole)
		changes[p] = change{kind, taken - due}
		taken = due
	}
	elsewhere := t.RefundedPart(0).Price
	refunds := slices.IndexFunc(movements, func(m lyceum.Movement) bool { return m.Kind == lyceum.Refunded })
	if refunds >= 0 {
		elsewhere = movements[refunds].Refunded - movements[refunds].Amount
	}
	known := refunds >= 0 || elsewhere == 0
	imported := StatementPlace{At: lyceum.Second(t.RefundedOn()), Transaction: t.ID, Step: refundStep}
	lost := map[lyceum.DisputeID]bool{}
	for i := range movements {
		m := &movements[i]
		p := StatementPlace{At: m.At, Transaction: t.ID, Step: chargebackStep + int32(m.ID)}
		if !known && !lyceum.Second(t.RefundedOn()).After(m.At) {
			step(imported, StatementRefund, elsewhere)
			known = true
		}
		switch {
		case m.Kind == lyceum.Refunded:
			step(p, StatementRefund, m.Amount+elsewhere)
			elsewhere = 0
		case m.Kind == lyceum.ChargebackLost:
			step(p, StatementLost, parts[m.Dispute.Value])
			lost[m.Dispute.Value] = true
		case m.Kind == lyceum.ChargebackWon && lost[m.Dispute.Value]:
			step(p, StatementWon, -parts[m.Dispute.Value])
		}
	}
	if !known {
		step(imported, StatementRefund, elsewhere)
	}
	step(StatementPlace{At: t.CreatedAt, Transaction: t.ID, Step: chargebackStep}, StatementLost,
		a.lostElsewhere().Price)
	return changes
}
