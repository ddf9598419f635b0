package templates

import (
	"regexp"
	"slices"
	"strings"

	"github.com/osteele/liquid/parser"

	"github.com/lyceum-school/lyceum"
)

// accepted are the tags that a template can use. Those left out read files (include) or produce
// text that is not counted (capture).
var accepted = []string{
	"assign", "break", "case", "comment", "continue", "else", "elsif", "for", "if", "raw", "unless", "when",
	"endcase", "endcomment", "endfor", "endif", "endraw", "endunless",
}

// blocks are the tags that have an end tag, except raw and comment.
var blocks = []string{"case", "for", "if", "unless"}

var (
	quoted     = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	filterName = regexp.MustCompile(`\|\s*(\w*)`)
	opening    = regexp.MustCompile(`\{\{|\{%`)
)

// checkSyntax rejects what the language lacks but Compile would accept: filters are looked up
// when they are applied, which for some is only after the template was saved.
func checkSyntax(tokens []parser.Token) error {
	closing := ""     // of the block whose content is skipped
	var open []string // the enclosing blocks
	for i := range tokens {
		token := &tokens[i]
		if closing != "" {
			if token.Type == parser.TagTokenType && token.Name == closing {
				closing = ""
			}
			continue
		}
		var why string
		switch token.Type {
		case parser.TextTokenType:
			if at := opening.FindStringIndex(token.Source); at != nil {
				token.SourceLoc.LineNo += strings.Count(token.Source[:at[0]], "\n")
				why = token.Source[at[0]:at[1]] + " is not closed"
			}
		case parser.TagTokenType:
			if token.Name == "raw" || token.Name == "comment" {
				closing = "end" + token.Name
			}
			if why = checkTag(token); why == "" {
				open, why = follow(open, token.Name)
			}
		case parser.ObjTokenType:
			why = checkExpression(token.Args, false)
		case parser.TrimLeftTokenType, parser.TrimRightTokenType:
		}
		if why != "" {
			return lyceum.Invalidf("line %d: %s", token.SourceLoc.LineNo, why)
		}
	}
	if closing != "" {
		return lyceum.Invalidf("the template has no {%% %s %%}", closing)
	}
	return nil
}

// follow returns the blocks that are open after a tag, or an error message if the tag ends none
// of them.
func follow(open []string, tag string) ([]string, string) {
	switch block, ends := strings.CutPrefix(tag, "end"); {
	case slices.Contains(blocks, tag):
		return append(open, tag), ""
	case !ends || block == "raw" || block == "comment":
		return open, ""
	case len(open) == 0 || open[len(open)-1] != block:
		return open, "{% " + tag + " %} ends no {% " + block + " %}"
	default:
		return open[:len(open)-1], ""
	}
}

func checkTag(token *parser.Token) string {
	if !slices.Contains(accepted, token.Name) {
		return token.Name + " is not a tag; use one of assign, case, comment, for, if, raw, unless"
	}
	return checkExpression(token.Args, token.Name == "for")
}

// checkExpression returns what is wrong with an expression. A range can be a very long list, and
// a filter would build all of it, whereas for takes its members one by one.
func checkExpression(source string, loop bool) string {
	bare := quoted.ReplaceAllString(source, "")
	if strings.HasPrefix(strings.TrimSpace(bare), "%") {
		return "an expression cannot begin with %"
	}
	if strings.Contains(bare, "..") && (!loop || strings.Contains(bare, "|")) {
		return "a range such as (1..5) can be used in for, without a filter"
	}
	for _, found := range filterName.FindAllStringSubmatch(bare, -1) {
		if name := found[1]; !slices.Contains(filterNames, name) {
			return `"` + name + `" is not a filter; use one of ` + strings.Join(filterNames, ", ")
		}
	}
	return ""
}
