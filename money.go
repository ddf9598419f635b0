package lyceum

import (
	"strconv"
	"strings"
)

// Minor is an amount in the smallest unit of a currency, which is stored alongside: 1999 with
// USD is $19.99, 1999 with JPY is ¥1999.
type Minor int64

// Share returns m × part / whole, rounded to the nearest unit, or 0 if whole is 0. Part and
// whole must not be negative.
func (m Minor) Share(part, whole Minor) Minor {
	if whole == 0 {
		return 0
	}
	share, rest := m*part/whole, m*part%whole
	switch {
	case 2*rest >= whole:
		share++
	case 2*rest <= -whole: // m is negative, which a file may contain
		share--
	}
	return share
}

// USDCents is an amount in US dollar cents, whatever currency the buyer paid in.
type USDCents int64

// Currency is an upper-case ISO 4217 code, such as USD.
type Currency string

// ParseCurrency parses a three-letter code in upper or lower case. It does not check whether
// ISO has assigned the code, so that a new currency needs no release.
func ParseCurrency(s string) (Currency, error) {
	if len(s) != 3 {
		return "", Invalidf("must be a currency code of three letters, such as USD")
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
			b[i] = c
		}
		if c < 'A' || c > 'Z' {
			return "", Invalidf("must be a currency code of three letters, such as USD")
		}
	}
	return Currency(b), nil
}

// decimals is the number of decimals of amounts in a currency, if it is not two (ISO 4217).
var decimals = map[Currency]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0,
	"RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// Decimals returns the number of decimals of amounts in the currency.
func (c Currency) Decimals() int {
	if n, ok := decimals[c]; ok {
		return n
	}
	return 2
}

// signs maps currencies to their signs, in the forms that English uses where several currencies
// share a sign (CLDR). All other currencies are written with their codes.
var signs = map[Currency]string{
	"AUD": "A$", "BRL": "R$", "CAD": "CA$", "CNY": "CN¥", "EUR": "€", "GBP": "£", "HKD": "HK$", "ILS": "₪", "INR": "₹",
	"JPY": "¥", "KRW": "₩", "MXN": "MX$", "NZD": "NZ$", "PHP": "₱", "TWD": "NT$", "USD": "$", "VND": "₫",
}

// Sign returns the sign written before amounts of the currency, such as $, or "" if it has
// none.
func (c Currency) Sign() string { return signs[c] }

// CurrencyOf returns the currency with the given sign.
func CurrencyOf(sign string) (Currency, bool) {
	for c, s := range signs {
		if s == sign {
			return c, true
		}
	}
	return "", false
}

// Text formats an amount for people, such as $1,234.50, -€5.00 or CHF 19.99.
func (m Minor) Text(currency Currency) string {
	before := currency.Sign()
	if before == "" {
		before = string(currency) + " "
	}
	figure := m.Figure(currency)
	if unsigned, negative := strings.CutPrefix(figure, "-"); negative {
		return "-" + before + unsigned
	}
	return before + figure
}

// Figure formats an amount without its currency, such as 1,234.50.
func (m Minor) Figure(currency Currency) string {
	text := m.Decimal(currency)
	end := len(text)
	if n := currency.Decimals(); n > 0 {
		end -= n + 1
	}
	for at := end - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Decimal formats an amount as it is typed: 1999 in USD is 19.99.
func (m Minor) Decimal(currency Currency) string {
	sign := ""
	if m < 0 {
		sign = "-"
	}
	text := strings.TrimPrefix(strconv.FormatInt(int64(m), 10), "-")
	n := currency.Decimals()
	if n == 0 {
		return sign + text
	}
	if len(text) <= n {
		text = strings.Repeat("0", n+1-len(text)) + text
	}
	return sign + text[:len(text)-n] + "." + text[len(text)-n:]
}
