package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

const exportPath = transactionsPath + ".csv"

const (
	// exportRows is how many lines of a file are generated and sent at a time.
	exportRows = 500
	// exportPause is how long a client may take to read them.
	exportPause = 30 * time.Second
)

// exportNames are the columns of the CSV file of transactions. Amounts are decimal numbers in
// the transaction's currency, except the last two, which are in US dollars; times are in the
// school's time zone.
const exportNames = "transaction_id,sale_id,created_at,buyer_name,buyer_email,product,pricing_plan,state,paid," +
	"currency,price,tax,refunded,refunded_at,coupon,affiliate,affiliate_fees,author,author_fees,chargeback_fee," +
	"reference,charge_usd,revenue_usd\n"

// exportSales serves GET /admin/transactions.csv. Which transactions are in the file is
// determined before its first line, so that a slow reader does not hold a database connection.
func (c *console) exportSales(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Values: map[string]string{}}
	f.keep(r.URL.Query().Get, filterFields...)
	query, wrong := readFilter(f, v.zone)
	if len(wrong) > 0 || f.named() { // the page shows what is wrong, or asks which one is meant
		http.Redirect(w, r, listAddress(r.URL.Query()), http.StatusSeeOther)
		return nil
	}
	var ids []lyceum.TransactionID
	err := c.Sales.Each(r.Context(), v.by(), query.Filter, lyceum.NewestFirst, func(t *lyceum.Transaction) error {
		ids = append(ids, t.ID)
		return nil
	})
	if err != nil {
		return err
	}
	if holder, ok := w.(wire.Holder); ok {
		if err := holder.Hold(r.Context(), cap(ids)*4); err != nil {
			return err
		}
	}
	header := w.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="`+exportName(&query)+`"`)
	// The file may take longer than a page. It ends when the client disconnects or stops
	// reading.
	ctx := context.WithoutCancel(r.Context())
	if err := c.writeSales(ctx, w, v, ids); err != nil {
		web.Logger(c.Log, w, r).Log(ctx, wire.RefusalLevel(r), "export of sales was cut off", "err", err)
		panic(http.ErrAbortHandler) // the browser must notice that the file is incomplete
	}
	return nil
}

// named reports whether a name was typed that has not been looked up yet.
func (f *form) named() bool {
	return slices.ContainsFunc(picked, func(p pickedField) bool {
		text := strings.TrimSpace(f.Values[p.Field])
		return text != "" && !figures(text)
	})
}

func (c *console) writeSales(ctx context.Context, w http.ResponseWriter, v *visit, ids []lyceum.TransactionID) error {
	sending := http.NewResponseController(w)
	lines := []byte(byteOrderMark + exportNames)
	for part := range slices.Chunk(ids, exportRows) {
		var err error
		if lines, err = c.appendSales(ctx, lines, v, part); err != nil {
			return err
		}
		_ = sending.SetWriteDeadline(time.Now().Add(exportPause)) // if it cannot be set, there is none
		if _, err := w.Write(lines); err != nil {
			return err
		}
		lines = lines[:0]
	}
	_, err := w.Write(lines)
	return err
}

// appendSales appends the lines of transactions.
func (c *console) appendSales(
	ctx context.Context, b []byte, v *visit, ids []lyceum.TransactionID,
) ([]byte, error) {
	in := c.Names.In(ctx, v.School.ID)
	found, err := in.Transactions.Find(in, ids...)
	if err != nil {
		return b, err
	}
	references, err := in.References.Find(in, ids...)
	if err != nil {
		return b, err
	}
	transactions := make([]lyceum.Transaction, 0, len(ids))
	for _, id := range ids {
		if t, there := found[id]; there {
			transactions = append(transactions, t)
		}
	}
	names, err := saleNamesOf(in, transactions)
	if err != nil {
		return b, err
	}
	for i := range transactions {
		b = appendSale(b, &transactions[i], &names, references[transactions[i].ID].Name, v.zone)
	}
	return b, nil
}

func appendSale(b []byte, t *lyceum.Transaction, n *saleNames, reference string, zone *time.Location) []byte {
	text := func(s string) {
		if b = append(b, ','); s != "" {
			b = wire.AppendCSVText(b, s)
		}
	}
	amount := func(m lyceum.Minor) { b = append(append(b, ','), m.Decimal(t.Currency)...) }
	b = strconv.AppendInt(b, int64(t.ID), 10)
	b = strconv.AppendInt(append(b, ','), int64(t.SaleID), 10)
	b = t.CreatedAt.In(zone).AppendFormat(append(b, ','), time.RFC3339)
	buyer := n.users[int32(t.UserID)]
	text(buyer.Name)
	text(buyer.Note)
	text(n.product(t))
	text(n.plan(t))
	text(stateText(t))
	text(strconv.FormatBool(t.Paid))
	text(string(t.Currency))
	amount(t.FinalPrice)
	amount(t.TaxCharge)
	amount(t.AmountRefunded)
	b = append(b, ',')
	if t.RefundedAt.Present {
		b = t.RefundedAt.Value.In(zone).AppendFormat(b, time.RFC3339)
	}
	text(n.coupon(t))
	text(n.affiliate(t))
	amount(t.AffiliateFees)
	text(n.author(t))
	amount(t.AuthorFees)
	amount(t.ChargebackFee.Value)
	text(reference)
	for _, cents := range [...]lyceum.USDCents{t.Charge, t.Revenue} {
		b = append(append(b, ','), lyceum.Minor(cents).Decimal("USD")...)
	}
	return append(b, '\n')
}

// stateText returns the state of a transaction in words.
func stateText(t *lyceum.Transaction) string {
	text := ""
	for _, m := range marksOf(t) {
		if text != "" {
			text += ", "
		}
		text += m.Text
	}
	return text
}
