package demo

import (
	"regexp"
	"slices"
	"testing"
	"unicode"
)

func TestNamesComeFromManyCultures(t *testing.T) {
	given, family := map[string]bool{}, map[string]bool{}
	for _, table := range nameTables {
		for _, n := range table.names() {
			given[n.given], family[n.family] = true, true
		}
	}
	if len(nameTables) < 15 || len(given) < 60 || len(family) < 60 {
		t.Errorf("%d cultures, %d given and %d family names; want 15, 60 and 60",
			len(nameTables), len(given), len(family))
	}
}

func TestNamesAreInTheirOwnScripts(t *testing.T) {
	var letters []rune
	for _, table := range nameTables {
		for _, n := range table.names() {
			letters = append(letters, []rune(n.text)...)
		}
	}
	for _, script := range []string{
		"Latin", "Cyrillic", "Greek", "Georgian", "Armenian", "Hebrew", "Arabic", "Devanagari", "Tamil",
		"Bengali", "Han", "Hiragana", "Katakana", "Hangul", "Thai", "Ethiopic",
	} {
		if !slices.ContainsFunc(letters, func(r rune) bool { return unicode.Is(unicode.Scripts[script], r) }) {
			t.Errorf("no name in %s", script)
		}
	}
}

func TestNamesHaveAnAddressInASCII(t *testing.T) {
	want := regexp.MustCompile(`^[a-z]+$`)
	for _, table := range nameTables {
		for _, n := range table.names() {
			if !want.MatchString(n.given) || !want.MatchString(n.family) {
				t.Errorf("%s: %q is addressed as %q and %q", table.culture, n.text, n.given, n.family)
			}
		}
	}
}

func TestNamesKeepTheCustomsOfTheirCulture(t *testing.T) {
	for _, tc := range []struct {
		culture, name string
		want          bool
	}{
		{"German", "Käthe Schäfer", true},
		{"German", "Schäfer Käthe", false},
		{"Hungarian", "Nagy Réka", true},
		{"Hungarian", "Réka Nagy", false},
		{"Korean", "김민준", true},
		{"Chinese", "欧阳丽华", true},
		{"Chinese", "丽华欧阳", false},
		{"Japanese", "佐藤 美咲", true},
		{"Vietnamese", "Nguyễn Thị Hương", true},
		{"Icelandic", "Guðrún Jónsdóttir", true},
		{"Icelandic", "Guðrún Jónsson", false},
		{"Icelandic", "Jón Gunnarsson", true},
		{"Czech", "Tereza Nováková", true},
		{"Czech", "Petr Nováková", false},
		{"Polish", "Zofia Kowalska", true},
		{"Bulgarian", "Елена Иванов", false},
		{"Greek", "Νίκος Παπαδόπουλος", true},
		{"Greek", "Ελένη Παπαδόπουλος", false},
		{"Spanish", "Lucía García López", true},
		{"Thai", "สมชาย ใจดี", true},
	} {
		t.Run(tc.culture+" "+tc.name, func(t *testing.T) {
			i := slices.IndexFunc(nameTables[:], func(n nameTable) bool { return n.culture == tc.culture })
			got := slices.ContainsFunc(nameTables[i].names(), func(n fullName) bool { return n.text == tc.name })
			if got != tc.want {
				t.Errorf("is among the names: %t, want %t", got, tc.want)
			}
		})
	}
}
