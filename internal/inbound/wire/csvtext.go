package wire

import (
	"bytes"
	"strings"
)

// separators separate cells in spreadsheets that do not use our commas: those of countries that
// use semicolons, and those set to tabs. Such a spreadsheet does not honour our quotes either,
// so a line end inside a cell starts a new row.
const separators = ";\t\r\n"

// AppendCSVText appends s as a cell. It puts an apostrophe before a cell that a spreadsheet
// would run as a formula, and before any part of the cell that would be run by a spreadsheet
// with other separators. Text that looks already guarded gets another apostrophe, so that
// removing one always restores the cell.
func AppendCSVText(b []byte, s string) []byte {
	formula := StartsFormula(strings.TrimLeft(s, "'"))
	guarded := guardParts(s)
	if !formula && s != "" && guarded == s && !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	if formula {
		b = append(b, '\'')
	}
	b = append(b, strings.ReplaceAll(guarded, `"`, `""`)...)
	return append(b, '"')
}

// guardParts puts an apostrophe before each part after a separator that a spreadsheet would
// run.
func guardParts(s string) string {
	var guarded strings.Builder
	kept := 0
	for i := 0; ; {
		next := strings.IndexAny(s[i:], separators)
		if next < 0 {
			break
		}
		if i += next + 1; runs(s[i:]) {
			guarded.WriteString(s[kept:i])
			guarded.WriteByte('\'')
			kept = i
		}
	}
	if kept == 0 {
		return s
	}
	return guarded.String() + s[kept:]
}

// runs reports whether a spreadsheet would run a part of a cell, ignoring the quotes and
// apostrophes before it.
func runs(part string) bool {
	part = strings.TrimLeft(part, `'"`)
	return StartsFormula(part) && !strings.ContainsAny(part[:1], separators)
}

// StripCSVGuards removes the apostrophes that AppendCSVText put into a cell.
func StripCSVGuards(b []byte) []byte {
	if len(b) > 0 && b[0] == '\'' {
		if rest := bytes.TrimLeft(b, "'"); StartsFormula(string(rest[:min(len(rest), 3)])) {
			b = b[1:]
		}
	}
	if bytes.IndexByte(b, '\'') < 0 {
		return b
	}
	var stripped []byte // b itself belongs to the reader
	kept := 0
	for i := 1; i < len(b); i++ {
		if b[i] == '\'' && strings.IndexByte(separators, b[i-1]) >= 0 && runsAt(b[i+1:]) {
			stripped = append(stripped, b[kept:i]...)
			kept = i + 1
		}
	}
	if kept == 0 {
		return b
	}
	return append(stripped, b[kept:]...)
}

func runsAt(part []byte) bool {
	part = bytes.TrimLeft(part, `'"`)
	return runs(string(part[:min(len(part), 3)]))
}

// StartsFormula reports whether a spreadsheet may read s as a formula: it starts with = + - @,
// a tab or a line end, or with the full-width form of one of the signs.
func StartsFormula(s string) bool {
	if s == "" {
		return false
	}
	switch s[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return true
	}
	return strings.HasPrefix(s, "＝") || strings.HasPrefix(s, "＋") ||
		strings.HasPrefix(s, "－") || strings.HasPrefix(s, "＠")
}
