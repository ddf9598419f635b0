package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// searchPage is the data of the search page.
type searchPage struct {
	Form    *form
	Sales   []option // by number or reference
	Amounts []option // transactions with an amount
	Bounded bool     // there are transactions whose amounts were not looked at
	People  []option
	Offers  []option // courses, plans and affiliates
	More    bool
}

// Nothing reports whether nothing was found.
func (p *searchPage) Nothing() bool {
	return len(p.Sales)+len(p.Amounts)+len(p.People)+len(p.Offers) == 0
}

// Searched returns the maximum number of transactions that are searched for an amount.
func (p *searchPage) Searched() int64 { return amountsSearched }

// search serves GET /admin/search.
func (c *console) search(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(searchPath)
	f.keep(func(name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }, "q")
	text := f.Values["q"]
	p := searchPage{Form: f}
	var err error
	if wrong := unsearchable(text); wrong != "" {
		err = lyceum.InvalidFields(lyceum.FieldError{Field: "q", Message: wrong})
		f.Values["q"] = shortened(text)
	} else if text != "" {
		err = c.find(r.Context(), v, text, &p)
	}
	status := http.StatusOK
	if err != nil && f.refuse(err) {
		status, err = http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return err
	}
	return c.show(w, r, status, "search.gohtml", v, "Search", &p)
}

// unsearchable returns why a text cannot be searched for, worded to follow the field's label;
// "" if it can.
func unsearchable(text string) string {
	switch {
	case len(text) > maxEmail || !lyceum.IsText(text):
		return fmt.Sprintf("must be at most %d bytes of text", maxEmail)
	case text == "" || figures(text):
		return ""
	case !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return "must contain a letter or a digit"
	}
	if r, size := utf8.DecodeRuneInString(text); size == len(text) && !unicode.In(r, syllables...) {
		return "must have at least two characters, or be a number"
	}
	return ""
}

// shortened returns the beginning of a text that cannot be searched for, without half characters.
func shortened(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxEmail)], "") }

// syllables are the scripts in which a single character can be a name.
var syllables = []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana}

// find searches payments, users and what is sold for a text.
func (c *console) find(ctx context.Context, v *visit, text string, p *searchPage) error {
	sales, err := c.findSales(ctx, v, text)
	if err != nil {
		return err
	}
	p.Sales = sales
	if amount, ok := parseAmount(text); ok {
		if err := c.findAmount(ctx, v, amount, p); err != nil {
			return err
		}
	}
	for _, in := range picked {
		found, err := c.options(ctx, v, in.Of, text)
		if err != nil {
			return err
		}
		p.More = p.More || len(found) > maxOptions
		for _, n := range found[:min(len(found), maxOptions)] {
			o := optionOf(n, listAddress(url.Values{in.Field: {strconv.Itoa(int(n.ID))}}))
			switch {
			case in.Of == lyceum.UserSequence && access.May(v.Role, "GET "+peoplePath+"/{id}"):
				o.Address = personPath(lyceum.UserID(n.ID))
				p.People = append(p.People, o)
			case in.Of == lyceum.UserSequence:
				p.People = append(p.People, o)
			default:
				o.Note = strings.TrimSuffix(labels[in.Field]+", "+o.Note, ", ")
				p.Offers = append(p.Offers, o)
			}
		}
	}
	return nil
}

// findSales finds the sales whose number, or the reference of whose payment, is the text.
func (c *console) findSales(ctx context.Context, v *visit, text string) ([]option, error) {
	var found []option
	in := c.Names.In(ctx, v.School.ID)
	reference, there, err := in.References.First(in, lyceum.ReferenceFilter{Name: lyceum.Some(text)})
	if err != nil {
		return nil, err
	}
	if there {
		found, err = c.addTransaction(ctx, v, found, reference.Transaction, "Payment "+text)
		if err != nil {
			return nil, err
		}
	}
	number, ok := parseID[lyceum.SaleID](text)
	if !ok {
		return found, nil
	}
	switch sale, err := c.Sales.Show(ctx, v.by(), number); {
	case err == nil:
		found = append(found, option{Name: "Sale " + text, Address: salePath(sale.ID)})
	case !isNotFound(err):
		return nil, err
	}
	return c.addTransaction(ctx, v, found, lyceum.TransactionID(number), "Transaction "+text)
}

