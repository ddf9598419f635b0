package intake_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// TestR12CSV checks that whatever is wrong in a file of users, each good row is read and each bad
// one is reported with its line.
func TestR12CSV(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	const good = "1,a@x,Ann\n"
	for _, tc := range []struct {
		name, rows string // following the header id,email,name
		want       string
	}{
		{"no rows", "", ""},
		{"one", good, "2 ok"},
		{"no line end at the end", good + "2,b@x,Bob", "2 ok\n3 ok"},
		{"blank lines", "\n\n" + good + "\r\n\r2,b@x,Bob\n\n", "4 ok\n7 ok"},
		{"mixed line ends", "1,a@x,A\n2,b@x,B\r\n3,c@x,C\r4,d@x,D", "2 ok\n3 ok\n4 ok\n5 ok"},
		{"several lines", "1,a@x,\"A\nB\r\nC\rD\"\n2,b@x,B\n", "2 ok\n6 ok"},
		{"too few columns", good + "2,b@x\n" + good, "2 ok\n3 : has 2 columns where\n4 ok"},
		{"too many columns", good + "2,b@x,Bob,\n" + good, "2 ok\n3 : has 4 columns where\n4 ok"},
		{"many lines, too many columns", "2,\"b\n@x\",Bob,\n" + good, "2 : has 4 columns where\n3 id: contains a quote but\n4 ok"},
		{"open quote to the end", "1,a@x,\"Ann\n2,b@x,Bob\n3,c@x,C", "2 name: has an unclosed quote,\n3 ok\n4 ok"},
		{"open quote, then a good one", "1,a@x,\"Ann\n2,b@x,\"Bob\"\n", "2 name: has an unclosed quote,\n3 ok"},
		{"open quote in the id", "\"1,a@x,Ann\n2,b@x,Bob\n", "2 id: has an unclosed quote,\n3 ok"},
		{"open quote at the very end", good + `2,b@x,"`, "2 ok\n3 name: has an unclosed quote,"},
		{"open quote beyond 1 MiB", "1,a@x,\"" + strings.Repeat("ten bytes\n", 1<<20/10+9) + good, ""},
		{"stray quote", "1,a@x,A\"nn\n" + good, "2 name: contains a quote but\n3 ok"},
		{"text after a quote", "1,a@x,\"A\"nn\n" + good, "2 name: has an unclosed quote,\n3 ok"},
		{"space before a quote", "1,a@x, \"A\"\n" + good, "2 name: contains a quote but\n3 ok"},
		{"quote beyond the header's columns", "1,a@x,A,b\"\n" + good, "2 : contains a quote but\n3 ok"},
		{"3 MB cell", good + "2,b@x," + long + "\n" + good, "2 ok\n3 : is longer than 1\n4 ok"},
		{"3 MB cell in quotes", good + "2,b@x,\"" + long + "\"\n" + good, "2 ok\n3 name: has an unclosed quote,\n4 ok"},
		{"3 MB cell at the end", good + "2,b@x," + long, "2 ok\n3 : is longer than 1"},
		{"70 kB cell", good + "2,b@x," + long[:70000] + "\n" + good, "2 ok\n3 name: must be at most\n4 ok"},
		{"bad UTF-8 and NUL", "1,a@x,\xff\n2,\x00@x,B\n" + good, "2 name: must be valid UTF-8\n3 email: must not contain a\n4 ok"},
		{"several problems", "0,,B\n" + good, "2 id: must be an integer\n2 email: must not be empty\n3 ok"},
		{"quoted numbers", "\"1\",\"a@x\",\"\"\n", "2 ok"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := "id,email,name\n" + tc.rows
			for chunks, r := range map[string]io.Reader{
				"whole": strings.NewReader(file), "halves": iotest.HalfReader(strings.NewReader(file)),
			} {
				rows, _, err := readAll(intake.Users(), r)
				if err != nil {
					t.Fatal(chunks, err)
				}
				if tc.name == "open quote beyond 1 MiB" {
					checkLinesLost(t, rows)
				} else if got := outline(rows); got != tc.want {
					t.Errorf("%s:\n%s\nwant\n%s", chunks, got, tc.want)
				}
			}
		})
	}
}

// checkLinesLost checks that every physical line except the last is a bad row.
func checkLinesLost(t *testing.T, rows []intake.Row[lyceum.User]) {
	t.Helper()
	for i, row := range rows {
		if bad := len(row.Problems) > 0; row.Line != i+2 || bad != (i < len(rows)-1) {
			t.Fatalf("row %d on line %d, bad: %v", i, row.Line, bad)
		}
	}
	if len(rows) != 1<<20/10+10 {
		t.Fatalf("%d rows", len(rows))
	}
}

