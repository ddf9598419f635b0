package intake

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// maxCell is the maximum size of a cell, in bytes.
const maxCell = 64 << 10

// maxLong is the same for long cells, such as the texts of lectures and the questions of quizzes.
const maxLong = 512 << 10

// form is the syntactic form of a cell in the file.
type form uint8

const (
	formNull      form = iota // JSON null, or nothing between two commas
	formText                  // a CSV cell or a JSON string
	formNumber                // a JSON number
	formBoolean               // JSON true or false
	formComposite             // a JSON object or array
)

// cell is a raw value of a row. Its text is valid until the next cell is read.
type cell struct {
	text []byte
	form form
}

// What cells accept, phrased to follow the column's name.
const (
	idTaken        = "must be an integer from 1 to 2147483647, digits only"
	amountTaken    = "must be an integer from -2147483648 to 2147483647, digits only"
	booleanTaken   = "must be true, false, 1 or 0"
	statusTaken    = "must be paid, or empty for unpaid"
	frequencyTaken = "must be free, one_time_payment, subscription or payment_plan"
	emailTaken     = "must be an e-mail address such as ann@example.com, of at most 254 bytes"
	countTaken     = "must be an integer from 0 to 2147483647, digits only"
	partTaken      = "must be a number from 0 to 1 such as 0.75"
	percentTaken   = "must be a number from 0 to 100 such as 72.5"
	questionsTaken = "must be a JSON list of questions, each with question, question_type (such as single or multiple), " +
		"answers, correct_answers and graded"
	stringTaken = "must be a string"
	utf8Taken   = "must be valid UTF-8"
	nulRefused  = "must not contain a NUL character"
)

// integer parses decimal digits with an optional minus sign: no plus sign, space, decimal
// point or exponent.
func (c cell) integer() (n int32, ok bool) {
	digits := c.text
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	var sum int64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		sum = sum*10 + int64(d-'0')
		if sum > math.MaxInt32+1 {
			return 0, false
		}
	}
	if negative {
		sum = -sum
	}
	return int32(sum), len(digits) > 0 && sum <= math.MaxInt32
}

// positive parses an integer of at least 1, such as an id.
func (c cell) positive() (n int32, ok bool) {
	n, ok = c.integer()
	return n, ok && n >= 1
}

// fraction parses a number from 0 to most.
func (c cell) fraction(most float64) (n float64, ok bool) {
	if c.form != formText && c.form != formNumber || bytes.ContainsAny(c.text, "xXpP_iInN") {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(c.text), 64)
	return n, err == nil && n >= 0 && n <= most && !math.Signbit(n)
}

func (c cell) boolean() (b, ok bool) {
	switch string(c.text) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// string returns free text.
func (c cell) string() (s, problem string) {
	switch {
	case c.form != formText:
		return "", stringTaken
	case !utf8.Valid(c.text):
		return "", utf8Taken
	case bytes.IndexByte(c.text, 0) >= 0:
		return "", nulRefused
	}
	return string(c.text), ""
}

// email returns text that looks like an email address. It does not check whether the
// address exists.
func (c cell) email() (s, problem string) {
	s, problem = c.string()
	if problem != "" {
		return "", problem
	}
	local, domain, _ := strings.Cut(s, "@")
	if local == "" || domain == "" || strings.Contains(domain, "@") || len(s) > 254 ||
		strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", emailTaken
	}
	return s, ""
}

// currency parses a currency code. If it repeats that of the previous row, it allocates
// nothing.
func (c cell) currency(m *memo) (lyceum.Currency, string) {
	if string(c.text) == string(m.currency) {
		return m.currency, ""
	}
	currency, err := lyceum.ParseCurrency(string(c.text))
	if err != nil {
		return "", lyceum.Public(err).Detail
	}
	m.currency = currency
	return currency, ""
}
