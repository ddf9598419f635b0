package lyceum

// Minor counts the smallest unit of a currency that stands beside it:
// 1999 with USD is $19.99, 1999 with JPY is ¥1999.
type Minor int64

// Share returns the part of an amount that is to it as part is to whole, to the
// nearest unit; 0 of a whole of 0.
func (m Minor) Share(part, whole Minor) Minor {
	if whole == 0 {
		return 0
	}
	share := m * part / whole
	if 2*(m*part%whole) >= whole {
		share++
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
