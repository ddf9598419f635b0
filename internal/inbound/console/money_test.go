package console

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestMoney(t *testing.T) {
	for _, tc := range []struct {
		amount   lyceum.Minor
		currency lyceum.Currency
		decimal  string
		money    string
	}{
		{1999, "USD", "19.99", "$19.99"},
		{0, "USD", "0.00", "$0.00"},
		{5, "EUR", "0.05", "€0.05"},
		{123456789, "USD", "1234567.89", "$1,234,567.89"},
		{100000, "USD", "1000.00", "$1,000.00"},
		{99999, "USD", "999.99", "$999.99"},
		{-1999, "USD", "-19.99", "−$19.99"},
		{-5, "USD", "-0.05", "−$0.05"},
		{9000, "JPY", "9000", "¥9,000"},
		{0, "KRW", "0", "₩0"},
		{250000, "VND", "250000", "₫250,000"},
		{999, "CLP", "999", "CLP 999"},
		{1500, "BHD", "1.500", "BHD 1.500"},
		{1, "KWD", "0.001", "KWD 0.001"},
		{12345678, "KWD", "12345.678", "KWD 12,345.678"},
		{1, "CLF", "0.0001", "CLF 0.0001"},
		{1999, "ZZZ", "19.99", "ZZZ 19.99"},
	} {
		if got := tc.amount.Decimal(tc.currency); got != tc.decimal {
			t.Errorf("%d %s is %q, want %q", tc.amount, tc.currency, got, tc.decimal)
		}
		if got := strings.ReplaceAll(money(tc.amount, tc.currency), "\u00a0", " "); got != tc.money {
			t.Errorf("%d %s is %q, want %q", tc.amount, tc.currency, got, tc.money)
		}
		if tc.amount < 0 {
			continue
		}
		if got, err := parseDecimal(tc.decimal, tc.currency); got != tc.amount || err != nil {
			t.Errorf("%q %s is read as %d, %v", tc.decimal, tc.currency, got, err)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	for _, tc := range []struct {
		text     string
		currency lyceum.Currency
		want     lyceum.Minor
	}{
		{"19", "USD", 1900},
		{"19.9", "USD", 1990},
		{" 19.99 ", "USD", 1999},
		{"019.99", "USD", 1999},
		{"0", "USD", 0},
		{"19,99", "USD", 1999},
		{"19,9", "USD", 1990},
		{"1.5", "BHD", 1500},
		{"9999999999.99", "USD", 999999999999},
	} {
		if got, err := parseDecimal(tc.text, tc.currency); got != tc.want || err != nil {
			t.Errorf("%q %s is read as %d, %v; want %d", tc.text, tc.currency, got, err, tc.want)
		}
	}
	for _, tc := range []struct {
		currency lyceum.Currency
		texts    []string
		says     string
	}{
		{"USD", []string{"", " ", ".", "19.", ".99", "19,", ",99", "1,999", "1,999.00", "1.999,00", "19,9,9", "19.999", "-1", "+1", "1e3", "0x1", "$19", "19 99", "１９", "1_000", "19.9.9", "12345678901", "NaN", "\x00"}, "such as 19.50, with a point or a comma before 2 decimals at most"},
		{"JPY", []string{"", "1500.0", "1500.", "1,500", "15,00", "-1"}, "a whole number such as 1500"},
		{"BHD", []string{"1.5000", "1,500", "1,5"}, "such as 19.500, with a point before 3 decimals at most"},
	} {
		for _, text := range tc.texts {
			got, err := parseDecimal(text, tc.currency)
			e := lyceum.Public(err)
			if e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != "amount" || !strings.Contains(e.Fields[0].Message, tc.says) {
				t.Errorf("%q %s is read as %d, %v", text, tc.currency, got, err)
			}
		}
	}
}

func TestUngrouped(t *testing.T) {
	for text, want := range map[string]string{
		"1234": "1234", "1,234": "1234", "1,234.5": "1234.5", "1,234,567.890": "1234567.890",
		"1.234,56": "1234,56", "1.234.567,89": "1234567,89", "1.234.567": "1234567",
		"19,99": "19,99", "19.99": "19.99", "1.234": "1.234", "1,2345": "1,2345", "1234,567": "1234,567", "1,23,456": "1,23,456",
	} {
		if got := ungrouped(text); got != want {
			t.Errorf("%s without groups is %s, want %s", text, got, want)
		}
	}
}
