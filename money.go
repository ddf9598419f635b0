package lyceum

import (
	"strconv"
	"strings"
)

// Minor counts the smallest unit of a currency that stands beside it:
// 1999 with USD is $19.99, 1999 with JPY is ¥1999.
type Minor int64

// Share returns the part of an amount that is to it as part is to whole, to the
// nearest unit; 0 of a whole of 0. Part and whole are not below 0.
func (m Minor) Share(part, whole Minor) Minor {
	if whole == 0 {
		return 0
	}
	share, rest := m*part/whole, m*part%whole
	switch {
	case 2*rest >= whole:
		share++
	case 2*rest <= -whole: // of an amount below 0, which a file may have
		share--
	}
	return share
}

// USDCents counts cents of the US dollar, whatever currency the buyer chose.
type USDCents int64

// Currency is an ISO 4217 code in capital letters, such as USD.
type Currency string

// ParseCurrency reads a three-letter code in either case. It does not ask
// whether ISO has assigned the code, so that a new currency needs no release.
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

// decimals are those that amounts of a currency are written with, where they are
// not two (ISO 4217).
var decimals = map[Currency]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0,
	"RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// Decimals returns how many decimals amounts of the currency are written with.
func (c Currency) Decimals() int {
	if n, ok := decimals[c]; ok {
		return n
	}
	return 2
}

// signs are those of currencies, as English writes them where several share one
// (CLDR). The other currencies are written with their codes.
var signs = map[Currency]string{
	"AUD": "A$", "BRL": "R$", "CAD": "CA$", "CNY": "CN¥", "EUR": "€", "GBP": "£", "HKD": "HK$", "ILS": "₪", "INR": "₹",
	"JPY": "¥", "KRW": "₩", "MXN": "MX$", "NZD": "NZ$", "PHP": "₱", "TWD": "NT$", "USD": "$", "VND": "₫",
}

// Sign returns the sign that is written before amounts of the currency, such as
// $; "" if it has none.
func (c Currency) Sign() string { return signs[c] }

// CurrencyOf returns the currency of a sign.
func CurrencyOf(sign string) (Currency, bool) {
	for c, s := range signs {
		if s == sign {
			return c, true
		}
	}
	return "", false
}

// Text writes an amount as people read it, such as $1,234.50, -€5.00 or
// CHF 19.99.
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

// Figure writes an amount whose currency stands elsewhere, such as 1,234.50.
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

// Decimal writes an amount as it is typed: 1999 of USD is 19.99.
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
