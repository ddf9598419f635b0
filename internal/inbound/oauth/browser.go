package oauth

import "strings"

// browserOf names the family and the system of a browser, as a person who looks
// for a session knows them. Nothing else of the header is kept; what is unknown
// is empty.
func browserOf(agent string) string {
	family, system := firstOf(agent, families), firstOf(agent, systems)
	switch {
	case family == "":
		return system
	case system == "":
		return family
	}
	return family + " on " + system
}

// sign is a word of a User-Agent header and what it stands for.
type sign struct{ word, name string }

// families in the order in which they are looked for: most browsers name those
// that they are like as well.
var families = []sign{
	{"Edg", "Edge"},
	{"OPR/", "Opera"},
	{"SamsungBrowser/", "Samsung Internet"},
	{"Firefox/", "Firefox"},
	{"FxiOS/", "Firefox"},
	{"CriOS/", "Chrome"},
	{"Chrome/", "Chrome"},
	{"Version/", "Safari"},
	{"curl/", "curl"},
}

var systems = []sign{
	{"iPhone", "iPhone"},
	{"iPad", "iPad"},
	{"Android", "Android"},
	{"CrOS", "ChromeOS"},
	{"Windows", "Windows"},
	{"Macintosh", "macOS"},
	{"Linux", "Linux"},
}

func firstOf(agent string, signs []sign) string {
	for _, s := range signs {
		if strings.Contains(agent, s.word) {
			return s.name
		}
	}
	return ""
}
