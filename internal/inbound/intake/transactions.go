package intake

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Transactions returns the kind of the rows of the sales list. A file must have all of the
// contract's fields; nullable ones may be empty.
func Transactions() Kind[lyceum.Transaction] {
	k := Kind[lyceum.Transaction]{
		name: "transactions", list: "transactions",
		id: func(t *lyceum.Transaction) int32 { return int32(t.ID) }, anyOrder: true,
	}
	for _, f := range lyceum.TransactionFields() {
		k.columns = append(k.columns, transactionColumn(f).always())
	}
	return k
}

// transactionColumn returns the column of a field by the type of its value.
func transactionColumn(f lyceum.TransactionField) column[lyceum.Transaction] {
	switch f.At(new(lyceum.Transaction)).(type) {
	case *lyceum.TransactionID:
		return idColumn(f.Name, fieldAt[lyceum.TransactionID](f))
	case *lyceum.UserID:
		return idColumn(f.Name, fieldAt[lyceum.UserID](f))
	case *lyceum.PricingPlanID:
		return idColumn(f.Name, fieldAt[lyceum.PricingPlanID](f))
	case *lyceum.SaleID:
		return idColumn(f.Name, fieldAt[lyceum.SaleID](f))
	case *lyceum.Opt[lyceum.AffiliateID]:
		return optIDColumn(f.Name, fieldAt[lyceum.Opt[lyceum.AffiliateID]](f))
	case *lyceum.Opt[lyceum.AuthorID]:
		return optIDColumn(f.Name, fieldAt[lyceum.Opt[lyceum.AuthorID]](f))
	case *lyceum.Opt[lyceum.CouponID]:
		return optIDColumn(f.Name, fieldAt[lyceum.Opt[lyceum.CouponID]](f))
	case *lyceum.USDCents:
		return amountColumn(f.Name, fieldAt[lyceum.USDCents](f))
	case *lyceum.Minor:
		return amountColumn(f.Name, fieldAt[lyceum.Minor](f))
	case *lyceum.Opt[lyceum.Minor]:
		return optAmountColumn(f.Name, fieldAt[lyceum.Opt[lyceum.Minor]](f))
	case *lyceum.Currency:
		return currencyColumn(f.Name, fieldAt[lyceum.Currency](f))
	case *time.Time:
		return timeColumn(f.Name, fieldAt[time.Time](f))
	case *lyceum.Opt[time.Time]:
		return optTimeColumn(f.Name, fieldAt[lyceum.Opt[time.Time]](f))
	case *bool:
		return statusColumn(f.Name, fieldAt[bool](f))
	case *lyceum.Opt[bool]:
		return optBooleanColumn(f.Name, fieldAt[lyceum.Opt[bool]](f))
	}
	panic(fmt.Sprintf("intake: no column for %s", f.Name))
}

func fieldAt[V any](f lyceum.TransactionField) func(*lyceum.Transaction) *V {
	return func(t *lyceum.Transaction) *V { return f.At(t).(*V) }
}

// statusColumn returns the column of the status, which is paid, or null for unpaid.
func statusColumn(name string, at func(*lyceum.Transaction) *bool) column[lyceum.Transaction] {
	return column[lyceum.Transaction]{
		name: name, nullable: true,
		read: func(_ *memo, c cell, t *lyceum.Transaction) string {
			if string(c.text) != "paid" {
				return statusTaken
			}
			*at(t) = true
			return ""
		},
		write: func(e *encoder, t *lyceum.Transaction) {
			if *at(t) {
				e.word("paid")
			} else {
				e.null()
			}
		},
	}
}
