package intake_test

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

const (
	ann = `{"id":1,"email":"a@x","name":"Ann"}`
	bob = `{"id":2,"email":"b@x","name":null}`
)

// TestR12JSONLines checks that whatever is wrong in a file of users with one object per line, a
// bad line does not affect the others.
func TestR12JSONLines(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"two", ann + "\n" + bob + "\n", "1 ok\n2 ok"},
		{"no line end, blank lines, white space", "\r\n " + ann + " \r\n\r\n\t\n" + bob, "2 ok\n5 ok"},
		{"mark", "\ufeff" + ann, "1 ok"},
		{"cut off", ann + "\n" + ann[:20] + "\n" + bob, "1 ok\n2 : is not valid JSON\n3 ok"},
		{"no object", ann + "\n[1]\n5\nnull\nx\n\"{\"\n" + bob, "1 ok\n2 : is not valid JSON\n3 : is not valid JSON\n4 : is not valid JSON\n5 : is not valid JSON\n6 : is not valid JSON\n7 ok"},
		{"two on a line", ann + bob + "\n" + bob, "1 : is not valid JSON\n2 ok"},
		{"first is bad", `{"id":1,` + "\n" + bob, "1 : is not valid JSON\n2 ok"},
		{"pretty printed", "{\n\"id\": 1\n}\n" + bob, "1 : is not valid JSON\n2 : is not valid JSON\n3 : is not valid JSON\n4 ok"},
		{"missing", `{"id":1}` + "\n{}\n" + bob, "1 email: is missing\n2 id: is missing\n2 email: is missing\n3 ok"},
		{"null", `{"id":null,"email":"a@x","name":null,"role":null}`, "1 id: must not be empty\n1 role: must not be empty"},
		{"twice", `{"id":1,"email":"a@x","id":2}` + "\n" + bob, "1 id: appears twice in the\n2 ok"},
		{"NUL between", "{\"id\":1,\x00\"email\":\"a@x\"}\n" + bob, "1 : is not valid JSON\n2 ok"},
		{"31 arrays", `{"id":1,"email":"a@x","y":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + "}\n" + bob, "1 ok\n2 ok"},
		{"32 arrays", `{"id":1,"email":"a@x","y":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + "}\n" + bob, "1 : nests deeper than 32\n2 ok"},
		{"400,000 arrays", `{"id":1,"email":"a@x","y":` + strings.Repeat("[", 400_000) + "\n" + bob, "1 : nests deeper than 32\n2 ok"},
		{"400,000 objects", strings.Repeat(`{"a":`, 200_000) + "\n" + bob, "1 : nests deeper than 32\n2 ok"},
		{"2 MB line", `{"id":1,"email":"a@x","y":"` + strings.Repeat("x", 2<<20) + "\"}\n" + bob, "1 : is longer than 1\n2 ok"},
		{"100 kB cell", `{"id":1,"email":"a@x","name":"` + strings.Repeat("x", 100_000) + "\"}\n" + bob, "1 name: must be at most\n2 ok"},
		{"100 kB elsewhere", `{"id":1,"email":"a@x","y":"` + strings.Repeat("x", 100_000) + "\"}\n" + bob, "1 ok\n2 ok"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := outline(mustRead(t, intake.Users(), tc.file)); got != tc.want {
				t.Errorf("%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestJSONSyntax(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{`{"id":01}`, "at column 8: a comma or } must come here"},
		{`{"id":1.}`, "at column 9: a digit must come here"},
		{`{"id":-}`, "at column 8: a digit must come here"},
		{`{"id":1e+}`, "at column 10: a digit must come here"},
		{`{"é":+1}`, "at column 6: a value must come here"},
		{`{"id":tru}`, "at column 7: a value must come here"},
		{`{"id" 1}`, "at column 7: a colon must come here"},
		{`{id:1}`, "at column 2: the name of a member, in double quotes, must come here"},
		{`{"id":1,}`, "at column 9: the name of a member, in double quotes, must come here"},
		{`{"id":[1 2]}`, "at column 10: a comma or ] must come here"},
		{`{"id":[1,]}`, "at column 10: a value must come here"},
		{`{"id":"\x"}`, "at column 8: a valid escape must come here"},
		{"{\"id\":\"\\u00\x10\x10\"}", "at column 8: a valid escape must come here"},
		{"{\"id\":\"a\tb\"}", "at column 9: a control character must be escaped"},
		{`{"id":"a`, "at column 9: the string is not closed"},
		{`{} {}`, "at column 4: nothing may come after the value"},
		{`{"id":1`, "at column 8: a comma or } must come here"},
	} {
		rows := mustRead(t, intake.Users(), bob+"\n"+tc.line+"\n")
		want := []intake.Problem{{Line: 2, Message: "is not valid JSON " + tc.want}}
		if len(rows) != 2 || !slices.Equal(rows[1].Problems, want) {
			t.Errorf("%s: %v, want %v", tc.line, rows, want)
		}
	}
}

func TestLists(t *testing.T) {
	const meta = `"meta":{"total":2,"page":1,"search_after":[2]}`
	pretty := "{\r\n  \"users\": [\r\n    {\r\n      \"id\": 1,\r\n      \"email\": \"a@x\"\r\n    },\r\n    " + bob + "\r\n  ],\r\n  " + meta + "\r\n}\r\n"
	for _, tc := range []struct{ name, file, want string }{
		{"one answer", `{"users":[` + ann + "," + bob + "]," + meta + "}", "1 ok\n1 ok"},
		{"pretty printed", pretty, "3 ok\n7 ok"},
		{"list last", `{` + meta + `,"x":"[{]\"","users":[` + ann + "]}", "1 ok"},
		{"pages", `{"users":[` + ann + "]}\n{" + meta + `,"users":[` + "\n" + bob + "]}" + `{"users":[]}` + pretty, "1 ok\n3 ok\n5 ok\n9 ok"},
		{"array", "[\n" + ann + ",\n" + bob + "\n]\n", "2 ok\n3 ok"},
		{"arrays", "[" + ann + "][]\r[" + bob + "]", "1 ok\n2 ok"},
		{"no rows", `{"users":[],` + meta + "}", ""},
		{"empty array", "[]", ""},
		{"bad rows", `{"users":[` + "\n{\"id\":0,\"email\":\"a@x\"},\n5,\n\"x\",\n[{}],\nnull,\n" + bob + "]}", "2 id: must be an integer\n3 : must be an object\n4 : must be an object\n5 : must be an object\n6 : must be an object\n7 ok"},
		{"refused call among the pages", `{"users":[` + ann + "]}\n{\"message\":\"API rate limit exceeded\"}\n{\"users\":[" + bob + "]}", "1 ok\n2 : is an answer without\n3 ok"},
		{"list that is no array", `{"users":[` + ann + "]}\n{\"users\":null}", "1 ok\n2 : is an answer without"},
		{"oversized row", "[" + ann + ",\n{\"id\":1,\"x\":\"" + strings.Repeat("\\\"", 6e5) + "\"},\n" + bob + "]", "1 ok\n2 : is longer than 1\n3 ok"},
		{"oversized member", `{"users":[` + ann + `],"x":"` + strings.Repeat("y", 2<<20) + "\"}\n[" + bob + "]", "1 ok\n2 ok"},
		{"deep row", "[" + ann + ",{\"x\":" + strings.Repeat("[", 99) + strings.Repeat("]", 99) + "}," + bob + "]", "1 ok\n1 : nests deeper than 32\n1 ok"},
		{"600,000 deep", "[" + ann + "," + strings.Repeat("[", 6e5) + strings.Repeat("]", 6e5) + "," + bob + "]", "1 ok\n1 : is longer than 1\n1 ok"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := outline(mustRead(t, intake.Users(), tc.file)); got != tc.want {
				t.Errorf("%s\nwant\n%s", got, tc.want)
			}
			rows, _, err := readAll(intake.Users(), iotest.HalfReader(strings.NewReader(tc.file)))
			if err != nil || outline(rows) != tc.want {
				t.Errorf("in halves: %s, %v", outline(rows), err)
			}
		})
	}
}

