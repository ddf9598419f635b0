package sales_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestSeatTakenBeforeADisputeIsWon checks that a sale that a lost dispute ended gets a warning
// if it opens again and its seat was taken in the meantime.
func TestSeatTakenBeforeADisputeIsWon(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		for _, taken := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				b := openBooks(t, store)
				d := b.sell(t, sales.NewSale{User: 1, Plan: 7})
				lost, e1 := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: d.Transactions[0].ID})
				_, e2 := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: lost.ID, State: lyceum.DisputeLost})
				var want []string
				if taken {
					b.sell(t, sales.NewSale{User: 2, Plan: 7})
					want = []string{"sold_out"}
				}
				_, e3 := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: lost.ID, State: lyceum.DisputeWon})
				if err := errors.Join(e1, e2, e3); err != nil {
					t.Fatal(err)
				}
				if got := b.warnings(t, d.ID); !slices.Equal(got, want) {
					t.Errorf("the seat was taken: %v, the warnings are %q, want %q", taken, got, want)
				}
				b.healthy(t, store)
			})
		}
	}
}
