package apilyceum

import (
	"math"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestDisputeOfTheLargestPayment checks that a dispute can exceed 32 bits: the price and the tax
// of an imported payment have 32 bits each, and a dispute covers both.
func TestDisputeOfTheLargestPayment(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt32
	if got := dispute(lyceum.Dispute{Amount: 2 * most, Tax: most}); got.Amount != 2*most || got.Tax != most {
		t.Fatalf("a dispute of %d with a tax of %d is shown as %d with %d", 2*most, most, got.Amount, got.Tax)
	}
}