// TestBrokenLists checks that with a syntax error in a list, the rows before it are read, the
// error is a bad row with its position, and reading ends with an error.
func TestBrokenLists(t *testing.T) {
	for _, tc := range []struct{ name, file, row, place string }{
		{"cut off", "[" + ann + ",\n" + ann[:20], "2 : is not valid JSON", "line 2 at column 1"},
		{"cut off between", "[" + ann + ",\n", "2 : is not valid JSON", "line 2 at column 1"},
		{"in a row", "[" + ann + ",\n\n  {\"id\":1,\n \"é\" 2}]", "4 : is not valid JSON", "line 4 at column 6"},
		{"in a member", "{\"users\":[" + ann + "],\r\n\"meta\":{\"a\":tru}}", "2 : is not valid JSON", "line 2 at column 13"},
		{"no comma", "[" + ann + "\n" + ann + "]", "2 : is not valid JSON", "line 2 at column 1"},
		{"comma at the end", "[" + ann + ",\n]", "2 : is not valid JSON", "line 2 at column 1"},
		{"two commas", "[" + ann + ",\n,{}]", "2 : is not valid JSON", "line 2 at column 1"},
		{"wrong bracket", "[" + ann + "\n}", "2 : is not valid JSON", "line 2 at column 1"},
		{"no colon", "{\"users\":[" + ann + "]\n,\"meta\" 1}", "2 : is not valid JSON", "line 2 at column 9"},
		{"no name", "{\"users\":[" + ann + "],\n5:1}", "2 : is not valid JSON", "line 2 at column 1"},
		{"word after it", "[" + ann + "]\n x", "2 : is not valid JSON", "line 2 at column 2"},
		{"word in it", "[" + ann + ",\ntru\n]", "2 : is not valid JSON", "line 2 at column 1"},
		{"number in it", "[" + ann + ",\n1x]", "2 : is not valid JSON", "line 2 at column 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, _, err := readAll(intake.Users(), strings.NewReader(tc.file))
			wantInvalid(t, err, tc.place)
			if got := outline(rows); got != "1 ok\n"+tc.row {
				t.Errorf("rows %s", got)
			}
		})
	}
}

