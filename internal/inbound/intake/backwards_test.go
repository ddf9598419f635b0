package intake_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// randomAccess is a file in memory.
type randomAccess struct{ *bytes.Reader }

func (randomAccess) Close() error { return nil }

// newestFirst returns a file of sales with the highest id first and a blank line in it.
func newestFirst(t *testing.T, rows int, format intake.Format) []byte {
	t.Helper()
	var file bytes.Buffer
	w := intake.NewWriter(intake.Transactions(), &file, format)
	for n := rows; n > 0; n-- {
		s := sale(n)
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
		if n == rows-9 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			file.WriteString("\n")
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestNewestFirst checks that a file with the newest rows first is stored from its end, with the
// same rows, and with problems on the same lines.
func TestNewestFirst(t *testing.T) {
	const rows = 20000
	for format, header := range map[intake.Format]int{intake.CSV: 1, intake.JSONLines: 0} {
		for mark, file := range map[string][]byte{
			"": newestFirst(t, rows, format), "\xef\xbb\xbf": newestFirst(t, rows, format),
		} {
			file = append([]byte(mark), file...)
			open := func() (io.ReadCloser, error) { return randomAccess{bytes.NewReader(file)}, nil }
			sink := newSchool(func(s lyceum.Transaction) int32 { return int32(s.ID) })
			var order []lyceum.TransactionID
			saving := false
			sink.onSave = func() error { saving = true; return nil }
			sink.refuse = func(s lyceum.Transaction) string {
				if saving {
					order = append(order, s.ID)
				}
				return ""
			}
			done := int64(0)
			o := intake.Options{BatchSize: 1000, Progress: func(p intake.Progress) {
				if p.Phase == intake.Importing {
					done = p.Bytes
				}
			}}
			result, err := intake.Import(t.Context(), open, intake.Transactions(), sink, o)
			if err != nil || result.Rows != rows || result.Saved != (lyceum.Saved{Created: rows}) {
				t.Fatalf("%v: %+v, %v", format, result, err)
			}
			if order[0] != 1 || !slices.IsSorted(order) || done < int64(len(file)-len(mark)-2000) || done > int64(len(file)) {
				t.Errorf("%v: row %d came first, in order %t; %d of %d bytes were read", format, order[0], slices.IsSorted(order), done, len(file))
			}
			for n := 1; n <= rows; n++ {
				if sink.rows[int32(n)] != sale(n) {
					t.Fatalf("%v: row %d is %+v", format, n, sink.rows[int32(n)])
				}
			}

			saving, sink.refuse = false, func(s lyceum.Transaction) string {
				if saving && (s.ID == 3 || s.ID == 4) {
					return "user_id"
				}
				return ""
			}
			var reported []string
			o.Problem = func(p intake.Problem) { reported = append(reported, fmt.Sprint(p.Line)) }
			_, err = intake.Import(t.Context(), open, intake.Transactions(), sink, o)
			want := fmt.Sprintf("%d %d", header+1+rows-4+1, header+1+rows-3+1) // plus one for the blank line
			if lyceum.KindOf(err) != lyceum.Conflict || strings.Join(reported, " ") != want {
				t.Errorf("%v: lines %v, want %s: %v", format, reported, want, err)
			}
		}
	}
}

// TestNewestFirstCutOff checks that importing a file that became shorter after it was checked is
// an error.
func TestNewestFirstCutOff(t *testing.T) {
	file := newestFirst(t, 20000, intake.CSV)
	for _, left := range []int{len(file) * 9 / 10, len(file) / 2, 300, 10, 0} {
		opened := 0
		open := func() (io.ReadCloser, error) {
			opened++
			if opened == 1 {
				return randomAccess{bytes.NewReader(file)}, nil
			}
			return randomAccess{bytes.NewReader(file[:left])}, nil
		}
		sink := newSchool(func(s lyceum.Transaction) int32 { return int32(s.ID) })
		_, err := intake.Import(t.Context(), open, intake.Transactions(), sink, intake.Options{})
		if err == nil || opened != 2 {
			t.Errorf("%d bytes: %v", left, err)
		}
	}
}

// TestNewestFirstInOrder checks that files that cannot be read from the end, and those of kinds
// other than transactions, are read from the beginning.
func TestNewestFirstInOrder(t *testing.T) {
	const rows = 20000
	plain := newestFirst(t, rows, intake.CSV)
	lines := bytes.Join(bytes.Fields(newestFirst(t, rows, intake.JSONLines)), []byte(","))
	for name, file := range map[string][]byte{
		"zipped": zipped(t, string(plain)), "list": []byte("[" + string(lines) + "]"),
	} {
		open := func() (io.ReadCloser, error) { return randomAccess{bytes.NewReader(file)}, nil }
		sink := newSchool(func(s lyceum.Transaction) int32 { return int32(s.ID) })
		result, err := intake.Import(t.Context(), open, intake.Transactions(), sink, intake.Options{})
		if err != nil || result.Saved != (lyceum.Saved{Created: rows}) || sink.rows[1] != sale(1) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	path := t.TempDir() + "/users.csv"
	if err := os.WriteFile(path, []byte("id,email\n3,c@x\n2,b@x\n1,a@x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := userSchool()
	var order []lyceum.UserID
	sink.refuse = func(u lyceum.User) string { order = append(order, u.ID); return "" }
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	if _, err := intake.Import(t.Context(), open, intake.Users(), sink, intake.Options{BatchSize: 1}); err != nil || fmt.Sprint(order) != "[3 2 1 3 2 1]" {
		t.Errorf("users came as %v: %v", order, err)
	}
}
