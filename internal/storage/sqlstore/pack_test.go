package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPackedTextsComeBack(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 100_000)
	for i := range random {
		random[i] = byte(source.Uint32())
	}
	for _, text := range []string{
		"", "x", "{}", `{"id":7,"user":{"name":"Zoë"}}`, "\x00\x00", strings.Repeat("a", 5<<20), string(random),
		string(dictionary),
	} {
		packed := pack(text)
		if len(packed) > len(text)+1 {
			t.Errorf("%d bytes became %d", len(text), len(packed))
		}
		if got, err := unpack(packed); err != nil || got != text {
			t.Errorf("%.40q came back as %.40q: %v", text, got, err)
		}
	}
}

// What older versions packed can be read: the dictionary and the format of the frames are
// unchanged.
func TestPackedTextsOfOlderVersions(t *testing.T) {
	t.Parallel()
	const sum = "958351f1b191efe593f3a9faa60521998d90300de1451052133651ee651b35d7"
	if got := sha256.Sum256(dictionary); hex.EncodeToString(got[:]) != sum {
		t.Errorf("the dictionary is another one, %x: what is stored cannot be read any more", got)
	}
	const text = `{"course_id":9,"id":7,"user":{"email":"ann@example.com","first_touch":null}}`
	for _, older := range []string{"00" + hex.EncodeToString([]byte(text)), "0128b52ffd0500010d0100707b5f6964223a37223a7b616e7d7d050005e5811bca7ad48b711300b3929d65364b001d2b"} {
		packed, err := hex.DecodeString(older)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpack(packed); err != nil || got != text {
			t.Errorf("%s is %q, %v", older, got, err)
		}
	}
}

func TestDamagedPackedTexts(t *testing.T) {
	t.Parallel()
	whole := pack(strings.Repeat(`{"user_id":7}`, 20))
	damaged := append([]byte(nil), whole...)
	damaged[len(damaged)-6] ^= 1
	for name, packed := range map[string][]byte{
		"empty": {}, "cut": whole[:len(whole)-1], "changed": damaged, "of a newer version": {9, 1, 2},
	} {
		if text, err := unpack(packed); err == nil {
			t.Errorf("%s: read as %q", name, text)
		}
	}
}
