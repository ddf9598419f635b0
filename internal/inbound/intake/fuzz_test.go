package intake_test

import (
	"bytes"
	"cmp"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// checkAny checks what is true of every input: the reader ends without a panic, and an error
// blames the file; each problem has a message and a line; line numbers never decrease, and there
// are no more rows than the input has bytes; reading byte by byte makes no difference; and good
// rows are the same after being written and read again.
func checkAny[T comparable](t *testing.T, kind intake.Kind[T], input []byte) {
	t.Helper()
	rows, ignored, err := readAll(kind, bytes.NewReader(input))
	if err != nil && lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("the file is not blamed: %v", err)
	}
	if len(rows) > len(input) {
		t.Fatalf("%d rows in %d bytes", len(rows), len(input))
	}
	again, ignoredAgain, errAgain := readAll(kind, iotest.OneByteReader(bytes.NewReader(input)))
	if !reflect.DeepEqual(rows, again) || !reflect.DeepEqual(ignored, ignoredAgain) || (err == nil) != (errAgain == nil) {
		t.Errorf("byte by byte: %v, %v\nwant %v, %v", again, errAgain, rows, err)
	}
	last := 1
	var good []T
	for _, row := range rows {
		if row.Line < last || row.Line > len(input)+1 {
			t.Errorf("line %d after line %d", row.Line, last)
		}
		last = row.Line
		if len(row.Problems) == 0 {
			good = append(good, completed(row.Value))
		}
		for _, p := range row.Problems {
			if p.Message == "" || p.Line < row.Line {
				t.Errorf("problem %+v of line %d", p, row.Line)
			}
		}
	}
	for _, format := range []intake.Format{intake.CSV, intake.JSONLines} {
		if len(good) == 0 {
			break
		}
		back, _, err := readAll(kind, strings.NewReader(written(t, kind, format, good)))
		if err != nil || len(back) != len(good) {
			t.Fatalf("%d of %d good rows came back: %v", len(back), len(good), err)
		}
		for i, row := range back {
			if len(row.Problems) > 0 || row.Value != good[i] {
				t.Errorf("%+v came back as %+v", good[i], row)
			}
		}
	}
}

// completed returns a row with the defaults that a school would fill in: a role or a frequency.
func completed[T any](row T) T {
	switch v := any(&row).(type) {
	case *lyceum.User:
		v.Role = cmp.Or(v.Role, lyceum.Student)
	case *lyceum.PricingPlan:
		v.Frequency = cmp.Or(v.Frequency, lyceum.Free)
	}
	return row
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"", "id,email\n1,a@x\n", "\ufeffid,email,name\r\n1,a@x,\"A\"\"b\nc\"\r2,b@x,'=1\n\n3,\"c@x,\n4,d@x,\"\"\n5,e\"@x,\n6,f@x,\"g\"h\n",
		"id,name,price,currency,frequency,billing_interval\n1,A,-5,usd,subscription,month\n2,,0,EUR,free,\n",
		"id,user_id,pricing_plan_id,sale_id,created_at,purchased_at,charge,final_price,currency,tax_charge,revenue,affiliate_fees,author_fees,amount_refunded,status\n1,1,1,1,2024-01-01,2024-01-01T00:00:00+01:00,1,1,USD,1,1,0,0,0,paid\n",
		"\x1f\x8b", "id;email\n",
	} {
		f.Add([]byte(seed))
	}
	f.Add(zipped(f, "id,email\n1,a@x\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		checkAny(t, intake.Users(), input)
		checkAny(t, intake.Transactions(), input)
		checkAny(t, intake.PricingPlans(), input)
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		ann, ann + "\n" + bob + "\n{}\n[\n", "[" + ann + "," + bob + "]", `{"meta":{"a":[1,{}]},"users":[` + ann + "\n," + bob + `]}{"users":[],"x":1e9}`,
		`{"id":"1","name":"\ud83d\ude00\u0000","email":null,"id":1.0}`, `{"pricing_plans":[{"id":1,"name":"","price":"0","currency":"usd","frequency":{"type":"free","billing_interval":"week"}}]}`,
		`[{"id":1,"name":"a","price":-5,"currency":"USD","frequency":"subscription"},5,null,"x",[[[]]],{"a":{"b":{}}}]`, `{"users":[{"id":1,}]}`, `[{"id":1}{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		checkAny(t, intake.Users(), input)
		checkAny(t, intake.PricingPlans(), input)
	})
}
