package intake_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

const benchRows = 10_000

// sale returns the n-th sale of a school, in which every nullable field is absent from some sales
// and present in others.
func sale(n int) lyceum.Transaction {
	at := time.Unix(1_700_000_000+int64(n)*61, 0).UTC()
	t := lyceum.Transaction{
		ID: lyceum.TransactionID(n), UserID: lyceum.UserID(n%997 + 1), PricingPlanID: lyceum.PricingPlanID(n%13 + 1),
		SaleID: lyceum.SaleID(n), CreatedAt: at, PurchasedAt: at.Add(time.Hour), Charge: 4999, FinalPrice: 4999,
		Currency: "USD", TaxCharge: 950, Revenue: 4049, Paid: n%7 != 0,
	}
	if n%2 == 0 {
		t.HasChargeback = lyceum.Some(n%10 == 0)
		t.AuthorID, t.AuthorFees = lyceum.Some(lyceum.AuthorID(n%5+1)), 500
	}
	if n%5 == 0 {
		t.CouponID, t.AffiliateID, t.AffiliateFees = lyceum.Some(lyceum.CouponID(3)), lyceum.Some(lyceum.AffiliateID(8)), 250
		t.ChargebackFee, t.RefundedAt, t.AmountRefunded = lyceum.Some(lyceum.Minor(-1500)), lyceum.Some(at.Add(48*time.Hour)), 4999
	}
	return t
}

func salesFile(tb testing.TB, format intake.Format) []byte {
	tb.Helper()
	var file bytes.Buffer
	w := intake.NewWriter(intake.Transactions(), &file, format)
	for n := range benchRows {
		t := sale(n + 1)
		if err := w.Write(&t); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

func BenchmarkRead(b *testing.B) {
	list := append([]byte(`{"transactions":[`), bytes.ReplaceAll(bytes.TrimSpace(salesFile(b, intake.JSONLines)), []byte("\n"), []byte(","))...)
	list = append(list, `],"meta":{}}`...)
	for _, bench := range []struct {
		name string
		file []byte
	}{
		{"csv", salesFile(b, intake.CSV)},
		{"jsonlines", salesFile(b, intake.JSONLines)},
		{"list", list},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bench.file)))
			for b.Loop() {
				r, err := intake.NewReader(intake.Transactions(), bytes.NewReader(bench.file))
				if err != nil {
					b.Fatal(err)
				}
				rows := 0
				for ; err == nil; rows++ {
					var row intake.Row[lyceum.Transaction]
					if row, err = r.Next(); len(row.Problems) > 0 {
						b.Fatal(row.Problems)
					}
				}
				if !errors.Is(err, io.EOF) || rows != benchRows+1 {
					b.Fatal(rows, err)
				}
			}
			b.ReportMetric(float64(benchRows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, bench := range []struct {
		name   string
		format intake.Format
	}{{"csv", intake.CSV}, {"jsonlines", intake.JSONLines}} {
		b.Run(bench.name, func(b *testing.B) {
			sales := make([]lyceum.Transaction, benchRows)
			for n := range sales {
				sales[n] = sale(n + 1)
			}
			b.ReportAllocs()
			for b.Loop() {
				w := intake.NewWriter(intake.Transactions(), io.Discard, bench.format)
				for i := range sales {
					if err := w.Write(&sales[i]); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Flush(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(benchRows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
