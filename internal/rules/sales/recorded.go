package sales

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// recordedProblems returns the problems of rows that contradict what was recorded here about a
// refund, a dispute or a payment with a receipt. Such a file is older than that, or comes from
// a system that is unaware of it: importing it would remove the refund from the ledger, or
// leave a receipt for something nobody paid.
func recordedProblems(
	tables *lyceum.Tables, from lyceum.Source, batch []lyceum.Transaction,
) (problems []lyceum.RowProblem, err error) {
	ids := make([]lyceum.TransactionID, len(batch))
	for n := range batch {
		ids[n] = batch[n].ID
	}
	of, err := recordedOf(tables, from, ids)
	if err != nil {
		return nil, err
	}
	kept, err := tables.Transactions.Find(from, slices.Sorted(maps.Keys(of))...)
	if err != nil {
		return nil, err
	}
	for n := range batch {
		if old, found := kept[batch[n].ID]; found {
			if p, is := contradiction(&old, &batch[n], of[old.ID]); is {
				problems = append(problems, lyceum.RowProblem{Index: n, FieldError: p})
			}
		}
	}
	return problems, nil
}

// recorded is what was recorded here for a payment.
type recorded struct{ moved, receipt bool }

// recordedOf returns the transactions for which something was recorded here.
func recordedOf(
	tables *lyceum.Tables, from lyceum.Source, ids []lyceum.TransactionID,
) (map[lyceum.TransactionID]recorded, error) {
	of := map[lyceum.TransactionID]recorded{}
	_, moved, err := tables.Movements.First(from, lyceum.MovementFilter{})
	if err != nil {
		return nil, err
	}
	_, issued, err := tables.Receipts.First(from, lyceum.ReceiptFilter{})
	if err != nil || !moved && !issued {
		return nil, err
	}
	for part := range slices.Chunk(ids, recordedAtOnce) {
		if moved {
			err = tables.Movements.Each(from, lyceum.MovementFilter{Transactions: part}, func(m *lyceum.Movement) error {
				of[m.TransactionID] = recorded{moved: true}
				return nil
			})
		}
		if err == nil && issued {
			err = tables.Receipts.Each(from, lyceum.ReceiptFilter{Transactions: part}, func(r *lyceum.Receipt) error {
				of[r.Transaction] = recorded{of[r.Transaction].moved, true}
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return of, nil
}

// recordedAtOnce is how many transactions one query is about.
const recordedAtOnce = 128

// contradiction returns a problem that names the fields of a row that differ from a transaction
// although they must not, because something was recorded for it here.
func contradiction(kept, row *lyceum.Transaction, of recorded) (problem lyceum.FieldError, is bool) {
	var wants []string
	note := func(field string, same bool, value string) {
		switch {
		case same:
			return
		case problem.Field == "":
			problem.Field, wants = field, []string{value}
		default:
			wants = append(wants, field+" "+value)
		}
	}
	amount := func(m lyceum.Minor) string { return strconv.FormatInt(int64(m), 10) }
	why := "has a receipt"
	if of.moved {
		why = "was refunded or disputed"
		note("amount_refunded", row.AmountRefunded == kept.AmountRefunded, amount(kept.AmountRefunded))
		note("refunded_at", sameMoment(row.RefundedAt, kept.RefundedAt), orEmpty(kept.RefundedAt, func(t time.Time) string {
			return t.Format(time.RFC3339)
		}))
		note("has_chargeback", row.HasChargeback == kept.HasChargeback, orEmpty(kept.HasChargeback, strconv.FormatBool))
		note("chargeback_fee", row.ChargebackFee == kept.ChargebackFee, orEmpty(kept.ChargebackFee, amount))
		note("sale_id", row.SaleID == kept.SaleID, strconv.Itoa(int(kept.SaleID)))
		note("status", row.Paid == kept.Paid, map[bool]string{true: "paid", false: "empty"}[kept.Paid])
	}
	note("user_id", row.UserID == kept.UserID || !of.receipt, strconv.Itoa(int(kept.UserID)))
	note("final_price", row.FinalPrice == kept.FinalPrice, amount(kept.FinalPrice))
	note("tax_charge", row.TaxCharge == kept.TaxCharge, amount(kept.TaxCharge))
	note("currency", row.Currency == kept.Currency, string(kept.Currency))
	problem.Message = fmt.Sprintf("must be %s, as in Lyceum, where transaction %d %s; an import leaves that as it is",
		strings.Join(wants, " and "), kept.ID, why)
	return problem, len(wants) > 0
}

// sameMoment compares times with the precision that files have.
func sameMoment(a, b lyceum.Opt[time.Time]) bool {
	return a.Present == b.Present && lyceum.Second(a.Value).Equal(lyceum.Second(b.Value))
}

func orEmpty[T comparable](v lyceum.Opt[T], text func(T) string) string {
	if !v.Present {
		return "empty"
	}
	return text(v.Value)
}
