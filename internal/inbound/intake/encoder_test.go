package intake

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

// FuzzJSONText checks the JSON reader against encoding/json: it must accept the same text, except
// for deep nesting, and decode strings to the same values.
func FuzzJSONText(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+7,true,false,null,"\u00e9\ud83d\ude00\n"],"b":{}}`, `"\ud800x"`, ` [ ] `, `01`, `{"a":1,}`, `"\u00zz"`, "\"\x1f\"", `-`, `[1 2]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := jsonText{b: text}
		value, fault := p.value(0)
		if fault == nil {
			fault = p.end()
		}
		if fault != nil && !fault.syntax {
			return
		}
		if valid := json.Valid(text); valid != (fault == nil) {
			t.Fatalf("valid is %v, fault %+v", valid, fault)
		}
		if fault != nil && (fault.at < 0 || fault.at > len(text)) {
			t.Fatalf("fault at %d of %d bytes", fault.at, len(text))
		}
		if fault == nil && value.form == formText {
			checkString(t, text, value.text)
		}
	})
}

// checkString compares a decoded string with that of encoding/json. Where encoding/json puts
// U+FFFD for invalid text, the reader returns bytes that are not valid UTF-8.
func checkString(t *testing.T, literal, got []byte) {
	t.Helper()
	var want string
	if err := json.Unmarshal(literal, &want); err != nil {
		t.Fatal(err)
	}
	if string(got) != want && !strings.Contains(want, "\ufffd") {
		t.Errorf("%q, want %q", got, want)
	}
	if _, problem := (cell{text: got, form: formText}).string(); problem == "" && string(got) != want {
		t.Errorf("%q is taken for text, want %q", got, want)
	}
}

// FuzzCSVText checks the scanner of records against encoding/csv, on input without \r, and until
// the first error, where encoding/csv stops.
func FuzzCSVText(f *testing.F) {
	f.Add([]byte("a,b\n\"c\"\"d\",\"e\nf\"\n\n,\n\"\"\nx\"y\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.ReplaceAll(text, []byte("\r"), []byte(" "))
		src := &source{r: bytes.NewReader(text), buf: make([]byte, 4)}
		scan := csvScanner{src: src}
		standard := csv.NewReader(bytes.NewReader(text))
		standard.FieldsPerRecord = -1
		for {
			want, err := standard.Read()
			for src.lineEnd(0) > 0 {
				src.advance(1)
			}
			if _, ok := src.at(0); !ok || err == io.EOF {
				if ok || err != io.EOF {
					t.Fatalf("ended: %v, want %v", !ok, err)
				}
				return
			}
			problem := scan.scan()
			if (problem != "") != (err != nil) {
				t.Fatalf("problem %q, want %v", problem, err)
			}
			if err != nil {
				return
			}
			var got []string
			for _, field := range scan.fields {
				got = append(got, string(scan.text(field)))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q, want %q", got, want)
			}
			scan.pass()
		}
	})
}