// addTransaction adds the sale of a transaction, if it exists.
func (c *console) addTransaction(
	ctx context.Context, v *visit, to []option, id lyceum.TransactionID, name string,
) ([]option, error) {
	t, err := c.Sales.ShowTransaction(ctx, v.by(), id)
	if isNotFound(err) {
		return to, nil
	}
	if err != nil {
		return nil, err
	}
	sale := strconv.Itoa(int(t.SaleID))
	return append(to, option{Name: name, Note: "of sale " + sale, Address: salePath(t.SaleID)}), nil
}

// amountsSearched is how many transactions are searched for an amount, newest first, so that a
// search takes no longer in a school with millions of them.
const amountsSearched = lyceum.NamesSearched

// typedAmount is an amount as a user typed it; without a currency, in any currency.
type typedAmount struct {
	Decimal  string
	Currency lyceum.Currency
}

// parseAmount parses an amount such as 19.99, 19,99 €, $1,234.56, 1.234,56 EUR or EUR 5.
func parseAmount(text string) (typedAmount, bool) {
	var a typedAmount
	first, last := strings.IndexAny(text, "0123456789"), strings.LastIndexAny(text, "0123456789")
	if first < 0 || strings.Trim(text[first:last+1], "0123456789.,") != "" {
		return a, false
	}
	for _, word := range strings.Fields(text[:first] + " " + text[last+1:]) {
		said, signed := lyceum.CurrencyOf(strings.ToUpper(word))
		if !signed {
			var err error
			if said, err = lyceum.ParseCurrency(word); err != nil {
				return a, false
			}
		}
		if a.Currency != "" && a.Currency != said {
			return a, false
		}
		a.Currency = said
	}
	a.Decimal = ungrouped(text[first : last+1])
	return a, true
}

// inGroups matches an amount whose digits are in groups of three, with commas and a point or with
// points and a comma. The digits after a single point are decimals.
var inGroups = regexp.MustCompile(`^\d{1,3}((,\d{3})+(\.\d+)?|(\.\d{3})+,\d+|(\.\d{3}){2,})$`)

// ungrouped removes the separators between groups of three digits.
func ungrouped(amount string) string {
	if !inGroups.MatchString(amount) {
		return amount
	}
	separator := amount[strings.IndexAny(amount, ".,"):][:1]
	return strings.ReplaceAll(amount, separator, "")
}

// errEnough ends a search that has found, or looked at, as much as it may.
var errEnough = errors.New("enough was found")

// findAmount finds the transactions with an amount, including tax.
func (c *console) findAmount(ctx context.Context, v *visit, of typedAmount, p *searchPage) error {
	wanted := map[lyceum.Currency]lyceum.Opt[lyceum.Minor]{} // absent if the currency cannot have it
	in := func(currency lyceum.Currency) lyceum.Opt[lyceum.Minor] {
		amount, known := wanted[currency]
		if !known {
			read, err := parseDecimal(of.Decimal, currency)
			if err == nil && (of.Currency == "" || of.Currency == currency) {
				amount = lyceum.Some(read)
			}
			wanted[currency] = amount
		}
		return amount
	}
	var found []lyceum.Transaction
	seen := 0
	err := c.Sales.Each(ctx, v.by(), lyceum.TransactionFilter{}, lyceum.NewestFirst, func(t *lyceum.Transaction) error {
		if seen == amountsSearched || len(found) > maxOptions {
			p.Bounded = seen == amountsSearched
			return errEnough
		}
		seen++
		if in(t.Currency) == lyceum.Some(t.FinalPrice+t.TaxCharge) {
			found = append(found, *t)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	p.More = p.More || len(found) > maxOptions
	rows, err := c.rowsOf(ctx, v.School.ID, found[:min(len(found), maxOptions)])
	for i := range rows {
		row := &rows[i]
		p.Amounts = append(p.Amounts, option{
			Amount: row.Price, Name: called(lyceum.Named{Name: row.Buyer.Name, Note: row.Buyer.Email}, ""),
			Note: row.Plan, Day: shortDay(lyceum.DayAt(row.CreatedAt, v.zone)), Address: row.Path,
		})
	}
	return err
}
