package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// typography joins an amount with non-breaking spaces, and replaces the hyphen with a minus
// sign.
var typography = strings.NewReplacer(" ", "\u00a0", "-", "\u2212")

// money formats an amount for people: 123456 in USD is $1,234.56.
func money(amount lyceum.Minor, currency lyceum.Currency) string {
	return typography.Replace(amount.Text(currency))
}

func thousands(text string) string {
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// dollars formats an amount of US cents for people.
func dollars(amount lyceum.USDCents) string { return money(lyceum.Minor(amount), "USD") }

// maxAmountDigits is how many digits an amount may have before the point: the contract's int32
// has ten.
const maxAmountDigits = 10

// parseDecimal parses an amount as Decimal writes it; fewer decimals are accepted, too, and a comma
// instead of the point unless it may be one that separates thousands.
func parseDecimal(text string, currency lyceum.Currency) (lyceum.Minor, error) {
	n := currency.Decimals()
	whole, fraction, pointed := strings.Cut(strings.TrimSpace(text), ".")
	if !pointed && n < 3 {
		whole, fraction, pointed = strings.Cut(whole, ",")
	}
	if !figures(whole) || len(whole) > maxAmountDigits || pointed && (!figures(fraction) || len(fraction) > n) {
		return 0, lyceum.InvalidFields(lyceum.FieldError{Field: "amount", Message: amountTaken(currency)})
	}
	amount, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", n-len(fraction)), 10, 64)
	return lyceum.Minor(amount), err
}

func figures(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// amountTaken says which amounts are accepted, worded to follow the field's label.
func amountTaken(currency lyceum.Currency) string {
	n := currency.Decimals()
	if n == 0 {
		return fmt.Sprintf("must be a whole number such as 1500, without signs or spaces: %s has no decimals", currency)
	}
	sign := "a point"
	if n < 3 {
		sign = "a point or a comma"
	}
	return fmt.Sprintf("must be a number such as 19.5%s, with %s before %d decimals at most and no other signs",
		strings.Repeat("0", n-1), sign, n)
}
