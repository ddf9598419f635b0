package main

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// Each link of the console leads to a page, in the whole server. Of pages that differ
// in a number only, one is opened.
func TestLinksOfTheConsole(t *testing.T) {
	t.Parallel()
	_, login := openSandbox(t)
	open := signedIn(t, &shop{addr: strings.TrimPrefix(login.BaseURL, "http://"), key: login.APIKey}, login)
	link, number := regexp.MustCompile(`<a [^>]*href="(/admin[^"#?]*)`), regexp.MustCompile(`[0-9]+`)
	seen := map[string]bool{"/admin": true}
	for next := []string{"/admin"}; len(next) > 0; {
		path := next[0]
		next = next[1:]
		for _, found := range link.FindAllStringSubmatch(open(t, path), -1) {
			to := html.UnescapeString(found[1])
			if kind := number.ReplaceAllString(to, "0"); !seen[kind] && !strings.HasSuffix(to, ".csv") {
				seen[kind] = true
				next = append(next, to)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d pages were opened: %v", len(seen), seen)
	}
}
