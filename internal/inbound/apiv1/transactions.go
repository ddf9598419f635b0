package apiv1

import (
	"context"
	"fmt"
	"sync"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// transactions returns the operation that lists transactions. It is not cached: with the sales
// index, a page is as fast as the lookup of a cached one.
func (f *Face) transactions() []wire.Operation {
	return []wire.Operation{
		appended("ListTransactions", wire.Get, "/v1/transactions", bindTransactions, f.listTransactions),
	}
}

// transactions holds the parameters of ListTransactions.
type transactions struct {
	filter lyceum.TransactionFilter
	order  lyceum.Order
	page   lyceum.Page
}

func bindTransactions(in *wire.Input) transactions {
	return transactions{filter: wire.BindSalesFilter(in), page: bindPage(in, defaultPer), order: bindOrder(in)}
}

func (f *Face) listTransactions(ctx context.Context, by lyceum.By, q transactions) (transactionList, error) {
	listing, err := f.Sales.List(ctx, by, q.filter, q.order, q.page)
	return transactionList(listing), err
}

// transactionList is a gen.TransactionList that is encoded by hand: reflection would halve the
// throughput of a page.
type transactionList lyceum.TransactionListing

var _ wire.Versioned = transactionList{}

func (l transactionList) State() lyceum.Version { return l.Version }

func (l transactionList) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"transactions":[`...)
	shown := l.Transactions.Len()
	t := transactionPool.Get().(*lyceum.Transaction)
	defer transactionPool.Put(t)
	for i := range shown {
		l.Transactions.Read(i, t)
		if err := fits(t); err != nil {
			return b, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendTransaction(b, t)
	}
	return appendMeta(append(b, "],"...), l.Total, l.Page, shown), nil
}

// transactionPool recycles the transactions that rows are decoded into.
var transactionPool = sync.Pool{New: func() any { return new(lyceum.Transaction) }}

// fits returns an error if an amount does not fit the contract's int32.
func fits(t *lyceum.Transaction) error {
	for _, v := range [...]int64{
		int64(t.Charge), int64(t.FinalPrice), int64(t.TaxCharge), int64(t.Revenue), int64(t.ChargebackFee.Value),
		int64(t.AffiliateFees), int64(t.AuthorFees), int64(t.AmountRefunded),
	} {
		if v != int64(int32(v)) {
			return fmt.Errorf("transaction %d: amount %d does not fit the contract's int32", t.ID, v)
		}
	}
	return nil
}