func TestHeader(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		want       []string // parts of the error
	}{
		{"empty", "", []string{"the file is empty"}},
		{"white space", " \n\r\n", []string{"line 1", "lacks id, email"}},
		{"blank lines", "\n\r\n", []string{"the file is empty"}},
		{"mark alone", "\ufeff", []string{"the file is empty"}},
		{"missing", "name,email\n", []string{"line 1", "lacks id;", "the columns of users are id, email, name, role, src, created_at"}},
		{"all missing", "1,2\n", []string{"lacks id, email"}},
		{"semicolons", "id;email;name\n", []string{"lacks id, email", "columns are separated by commas"}},
		{"other case", "ID,Email\n", []string{"lacks id, email"}},
		{"twice", "id,email,name,email\n", []string{`"email" twice`}},
		{"unknown twice", "id,x,email,x\n", []string{`"x" twice`}},
		{"open quote", "id,email,\"name\n1,a@x,A\n", []string{"line 1", "has an unclosed quote"}},
		{"bad UTF-8", "id,email,\xff\n", []string{"not valid UTF-8"}},
		{"long name", "id,email," + strings.Repeat("x", 101) + "\n", []string{"longer than 100 bytes"}},
		{"many columns", "id,email" + strings.Repeat(",", 1000) + "\n", []string{"more than 1000 columns"}},
		{"long line", "id,email," + strings.Repeat("x", 2<<20) + "\n", []string{"line 1", "longer than 1 MiB"}},
		{"UTF-16", "\xff\xfei\x00d\x00", []string{"UTF-16"}},
		{"spreadsheet", "PK\x03\x04rest", []string{"save it as CSV"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := readAll(intake.Users(), strings.NewReader(tc.file))
			wantInvalid(t, err, tc.want...)
		})
	}
	_, _, err := readAll(intake.Transactions(), strings.NewReader("id,currency\n"))
	wantInvalid(t, err, "lacks user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, tax_charge, revenue, status, has_chargeback, chargeback_fee, affiliate_id, affiliate_fees, author_id, author_fees, coupon_id, refunded_at, amount_refunded;")
}

func TestColumnsInAnyOrder(t *testing.T) {
	file := "\ufeff\r\n\"created_at\",x,\"e\"\"y\",role,email,,id,\r\n2024-01-01,1,2,owner,a@x,3,5,4\r\n"
	rows, ignored, err := readAll(intake.Users(), strings.NewReader(file))
	if err != nil || len(rows) != 1 || rows[0].Line != 3 || len(rows[0].Problems) > 0 {
		t.Fatal(rows, err)
	}
	if want := (lyceum.User{ID: 5, Email: "a@x", Role: lyceum.Owner, CreatedAt: lyceum.Second(rows[0].Value.CreatedAt)}); rows[0].Value != want {
		t.Errorf("%+v", rows[0].Value)
	}
	if want := []string{"x", `e"y`}; !slices.Equal(ignored, want) {
		t.Errorf("ignored %q, want %q", ignored, want)
	}
}

// TestAbsentColumns checks that the fields of columns that a file lacks are left zero, for the
// sink to fill in from the existing row.
func TestAbsentColumns(t *testing.T) {
	user := mustRead(t, intake.Users(), "id,email\n1,a@x\n")
	if want := (lyceum.User{ID: 1, Email: "a@x"}); user[0].Value != want {
		t.Errorf("user %+v", user[0].Value)
	}
	course := mustRead(t, intake.Courses(), `{"id":1,"name":"Go","is_published":false}`)
	if want := (lyceum.CourseRow{Course: lyceum.Course{ID: 1, Name: "Go"}}); course[0].Value != want {
		t.Errorf("course %+v", course[0].Value)
	}
	plan := mustRead(t, intake.PricingPlans(), "id,course_id,name,price,currency\n1,,A,0,USD\n")
	if want := (lyceum.PricingPlan{ID: 1, Name: "A", Currency: "USD"}); plan[0].Value != want {
		t.Errorf("plan %+v", plan[0].Value)
	}
	if rows := mustRead(t, intake.Users(), "id,email,created_at\n1,a@x,\n"); outline(rows) != "2 created_at: must not be empty" {
		t.Errorf("an empty cell of a column that is there: %s", outline(rows))
	}
}

func TestNullAndEmpty(t *testing.T) {
	rows := mustRead(t, intake.Users(), "id,email,name,src\n1,a@x,,\"\"\n")
	if v := rows[0].Value; v.Name != lyceum.None[string]() || v.Src != lyceum.Some("") {
		t.Errorf("name %+v, src %+v", v.Name, v.Src)
	}
	rows2 := mustRead(t, intake.Courses(), "id,name,is_published\n1,\"\",0\n2,,0\n3,C,\"\"\n")
	if got, want := outline(rows2), "2 ok\n3 name: must not be empty\n4 is_published: must not be empty"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestRewriteFails checks that an error of the function that replaces text in a file ends the
// reading.
func TestRewriteFails(t *testing.T) {
	failed := errors.New("no answer")
	for name, file := range map[string]string{
		"CSV": "id,email,name\n1,ann@example.com,Ann\n", "JSON": `[{"id": 1, "email": "ann@example.com", "name": "Ann"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := intake.NewReader(intake.Users(), strings.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			r.Rewrite(func(text []byte) ([]byte, error) { return text, failed })
			if _, err := r.Next(); !errors.Is(err, failed) {
				t.Errorf("the row was read: %v", err)
			}
		})
	}
}