func TestOtherList(t *testing.T) {
	_, _, err := readAll(intake.Transactions(), strings.NewReader(`{"meta":{},"users":[`+ann+`]}`))
	wantInvalid(t, err, "the file is a list of users, not of transactions")
	rows, _, err := readAll(intake.Users(), strings.NewReader(`{"courses":[{"id":7}],"id":1,"email":"a@x"}`))
	if err != nil || outline(rows) != "1 ok" {
		t.Errorf("a user with courses: %s, %v", outline(rows), err)
	}
}

func TestFoundList(t *testing.T) {
	for pad := range 120 {
		file := `{"meta":{"x":"` + strings.Repeat("y", 1<<16-40+pad) + `","a":true,"b":"\u00e9\ud83d\ude00","c":-1.5e+10},"users":[` + ann + "]}"
		if rows := mustRead(t, intake.Users(), file); outline(rows) != "1 ok" {
			t.Fatalf("%d: %s", pad, outline(rows))
		}
	}
}

func TestFrequency(t *testing.T) {
	type plan = lyceum.PricingPlan
	base := plan{ID: 1, Name: "A", Price: 5, Currency: "USD"}
	with := func(f lyceum.Frequency, interval lyceum.Opt[string], count lyceum.Opt[int32]) plan {
		p := base
		p.Frequency, p.BillingInterval, p.BillingIntervalCount = f, interval, count
		return p
	}
	for _, tc := range []struct {
		members, problem string
		want             plan
	}{
		{`"frequency":{"type":"subscription","billing_interval":"month","billing_interval_count":"3","access_limit_date":null}`, "", with(lyceum.Subscription, lyceum.Some("month"), lyceum.Some[int32](3))},
		{`"frequency":"payment_plan","billing_interval":"week"`, "", with(lyceum.PaymentPlan, lyceum.Some("week"), lyceum.None[int32]())},
		{`"frequency":{}`, "", with("", lyceum.None[string](), lyceum.None[int32]())},
		{`"frequency":{"type":"often"}`, "1 frequency: must be free, one_time_payment,", plan{}},
		{`"frequency":{"type":{}}`, "1 frequency: must be a single", plan{}},
		{`"frequency":{"type":"free"},"frequency":"free"`, "1 frequency: appears twice in the", plan{}},
		{`"frequency":{"billing_interval":"hour","billing_interval_count":0}`, "1 billing_interval: must be day, week,\n1 billing_interval_count: must be an integer", plan{}},
		{`"frequency":"free","earlier_terms":"[]"`, "1 earlier_terms: must have from 1", plan{}},
		{`"frequency":"free","earlier_terms":"[{\"until\":\"0000-01-03T12:00:00Z\",\"frequency\":\"free\"}]"`, "1 earlier_terms: must have a time", plan{}},
		{`"frequency":"free","earlier_terms":7`, "1 earlier_terms: must be a string", plan{}},
		{`"frequency":` + strings.Repeat(`{"type":`, 100_000) + strings.Repeat(`}`, 100_000), "1 : nests deeper than 32", plan{}},
		{`"frequency":null`, "1 frequency: must not be empty", plan{}},
	} {
		rows := mustRead(t, intake.PricingPlans(), `{"id":1,"course_id":null,"name":"A","price":5,"currency":"USD",`+tc.members+`}`)
		if got := outline(rows); tc.problem != "" && got != tc.problem {
			t.Errorf("%.80s: %s", tc.members, got)
		} else if tc.problem == "" && (got != "1 ok" || rows[0].Value != tc.want) {
			t.Errorf("%s: %s %+v", tc.members, got, rows[0].Value)
		}
	}
}

func TestIgnoredMembers(t *testing.T) {
	var file strings.Builder
	file.WriteString(`{"id":1,"email":"a@x","b":1,"a":[],"b":2,"` + strings.Repeat("x", 101) + "\":0}\n")
	for i := range 200 {
		file.WriteString(`{"id":1,"email":"a@x","` + strings.Repeat("c", i%99+1) + "\":{}}\n")
	}
	_, ignored, err := readAll(intake.Users(), strings.NewReader(file.String()))
	if err != nil || len(ignored) != 100 || ignored[0] != "b" || ignored[1] != "a" {
		t.Errorf("%d names: %q, %v", len(ignored), ignored, err)
	}
}
