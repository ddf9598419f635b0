package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzJSONString compares the encoder of strings with encoding/json.
func FuzzJSONString(f *testing.F) {
	f.Add("a\"\\\b\f\n\r\t\x00\x1f\x7f<>&'\u2028\u2029\u202aé😀\ufffd\xff\xe2\x80\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, s string) {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendString(nil, s); !bytes.Equal(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
