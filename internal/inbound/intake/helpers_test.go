package intake_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// readAll reads r until its end or an error, and returns the error, nil at the end of the file.
func readAll[T any](kind intake.Kind[T], r io.Reader) (rows []intake.Row[T], ignored []string, err error) {
	reader, err := intake.NewReader(kind, r)
	if err != nil {
		return nil, nil, err
	}
	for {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return rows, reader.Ignored(), nil
		}
		if err != nil {
			return rows, reader.Ignored(), err
		}
		rows = append(rows, row)
	}
}

func mustRead[T any](t testing.TB, kind intake.Kind[T], text string) []intake.Row[T] {
	t.Helper()
	rows, _, err := readAll(kind, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// outline returns a line for each row: "line ok", or "line column: message" for each of its
// problems, with the first four words of the message.
func outline[T any](rows []intake.Row[T]) string {
	var out []string
	for _, row := range rows {
		if len(row.Problems) == 0 {
			out = append(out, fmt.Sprintf("%d ok", row.Line))
		}
		for _, p := range row.Problems {
			out = append(out, fmt.Sprintf("%d %s: %s", p.Line, p.Column, cut(p.Message)))
		}
	}
	return strings.Join(out, "\n")
}

func cut(message string) string {
	words := strings.Fields(message)
	return strings.Join(words[:min(4, len(words))], " ")
}

// wantInvalid checks that err blames the file and contains every part.
func wantInvalid(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil || lyceum.KindOf(err) != lyceum.Invalid {
		t.Fatalf("error %v, want one of kind Invalid", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// written returns rows as a file.
func written[T any](t testing.TB, kind intake.Kind[T], format intake.Format, rows []T) string {
	t.Helper()
	var b strings.Builder
	w := intake.NewWriter(kind, &b, format)
	for i := range rows {
		if err := w.Write(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
