package oauth

import "strings"

// browserOf returns the name and the operating system of a browser, so that users recognise
// their sessions. Nothing else of the User-Agent header is stored; what is unknown is left out.
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

// sign is a word in a User-Agent header and what it means.
type sign struct{ word, name string }

// families are checked in this order, because most browsers also name those that they are
// compatible with.
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
