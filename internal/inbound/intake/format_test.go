package intake_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

func TestGzip(t *testing.T) {
	for name, text := range map[string]string{
		"csv":       "\ufeffid,email\r\n1,a@x\r\n2,b@x\r\n",
		"jsonlines": ann + "\n" + bob + "\n",
		"list":      `{"users":[` + ann + "," + bob + "]}",
	} {
		rows, _, err := readAll(intake.Users(), bytes.NewReader(zipped(t, text)))
		if err != nil || len(rows) != 2 || len(rows[0].Problems)+len(rows[1].Problems) > 0 {
			t.Errorf("%s: %s, %v", name, outline(rows), err)
		}
	}
	parts := append(zipped(t, "id,email\n1,a"), zipped(t, "@x\n2,b@x\n")...)
	rows, _, err := readAll(intake.Users(), bytes.NewReader(parts))
	if err != nil || outline(rows) != "2 ok\n3 ok" {
		t.Errorf("in two parts: %s, %v", outline(rows), err)
	}
}

// TestDamagedGzip checks that when a file is cut at any byte, the error says so and no row is made
// of half a line, and that when any byte is changed, an error blames the file.
func TestDamagedGzip(t *testing.T) {
	for _, text := range []string{
		"id,email\n1,a@x\n2,b@example.com\n3,\"c\n@y\"\n",
		ann + "\n" + bob + "\n",
		"[" + ann + ",\n" + bob + "]",
	} {
		whole := zipped(t, text)
		for cut := 2; cut < len(whole); cut++ {
			rows, _, err := readAll(intake.Users(), bytes.NewReader(whole[:cut]))
			wantInvalid(t, err, "the gzip data ends too early; the file was cut off")
			checkEmails(t, rows)
		}
		for at := 2; at < len(whole); at++ {
			changed := bytes.Clone(whole)
			changed[at] ^= 0x55
			_, _, err := readAll(intake.Users(), bytes.NewReader(changed))
			if err != nil && lyceum.KindOf(err) != lyceum.Invalid {
				t.Errorf("byte %d changed: %v", at, err)
			}
		}
	}
	changed := zipped(t, "id,email\n1,a@x\n")
	changed[len(changed)-8] ^= 1
	_, _, err := readAll(intake.Users(), bytes.NewReader(changed))
	wantInvalid(t, err, "the gzip data is damaged")

	whole := zipped(t, "id,email\n1,a@x\n")
	for after, want := range map[string]string{
		"x": goesOn, "\n": goesOn, "more than a header of gzip data": goesOn, "\x00\x00\x00": goesOn, "\x1fno gzip data at all": goesOn,
		"\x1f": cutOff, "\x1f\x8b": cutOff, "\x1f\x8b\x08": cutOff, string(whole[:len(whole)-1]): cutOff,
		"\x1f\x8bno gzip data at all": "the gzip data is damaged",
	} {
		_, _, err := readAll(intake.Users(), strings.NewReader(string(whole)+after))
		wantInvalid(t, err, want)
	}
}

const (
	cutOff = "the gzip data ends too early; the file was cut off"
	goesOn = "the gzip data has ended, and the file continues with something else; compress it again"
)

func checkEmails(t *testing.T, rows []intake.Row[lyceum.User]) {
	t.Helper()
	for _, row := range rows {
		if e := row.Value.Email; len(row.Problems) > 0 || e != "a@x" && e != "b@x" && e != "b@example.com" {
			t.Errorf("row %+v", row)
		}
	}
}

func TestReadFails(t *testing.T) {
	lost := errors.New("the disk is gone")
	for name, text := range map[string]string{
		"nothing read": "", "header": "id,ema", "row": "id,email\n1,a@x\n2,b@", "quoted": "id,email\n1,a@x\n2,\"b@x",
		"lines": ann + "\n" + bob, "list": "[" + ann + "," + bob[:10], "between": "[" + ann + ",", "after": "[" + ann + "]",
	} {
		rows, _, err := readAll(intake.Users(), io.MultiReader(strings.NewReader(text), iotest.ErrReader(lost)))
		if !errors.Is(err, lost) || lyceum.KindOf(err) != lyceum.Internal {
			t.Errorf("%s: %v", name, err)
		}
		checkEmails(t, rows)
	}
	stuck := readerFunc(func([]byte) (int, error) { return 0, nil })
	if _, _, err := readAll(intake.Users(), stuck); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestOffset(t *testing.T) {
	file := zipped(t, "id,email\n"+strings.Repeat("1,a@example.com\n", 100_000))
	r, err := intake.NewReader(intake.Users(), bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for err == nil {
		_, err = r.Next()
		if r.Offset() < last {
			t.Fatalf("offset went back from %d to %d", last, r.Offset())
		}
		last = r.Offset()
	}
	if last != int64(len(file)) {
		t.Errorf("offset %d at the end of %d bytes", last, len(file))
	}
}

// TestGzipBomb checks that one line of 16 MiB, from 16 kB of file, is one bad row.
func TestGzipBomb(t *testing.T) {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	if _, err := io.WriteString(w, "id,email\n"); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	before := allocated()
	rows, _, err := readAll(intake.Users(), &file)
	if err != nil || outline(rows) != "2 : is longer than 1" {
		t.Errorf("%s, %v", outline(rows), err)
	}
	if used := allocated() - before; used > 12<<20 {
		t.Errorf("%d bytes of memory", used)
	}
}
