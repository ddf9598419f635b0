package oauth

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestAmountsOfReceipts checks that the amounts of a credit note are negative, unless they are
// zero.
func TestAmountsOfReceipts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		refund            lyceum.Opt[lyceum.MovementID]
		price, tax, total string
	}{
		{lyceum.None[lyceum.MovementID](), "$10.00", "$0.00", "$10.00"},
		{lyceum.Some(lyceum.MovementID(1)), "−$10.00", "$0.00", "−$10.00"},
	} {
		r := shownReceipt(&visit{}, &sales.ReceiptDetail{Receipt: lyceum.Receipt{Refund: tc.refund, Price: 1000, Currency: "USD"}})
		if r.Price != tc.price || r.Tax != tc.tax || r.Total != tc.total {
			t.Errorf("%s with %s of tax, in all %s, want %s with %s, %s", r.Price, r.Tax, r.Total, tc.price, tc.tax, tc.total)
		}
	}
}
