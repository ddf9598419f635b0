package lyceum_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func secretKey(b byte) (key lyceum.SecretKey) {
	for i := range key {
		key[i] = b
	}
	return key
}

// TestR43_FirstKeySignsAllVerify checks that the first key signs and all keys verify, so that a
// rotation invalidates no signature, and that removing a key invalidates only its own
// signatures.
func TestR43_FirstKeySignsAllVerify(t *testing.T) {
	older, newer := secretKey(1), secretKey(2)
	before := lyceum.NewKeyring(older)
	rotated := lyceum.NewKeyring(newer, older)
	pruned := lyceum.NewKeyring(newer)
	old, _ := before.Sign("device", "7")
	fresh, _ := rotated.Sign("device", "7")
	if old == fresh {
		t.Fatal("the old key still signs after a rotation")
	}
	for _, tc := range []struct {
		name                     string
		ring                     *lyceum.Keyring
		purpose, text, signature string
		want                     bool
	}{
		{"its own", before, "device", "7", old, true},
		{"an old one after a rotation", rotated, "device", "7", old, true},
		{"a new one", rotated, "device", "7", fresh, true},
		{"an old one after its key is gone", pruned, "device", "7", old, false},
		{"a new one where the key has not arrived", before, "device", "7", fresh, false},
		{"another text", rotated, "device", "8", fresh, false},
		{"another purpose", rotated, "session", "7", fresh, false},
		{"text moved into the purpose", rotated, "device\x007", "", fresh, false},
		{"empty", rotated, "device", "7", "", false},
		{"cut", rotated, "device", "7", fresh[:42], false},
		{"no base64", rotated, "device", "7", "!" + fresh[1:], false},
		{"with padding", rotated, "device", "7", fresh + "=", false},
		{"another spelling of the last bits", rotated, "device", "7", loosened(fresh), false},
		{"no keys", lyceum.NewKeyring(), "device", "7", fresh, false},
		{"no ring", nil, "device", "7", fresh, false},
	} {
		if got := tc.ring.Verify(tc.purpose, tc.text, tc.signature); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	for _, none := range []*lyceum.Keyring{nil, {}, lyceum.NewKeyring()} {
		if signature, ok := none.Sign("device", "7"); ok || signature != "" {
			t.Errorf("a ring without keys signs %q", signature)
		}
	}
}

// loosened flips bits of the last character that do not encode any byte.
func loosened(signature string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(letters, signature[len(signature)-1])
	return signature[:len(signature)-1] + string(letters[last^1])
}

func TestKeyringFind(t *testing.T) {
	older, newer := secretKey(1), secretKey(2)
	ring := lyceum.NewKeyring(newer, older)
	for name, tc := range map[string]struct {
		id    lyceum.SecretKeyID
		want  lyceum.SecretKey
		there bool
	}{
		"the newest":      {newer.ID(), newer, true},
		"the oldest":      {older.ID(), older, true},
		"without a name":  {"", older, true},
		"one that is not": {secretKey(3).ID(), lyceum.SecretKey{}, false},
	} {
		if got, there := ring.Find(tc.id); got != tc.want || there != tc.there {
			t.Errorf("%s: found %v", name, there)
		}
	}
	var none *lyceum.Keyring
	if _, there := none.Find(""); there {
		t.Error("a key is found in no ring")
	}
}

func TestR16_SecretKeyIsNotPrinted(t *testing.T) {
	key := secretKey('k')
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		shown := fmt.Sprintf(verb, key) + fmt.Sprintf(verb, struct{ Key lyceum.SecretKey }{key})
		for _, leak := range []string{"kkkk", "6b6b", "107 107", base64.StdEncoding.EncodeToString(key[:4])} {
			if strings.Contains(shown, leak) {
				t.Errorf("%s prints %q", verb, shown)
			}
		}
	}
	if id := string(key.ID()); len(id) != 16 || strings.Contains(id, "6b6b") {
		t.Errorf("the id is %q", id)
	}
}

// TestKeyringSeals checks that what was sealed can be opened for the same purpose, as long as
// its key is in the keyring.
func TestKeyringSeals(t *testing.T) {
	older, newer := secretKey(1), secretKey(2)
	sealed, ok := lyceum.NewKeyring(older).Seal("template", "a secret")
	if again, _ := lyceum.NewKeyring(older).Seal("template", "a secret"); !ok || again == sealed {
		t.Fatalf("sealed %v, the same twice", ok)
	}
	if strings.Contains(sealed, "a secret") || lyceum.SealedBy(sealed) != older.ID() {
		t.Fatal(sealed)
	}
	for _, tt := range []struct {
		name            string
		ring            *lyceum.Keyring
		purpose, sealed string
		opens           bool
		want            lyceum.Kind // of the error
	}{
		{"its own", lyceum.NewKeyring(older), "template", sealed, true, 0},
		{"after a rotation", lyceum.NewKeyring(newer, older), "template", sealed, true, 0},
		{"after its key is gone", lyceum.NewKeyring(newer), "template", sealed, false, lyceum.Unavailable},
		{"no ring", nil, "template", sealed, false, lyceum.Unavailable},
		{"another purpose", lyceum.NewKeyring(older), "device", sealed, false, lyceum.Internal},
		{"cut", lyceum.NewKeyring(older), "template", sealed[:len(sealed)-4], false, lyceum.Internal},
		{"without a box", lyceum.NewKeyring(older), "template", string(older.ID()), false, lyceum.Internal},
		{"no base64", lyceum.NewKeyring(older), "template", string(older.ID()) + ".!", false, lyceum.Internal},
	} {
		text, err := tt.ring.Open(tt.purpose, tt.sealed)
		if tt.opens != (err == nil) || tt.opens && text != "a secret" || !tt.opens && lyceum.KindOf(err) != tt.want {
			t.Errorf("%s: %q, %v", tt.name, text, err)
		}
	}
	if _, ok := lyceum.NewKeyring().Seal("template", "a secret"); ok {
		t.Error("a ring without keys seals")
	}
}
