package intake_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// brokenUsers are rows that are rejected, each with the column at fault. %d is a free id.
var brokenUsers = []struct{ row, column string }{
	{"%d,u%[1]d@x,bad \xff UTF-8,student,,2024-01-01", "name"},
	{"%d,u%[1]d@x,Ann,student,a\x00b,2024-01-01", "src"},
	{"%d,u%[1]d@x,Ann,student,2024-01-01", ""},
	{"%d,u%[1]d@x,Ann,student,,2024-01-01,", ""},
	{"%d,u%[1]d@x,\"Ann,student,,2024-01-01", "name"},
	{"%d,u%[1]d@x,Ann \"the best\",student,,2024-01-01", "name"},
	{"%d,u%[1]d@x,\"Ann\" ,student,,2024-01-01", "name"},
	{"2147483648,u%d@x,Ann,student,,2024-01-01", "id"},
	{"9223372036854775808,u%d@x,Ann,student,,2024-01-01", "id"},
	{"-%d,u%[1]d@x,Ann,student,,2024-01-01", "id"},
	{"%d,u%[1]d@x,Ann,student,,2024-02-30", "created_at"},
	{"%d,u%[1]d@x,Ann,student,,10000-01-01T00:00:00Z", "created_at"},
	{"%d,u%[1]d@x,Ann,student,,0000-06-01", "created_at"},
	{"%d,u%[1]d at x,Ann,student,,2024-01-01", "email"},
	{"%d,,Ann,student,,2024-01-01", "email"},
	{"%d,u%[1]d@x,Ann,,,2024-01-01", "role"},
	{"1,u%d@x,Ann,student,,2024-01-01", "id"},
	{"%d,U1@X,Ann,student,,2024-01-01", "email"},
	{"%d,u%[1]d@x," + strings.Repeat("long ", 20_000) + ",student,,2024-01-01", "name"},
}

// brokenFile returns a file of n rows with mixed line ends, of which every 20th is broken, two of
// them by a cell of 10 MiB, and the lines and columns of the broken ones.
func brokenFile(n int) (file string, broken []string) {
	var b strings.Builder
	b.WriteString("\ufeffid,email,name,role,src,created_at\n")
	line := 2
	for i := 1; i <= n; i++ {
		row := fmt.Sprintf("%d,u%[1]d@x,\"Ann, \"\"%[1]d\"\"\",student,,2024-01-01", i)
		if i%11 == 0 {
			row = fmt.Sprintf("%d,u%[1]d@x,\"Ann\r\nof %[1]d\",student,,2024-01-01", i)
		}
		at := line
		line += 1 + strings.Count(row, "\n")
		if i%20 == 0 {
			bad := brokenUsers[i/20%len(brokenUsers)]
			switch i {
			case n / 2:
				bad.row, bad.column = "%d,u%[1]d@x,"+strings.Repeat("x", 10<<20)+",student,,2024-01-01", ""
			case n:
				bad.row, bad.column = "%d,u%[1]d@x,\""+strings.Repeat("x", 10<<20)+"\",student,,2024-01-01", "name"
			}
			row = fmt.Sprintf(bad.row, i)
			line = at + 1
			broken = append(broken, fmt.Sprintf("%d %s", at, bad.column))
		}
		b.WriteString(row)
		b.WriteString([]string{"\n", "\r\n", "\r"}[i%3])
	}
	return b.String(), broken
}

func TestR12Import(t *testing.T) {
	const rows, bad = 10_000, 500
	file, broken := brokenFile(rows)
	if len(broken) != bad {
		t.Fatalf("%d broken rows in the file", len(broken))
	}
	var reported []string
	o := intake.Options{Problem: func(p intake.Problem) { reported = append(reported, fmt.Sprintf("%d %s", p.Line, p.Column)) }}
	run := func(sink *school[lyceum.User], policy intake.Policy) (intake.Result, error) {
		reported = nil
		o.OnError = policy
		before := allocated()
		result, err := intake.Import(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file)), nil }, intake.Users(), sink, o)
		if used := allocated() - before; used > 64<<20 {
			t.Errorf("the import asked for %d bytes of memory", used)
		}
		if !slices.Equal(reported, broken) {
			t.Errorf("bad rows %q\nwant %q", reported, broken)
		}
		if result.Rows != rows || result.Bad != bad {
			t.Errorf("result %+v", result)
		}
		return result, err
	}

	sink := userSchool()
	_, err := run(sink, intake.Stop)
	wantInvalid(t, err, "500 of 10,000 rows are not valid; nothing was imported")
	if sink.saves > 0 {
		t.Error("rows were saved")
	}
	if result, err := run(sink, intake.Skip); err != nil || result.Saved != (lyceum.Saved{Created: rows - bad}) {
		t.Errorf("%+v, %v", result, err)
	}
	if result, err := run(sink, intake.Skip); err != nil || result.Saved != (lyceum.Saved{Unchanged: rows - bad}) {
		t.Errorf("a second time: %+v, %v", result, err)
	}
	if got := sink.rows[11].Name.Value; got != "Ann\r\nof 11" {
		t.Errorf("name %q", got)
	}
}

// TestR12Ids checks that the memory that an import needs for ids does not depend on how far apart
// they are.
func TestR12Ids(t *testing.T) {
	const rows = 20_000
	file := readerFunc(nil)
	at, buffer := 0, strings.NewReader("id,name,is_published\n")
	file = func(p []byte) (int, error) {
		for buffer.Len() == 0 {
			if at == rows {
				return 0, io.EOF
			}
			buffer = strings.NewReader(fmt.Sprintf("%d,A,0\n", uint32(at)*2654435761>>1|1))
			at++
		}
		return buffer.Read(p)
	}
	sink := newSchool(func(c lyceum.CourseRow) int32 { return int32(c.ID) })
	before := allocated()
	result, err := intake.Import(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(file), nil }, intake.Courses(), sink, intake.Options{OnError: intake.Skip})
	if err != nil || result.Rows != rows || len(sink.rows)+result.Bad != rows {
		t.Errorf("%+v, %v, %d kept", result, err, len(sink.rows))
	}
	if used := allocated() - before; used > 64<<20 {
		t.Errorf("the import asked for %d bytes of memory", used)
	}
}
