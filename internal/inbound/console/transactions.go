package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// pageSize is how many transactions stand on a page.
const pageSize = 20

// listPage is what the list of transactions shows.
type listPage struct {
	Form   *form
	Names  map[string]lyceum.Named // of what the filter's numbers stand for, by field
	Chosen []string                // what the list is narrowed to, in words
	Pick   *picking
	Rows   []row
	Total  int64
	Turn   turn
}

// row is one transaction in the list.
type row struct {
	lyceum.Transaction

	Buyer person
	Plan  string
	Of    string // the course of the plan
	Price string
	Marks []mark
	Path  string // of its sale
}

// person is who somebody is, as a page shows it. Email stands for the number
// where nobody is known.
type person struct{ Name, Email string }

// mark is a state in a word, with the class of its badge.
type mark struct{ Class, Text string }

// turn leads from one page of a list to the others, with the filter.
type turn struct {
	Number, Last, Rows                 int64
	First, Previous, Next, LastAddress string
	Hidden                             []hidden
}

// hidden is a field of a form that nobody sees.
type hidden struct{ Name, Value string }

// listTransactions serves GET /admin/transactions.
func (c *console) listTransactions(w http.ResponseWriter, r *http.Request, v *visit) error {
	query := r.URL.Query()
	f := &form{Action: transactionsPath, Values: map[string]string{}}
	f.keep(query.Get, append(filterFields, "page")...)
	picked, err := c.pick(r.Context(), v, f, query)
	if err != nil {
		return err
	}
	filter, page, wrong := readFilter(f, v.zone)
	wrong = append(picked.Wrong, wrong...)
	p := &listPage{Form: f, Pick: picked.Question}
	switch {
	case len(wrong) > 0:
		f.refuse(lyceum.InvalidFields(wrong...))
		if len(wrong) > 1 || f.Wrong["page"] == "" { // there is no list without its filter
			return c.show(w, r, http.StatusUnprocessableEntity, "transactions.gohtml", v, "Transactions", p)
		}
	case p.Pick != nil:
		return c.show(w, r, http.StatusOK, "transactions.gohtml", v, "Transactions", p)
	case picked.Address != "":
		http.Redirect(w, r, picked.Address, http.StatusSeeOther)
		return nil
	}
	if p.Names, err = c.namesIn(r.Context(), v, f); err != nil {
		return err
	}
	p.Chosen = chosen(f, p.Names)
	listing, err := c.Sales.List(r.Context(), v.by(), filter, lyceum.NewestFirst, page)
	if err != nil {
		return err
	}
	p.Total, p.Turn = listing.Total, newTurn(f, filterFields, pageSize, int64(page.Number), listing.Total)
	if p.Rows, err = c.rowsOf(r.Context(), v.School.ID, listing.All()); err != nil {
		return err
	}
	status := http.StatusOK
	if len(wrong) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.show(w, r, status, "transactions.gohtml", v, "Transactions", p)
}

// rowsOf gives transactions with the names of their buyers and plans, with one
// question for each of the two.
func (c *console) rowsOf(
	ctx context.Context, school lyceum.SchoolID, transactions []lyceum.Transaction,
) ([]row, error) {
	buyers, plans := make([]int32, len(transactions)), make([]int32, len(transactions))
	for i := range transactions {
		buyers[i], plans[i] = int32(transactions[i].UserID), int32(transactions[i].PricingPlanID)
	}
	users, err := c.Names.In(ctx, school).FindNames(lyceum.UserSequence, buyers)
	if err != nil {
		return nil, err
	}
	known, err := c.Names.In(ctx, school).FindNames(lyceum.PricingPlanSequence, plans)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(transactions))
	for i, t := range transactions {
		plan := known[int32(t.PricingPlanID)]
		rows[i] = row{
			Transaction: t, Buyer: personOf(users, t.UserID), Plan: planName(plan.Name, t.PricingPlanID), Of: plan.Note,
			Price: money(t.FinalPrice+t.TaxCharge, t.Currency), Marks: marksOf(&t), Path: salePath(t.SaleID),
		}
	}
	return rows, nil
}

func salePath(id lyceum.SaleID) string { return fmt.Sprintf("%s/%d", salesPath, id) }

func personOf(users map[int32]lyceum.Named, id lyceum.UserID) person {
	user, known := users[int32(id)]
	if !known {
		return person{Email: fmt.Sprintf("User %d", id)}
	}
	return person{Name: strings.TrimSpace(user.Name), Email: user.Note}
}

func planName(name string, id lyceum.PricingPlanID) string {
	if strings.TrimSpace(name) != "" {
		return name
	}
	return fmt.Sprintf("Pricing plan %d", id)
}

// marksOf tells what became of a transaction.
func marksOf(t *lyceum.Transaction) []mark {
	var marks []mark
	switch {
	case t.FullyRefunded():
		marks = append(marks, mark{"badge-off", "Refunded"})
	case t.AmountRefunded > 0:
		marks = append(marks, mark{"badge-off", "Partly refunded"})
	}
	if t.HasChargeback == lyceum.Some(true) {
		marks = append(marks, mark{"badge-bad", "Chargeback"})
	}
	switch {
	case len(marks) > 0:
	case !t.Paid:
		marks = append(marks, mark{"", "Unpaid"})
	case t.FinalPrice+t.TaxCharge == 0:
		marks = append(marks, mark{"", "Free"})
	default:
		marks = append(marks, mark{"badge-on", "Paid"})
	}
	return marks
}

// newTurn gives the ways from a page of a list of so many, which the form's
// fields narrow.
func newTurn(f *form, fields []string, size, number, total int64) turn {
	query := url.Values{}
	t := turn{Number: number, Last: max(1, (total+size-1)/size), Rows: total}
	for _, name := range fields {
		if value := f.Values[name]; value != "" {
			query.Set(name, value)
			t.Hidden = append(t.Hidden, hidden{name, value})
		}
	}
	to := func(page int64) string {
		if query.Del("page"); page > 1 {
			query.Set("page", strconv.FormatInt(page, 10))
		}
		if len(query) == 0 {
			return f.Action
		}
		return f.Action + "?" + query.Encode()
	}
	if number > 1 {
		t.First, t.Previous = to(1), to(min(number-1, t.Last))
	}
	if number < t.Last {
		t.Next = to(number + 1)
	}
	if number != t.Last {
		t.LastAddress = to(t.Last)
	}
	return t
}
