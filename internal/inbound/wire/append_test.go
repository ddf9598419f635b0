package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestAppendTransactionWritesEveryField compares the hand-written encoder with the list of a
// transaction's fields.
func TestAppendTransactionWritesEveryField(t *testing.T) {
	for name, x := range map[string]lyceum.Transaction{"full": storetest.FullTransaction(), "zero": {}} {
		want := []byte{'{'}
		for i, f := range lyceum.TransactionFields() {
			value, err := json.Marshal(f.Value(&x))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				want = append(want, ',')
			}
			want = append(append(append(want, '"'), f.Name...), `":`...)
			want = append(want, value...)
		}
		if got := wire.AppendTransaction(nil, &x); string(got) != string(want)+"}" {
			t.Errorf("a %s transaction is written as\n%s\nwant\n%s}", name, got, want)
		}
	}
}
