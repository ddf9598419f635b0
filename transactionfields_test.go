package lyceum_test

import (
	"reflect"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestTransactionFieldsAreAll checks that each field of the struct is described once, and that
// its description reads that field.
func TestTransactionFieldsAreAll(t *testing.T) {
	var zero, full lyceum.Transaction
	full = storetest.FullTransaction()
	described := map[any]string{}
	for _, f := range lyceum.TransactionFields() {
		if other, twice := described[f.At(&full)]; twice {
			t.Errorf("%s and %s are the same field", other, f.Name)
		}
		described[f.At(&full)] = f.Name
		if reflect.DeepEqual(f.Value(&zero), f.Value(&full)) {
			t.Errorf("%s is %v whatever the transaction is", f.Name, f.Value(&full))
		}
	}
	fields := reflect.ValueOf(&full).Elem()
	for i := range fields.NumField() {
		if described[fields.Field(i).Addr().Interface()] == "" {
			t.Errorf("%s is not described", fields.Type().Field(i).Name)
		}
	}
}
