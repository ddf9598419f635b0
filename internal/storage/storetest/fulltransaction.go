package storetest

import (
	"reflect"
	"time"

	"github.com/lyceum-school/lyceum"
)

// FullTransaction returns a transaction in which no field is zero and no two fields of the same
// type are equal, for tests that no field is forgotten.
func FullTransaction() (t lyceum.Transaction) {
	fields := reflect.ValueOf(&t).Elem()
	for i := range fields.NumField() {
		fill(fields.Field(i), i+1)
	}
	return t
}

func fill(v reflect.Value, n int) {
	if _, ok := v.Interface().(time.Time); ok {
		v.Set(reflect.ValueOf(Day(n)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.String:
		v.SetString("EUR")
	case reflect.Struct: // an Opt
		fill(v.FieldByName("Value"), n)
		v.FieldByName("Present").SetBool(true)
	default:
		panic("no value for a field of type " + v.Type().String())
	}
}
