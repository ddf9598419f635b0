package reference

import "strings"

// The descriptions of the documents use a part of CommonMark: paragraphs, flat lists
// marked by "- ", second-level headings, and code in backticks.

// block is a paragraph, or a list if it has items.
type block struct {
	Text  []span
	Items [][]span
}

// span is a piece of text.
type span struct {
	Code bool
	Text string
}

// chapter is the text under a heading.
type chapter struct {
	ID, Title string
	Blocks    []block
}

// prose parses text without headings.
func prose(text string) []block {
	var blocks []block
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		first, isList := strings.CutPrefix(part, "- ")
		if !isList {
			blocks = append(blocks, block{Text: spans(part)})
			continue
		}
		var items [][]span
		for item := range strings.SplitSeq(first, "\n- ") {
			items = append(items, spans(item))
		}
		blocks = append(blocks, block{Items: items})
	}
	return blocks
}

// chapters parses text with headings: the text before the first one, and the rest by
// heading.
func chapters(text string) (before []block, rest []chapter) {
	parts := strings.Split("\n"+text, "\n## ")
	for _, part := range parts[1:] {
		title, body, _ := strings.Cut(part, "\n")
		rest = append(rest, chapter{ID: "about-" + slug(title), Title: title, Blocks: prose(body)})
	}
	return prose(parts[0]), rest
}

// spans parses the text of a paragraph; every second piece between backticks is code.
func spans(text string) []span {
	var all []span
	for i, piece := range strings.Split(strings.Join(strings.Fields(text), " "), "`") {
		if piece != "" {
			all = append(all, span{Code: i%2 == 1, Text: piece})
		}
	}
	return all
}

// slug turns a title into a part of a URL.
func slug(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
