package access_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// counting is the randomness 0, 1, 2, …, and full the largest possible.
var counting, full = func() (a, b access.Entropy) {
	for i := range a {
		a[i], b[i] = byte(i), 0xff
	}
	return a, b
}()

// The texts were computed by another program, because issued keys must stay valid forever.
func TestKeyText(t *testing.T) {
	for _, tc := range []struct {
		school  lyceum.SchoolID
		entropy access.Entropy
		want    string
	}{
		{1, access.Entropy{}, "lyceum_key_1_00000000000000000000000000000000000000000001qyXep"},
		{1, full, "lyceum_key_1_YHJSKWDa6oz1al1yMhwzwM8llg7hJNUca2J5RoW8xP14DAyGs"},
		{1, counting, "lyceum_key_1_003AuLtjc7TJLctqJ2Unu3mfAGcxg9lrkrCWgKbidLF02fa7u"},
		{math.MaxInt32, access.Entropy{}, "lyceum_key_2147483647_000000000000000000000000000000000000000000039TGnX"},
		{math.MaxInt32, full, "lyceum_key_2147483647_YHJSKWDa6oz1al1yMhwzwM8llg7hJNUca2J5RoW8xP10A3DAo"},
		{math.MaxInt32, counting, "lyceum_key_2147483647_003AuLtjc7TJLctqJ2Unu3mfAGcxg9lrkrCWgKbidLF4afgvG"},
	} {
		if got := access.KeyText(tc.school, tc.entropy); got != tc.want {
			t.Errorf("school %d: %s, want %s", tc.school, got, tc.want)
		}
	}
}

func drawEntropy(t *rapid.T, name string) access.Entropy {
	return access.Entropy(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, name))
}

func TestSecretsHaveTheirForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		school := lyceum.SchoolID(rapid.Int32Range(1, math.MaxInt32).Draw(t, "school"))
		one, two := drawEntropy(t, "one"), drawEntropy(t, "two")
		for prefix, make := range map[string]func(lyceum.SchoolID, access.Entropy) string{
			"lyceum_key": access.KeyText, "lyceum_app": access.ClientID, "lyceum_secret": access.ClientSecret,
		} {
			form := regexp.MustCompile(fmt.Sprintf(`^%s_%d_[0-9A-Za-z]{49}$`, prefix, school))
			if text := make(school, one); !form.MatchString(text) {
				t.Fatalf("%s does not match %s", text, form)
			}
			if (make(school, one) == make(school, two)) != (one == two) {
				t.Fatalf("%x and %x give %s and %s", one, two, make(school, one), make(school, two))
			}
		}
	})
}

func TestNewEntropyIsNew(t *testing.T) {
	seen := map[access.Entropy]bool{}
	var ever access.Entropy // all bits that were set in any of them
	for range 10_000 {
		e := access.NewEntropy()
		if seen[e] {
			t.Fatalf("%x comes twice", e)
		}
		seen[e] = true
		for i := range e {
			ever[i] |= e[i]
		}
	}
	if ever != full {
		t.Errorf("not all 256 bits are random: %x", ever)
	}
}

// sealed appends the checksum to a text according to the documented format: the CRC-32 of
// everything before it, in six digits of base 62.
func sealed(text string) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sum := crc32.ChecksumIEEE([]byte(text))
	var seal [6]byte
	for i := range seal {
		seal[len(seal)-1-i] = digits[sum%62]
		sum /= 62
	}
	return text + string(seal[:])
}

