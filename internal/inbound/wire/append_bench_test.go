package wire_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// BenchmarkAppendTransaction appends a page of typical sales.
func BenchmarkAppendTransaction(b *testing.B) {
	at := time.Date(2026, 7, 14, 9, 30, 0, 0, time.UTC)
	var page [20]lyceum.Transaction
	for i := range page {
		page[i] = lyceum.Transaction{
			ID: lyceum.TransactionID(8_123_456 + i*7919), UserID: lyceum.UserID(1_203_411 + i*31), PricingPlanID: lyceum.PricingPlanID(311 - i), SaleID: lyceum.SaleID(6_999_123 + i*17),
			CreatedAt: at, PurchasedAt: at, Charge: 4900, FinalPrice: 4900, Currency: "EUR", TaxCharge: 931, Revenue: 4521, Paid: true,
			HasChargeback: lyceum.Some(false), AuthorID: lyceum.Some(lyceum.AuthorID(17)), AuthorFees: 1200,
		}
		if i%4 == 0 {
			page[i].AffiliateID, page[i].AffiliateFees = lyceum.Some(lyceum.AffiliateID(1733)), 490
		}
		if i%10 == 0 {
			page[i].PurchasedAt = at.AddDate(0, -i, 0)
		}
	}
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		text = text[:0]
		for i := range page {
			text = wire.AppendTransaction(text, &page[i])
		}
	}
	b.SetBytes(int64(len(text)))
}
