package events_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

func TestSecrets(t *testing.T) {
	text := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xfb}, n)) }
	for _, n := range []int{24, 25, 32, 64} {
		key, err := events.ParseSecret(text(n))
		if err != nil || len(key) != n || events.SecretText(key) != text(n) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for name, bad := range map[string]string{
		"empty":              "",
		"the prefix alone":   "whsec_",
		"too short":          text(23),
		"too long":           text(65),
		"another prefix":     "whsk_" + strings.TrimPrefix(text(32), "whsec_"),
		"no prefix":          strings.TrimPrefix(text(32), "whsec_"),
		"for URLs":           strings.NewReplacer("+", "-", "/", "_").Replace(text(32)),
		"no padding":         strings.TrimRight(text(32), "="),
		"a line break":       text(24) + "\n",
		"a line break in it": text(24)[:20] + "\r\n" + text(24)[20:],
		"loose bits":         strings.TrimSuffix(text(25), "w==") + "x==",
		"a space before":     " " + text(24),
	} {
		key, err := events.ParseSecret(bad)
		if e := lyceum.Public(err); err == nil || key != nil || e.Kind != lyceum.Invalid || bad != "" && strings.Contains(e.Error(), bad) && name != "the prefix alone" {
			t.Errorf("%s: %q, %v", name, key, err)
		}
	}
}

func FuzzParseSecret(f *testing.F) {
	for _, text := range []string{"", "whsec_", events.SecretText(bytes.Repeat([]byte{1, 254}, 16)), events.SecretText(bytes.Repeat([]byte{255}, 24)), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := events.ParseSecret(text)
		if err != nil {
			if lyceum.KindOf(err) != lyceum.Invalid || key != nil {
				t.Errorf("%q: %q, %v", text, key, err)
			}
			return
		}
		if len(key) < 24 || len(key) > 64 || events.SecretText(key) != text {
			t.Errorf("%q is read as %q", text, key)
		}
	})
}
