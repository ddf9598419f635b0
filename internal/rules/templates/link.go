package templates

import (
	"regexp"
	"strings"

	"github.com/osteele/liquid/parser"

	"github.com/lyceum-school/lyceum"
)

// usesLink matches an expression that reads the variable link.
var usesLink = regexp.MustCompile(`(?:^|[^\w.-])link\b`)

// checkLink rejects an email that would give its link to somebody else than its reader. Whoever
// may change the emails of a school is not necessarily its owner, and the link gives access to
// an account: as a part of another address, it would be sent to that server by whoever clicks it.
func checkLink(email *Email, made Composed, link string) (wrong []lyceum.FieldError) {
	for _, part := range []struct{ field, source, text string }{
		{"subject", email.Subject, made.Subject}, {"body", email.Body, made.Text},
	} {
		switch {
		case !plainLink(part.source):
			wrong = append(wrong, lyceum.FieldError{
				Field: part.field, Message: "may use link only as {{ link }}, in no tag and with no filter",
			})
		case !apart(part.text, link):
			wrong = append(wrong, lyceum.FieldError{
				Field: part.field, Message: "must have a space, a line break or < before {{ link }}",
			})
		}
	}
	return wrong
}

// plainLink reports whether a template uses the variable link only to show it as it is.
func plainLink(source string) bool {
	for _, token := range parser.Scan(source, parser.SourceLoc{}, nil) {
		code := token.Type == parser.ObjTokenType || token.Type == parser.TagTokenType
		shown := token.Type == parser.ObjTokenType && strings.TrimSpace(token.Args) == "link"
		if code && !shown && usesLink.MatchString(quoted.ReplaceAllString(token.Args, `""`)) {
			return false
		}
	}
	return true
}

// apart reports whether no link in a text continues what is before it.
func apart(text, link string) bool {
	for at := 0; ; at++ {
		next := strings.Index(text[at:], link)
		if next < 0 {
			return true
		}
		if at += next; at > 0 && strings.IndexByte(" \t\r\n<", text[at-1]) < 0 {
			return false
		}
	}
}