// TestDamagedKeys checks, with a store that does not work, that damaged keys cause no query.
func TestDamagedKeys(t *testing.T) {
	d := newDesk(t)
	_, text := d.issue(t, lyceum.Read)
	if sealed(text[:len(text)-6]) != text {
		t.Fatalf("%s is not sealed as the test would", text)
	}
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.keys.Check(t.Context(), sealed(access.KeyText(d.school, full)[:56])); lyceum.KindOf(err) == lyceum.Unauthenticated {
		t.Fatalf("the store was not asked for a key that could be one: %v", err)
	}

	wantRefused(t, d.keys, "", noKey)
	const prefix = "lyceum_key_1_"
	random := strings.TrimPrefix(text, prefix)[:43]
	for name, damaged := range map[string]string{
		"last character missing":       text[:len(text)-1],
		"first character missing":      text[1:],
		"checksum missing":             text[:len(text)-6],
		"one character more":           text + "0",
		"twice":                        text + text,
		"two keys in a list":           text + ", " + text,
		"space before":                 " " + text,
		"space behind":                 text + " ",
		"line end behind":              text + "\n",
		"NUL behind":                   text + "\x00",
		"in quotes":                    `"` + text + `"`,
		"as a bearer":                  "Bearer " + text,
		"capital prefix":               "LYCEUM_KEY_1_" + strings.TrimPrefix(text, prefix),
		"prefix alone":                 prefix,
		"no prefix":                    strings.TrimPrefix(text, "lyceum_key_"),
		"another's prefix":             "sk_live_" + strings.TrimPrefix(text, "lyceum_key_"),
		"an app's id":                  access.ClientID(d.school, counting),
		"an app's secret":              access.ClientSecret(d.school, counting),
		"another school":               "lyceum_key_2_" + strings.TrimPrefix(text, prefix),
		"sealed without school":        sealed("lyceum_key__" + random),
		"sealed for school 0":          sealed("lyceum_key_0_" + random),
		"sealed for school 01":         sealed("lyceum_key_01_" + random),
		"sealed for school +1":         sealed("lyceum_key_+1_" + random),
		"sealed for school -1":         sealed("lyceum_key_-1_" + random),
		"sealed for school 1e0":        sealed("lyceum_key_1e0_" + random),
		"sealed for school １":          sealed("lyceum_key_１_" + random),
		"sealed for school 2147483648": sealed("lyceum_key_2147483648_" + random),
		"sealed for school 4294967297": sealed("lyceum_key_4294967297_" + random),
		"sealed with a short middle":   sealed(prefix + random[1:]),
		"sealed with a long middle":    sealed(prefix + random + "0"),
		"sealed without prefix":        sealed(random),
		"one letter in capitals":       prefix + strings.Map(swapCase, random) + text[len(text)-6:],
		"the hash of it":               fmt.Sprintf("%x", access.HashSecret(text)),
		"megabytes":                    prefix + strings.Repeat("0", 1<<21),
		"not UTF-8":                    "\xff\xfe" + text,
	} {
		t.Run(name, func(t *testing.T) {
			if damaged == text {
				t.Fatal("is not damaged")
			}
			wantRefused(t, d.keys, damaged, badKey)
		})
	}

	t.Run("any one character mistyped", func(t *testing.T) {
		for at := range text {
			for _, other := range []byte("01289abcyzABCYZ_- .é") {
				if mistyped := text[:at] + string(other) + text[at+1:]; mistyped != text {
					wantRefused(t, d.keys, mistyped, badKey)
				}
			}
		}
	})
	t.Run("any two neighbours swapped", func(t *testing.T) {
		for at := range len(text) - 1 {
			if swapped := text[:at] + text[at+1:at+2] + text[at:at+1] + text[at+2:]; swapped != text {
				wantRefused(t, d.keys, swapped, badKey)
			}
		}
	})
}

func swapCase(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return r - 'a' + 'A'
	case r >= 'A' && r <= 'Z':
		return r - 'A' + 'a'
	}
	return r
}

func TestHashSecret(t *testing.T) {
	hash := access.HashSecret("lyceum")
	if got := hex.EncodeToString(hash[:]); got != "4b5e95806493b3a2ca91fdf2ed1e96a9c0d1ca01e38f20f6d148671abe05bb41" {
		t.Errorf("the SHA-256 of lyceum is not %s", got)
	}
}

// TestR16KeyIsNotKept searches for the key's text in every file of the store.
func TestR16KeyIsNotKept(t *testing.T) {
	dir := t.TempDir()
	d := &desk{store: openStore(t, dir), clock: storetest.NewClock(storetest.Begin), school: 1}
	d.keys = access.NewKeys(d.store, d.clock.Now)
	if _, err := d.store.CreateSchool(t.Context(), lyceum.School{ID: 1, Name: "Fernwood", CreatedAt: d.clock.Now()}, "test"); err != nil {
		t.Fatal(err)
	}
	key, text := d.issue(t, lyceum.Read)
	wantAccepted(t, d.keys, text, byKey(1, key.ID, lyceum.Read))
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	hashSeen := false
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, canary := range []string{text, text[13:], text[len(text)-20:], text[13:33]} {
			if bytes.Contains(content, []byte(canary)) {
				t.Errorf("%s holds %s", name, canary)
			}
		}
		hashSeen = hashSeen || bytes.Contains(content, key.Hash[:])
	}
	if !hashSeen {
		t.Error("not even the hash was found: this test looks in the wrong place")
	}
}

// The hashes were computed by another implementation of argon2.
func TestHashPassword(t *testing.T) {
	salt := [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for password, want := range map[string]string{
		"correct horse battery staple": "gYJZtjEAJqjg26xdLmknq8/bB7MiWPrE9hsYuA+SkIU",
		"pässwörd 鍵":                   "2arzl/R5b919cU2omXzK7dEYDEIsYoWhUbv1A90C4P0",
		"":                             "MVSMP3rBIzE7F86FWHKNemRnE6hkgY2O2buZdxt7Gkw",
	} {
		got := access.HashPassword(password, salt)
		if want := "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$" + want; got != want {
			t.Errorf("%q gives %s, want %s", password, got, want)
		}
		direct := argon2.IDKey([]byte(password), salt[:], 2, 19<<10, 1, 32)
		if parts := strings.Split(got, "$"); parts[len(parts)-1] != base64.RawStdEncoding.EncodeToString(direct) {
			t.Errorf("%q is not what argon2 gives with the cost that stands in %s", password, got)
		}
	}
	other := salt
	other[0]++
	if access.HashPassword("a", salt) == access.HashPassword("a", other) || access.HashPassword("a", salt) == access.HashPassword("b", salt) {
		t.Error("salt or password does not matter")
	}
}
