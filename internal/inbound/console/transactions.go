package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

// pageSize is how many transactions are on a page.
const pageSize = 20

// totalsShown is the maximum number of currencies whose totals are shown without unfolding.
const totalsShown = 3

// totalsTime is how long the list waits for its totals.
const totalsTime = 3 * time.Second

// listPage is the data of the list of transactions.
type listPage struct {
	Form    *form
	Names   map[string]lyceum.Named // of the objects whose numbers are in the filter, by field
	Periods []chip
	Groups  []chipGroup
	Chosen  bool // the list is filtered
	Pick    *picking
	Rows    []row
	Total   int64
	Totals  []totalLine // empty for a visitor who may not see reports
	// MoreTotals are those of less used currencies, if there are many.
	MoreTotals []totalLine
	Revenue    string
	// NoTotals says that the totals would have taken too long: the sales are not in memory yet.
	NoTotals bool
	Export   string // the URL of the list as a file
	Report   string // the URL of a report of the list
	Turn     turn
}

// row is one transaction in the list.
type row struct {
	lyceum.Transaction

	Buyer     person
	Plan      string
	Of        string // the product of the plan
	Coupon    string // empty for none, like Affiliate
	Affiliate string
	Price     string
	Marks     []mark
	Path      string // of its sale
}

// person is a user as a page shows them. If the user is unknown, Email contains their number.
type person struct{ Name, Email string }

// mark is a state in a word, with the class of its badge.
type mark struct{ Class, Text string }

// turn links from one page of a list to the others, with the filter.
type turn struct {
	Number, Last, Rows                 int64
	First, Previous, Next, LastAddress string
	Hidden                             []hidden
}

// hidden is a hidden field of a form.
type hidden struct{ Name, Value string }

// listTransactions serves GET /admin/transactions.
func (c *console) listTransactions(w http.ResponseWriter, r *http.Request, v *visit) error {
	query := r.URL.Query()
	f := newFilter(transactionsPath)
	f.keep(query.Get, append(filterFields, "page")...)
	picked, err := c.pick(r.Context(), v, f, query)
	if err != nil {
		return err
	}
	requested, wrong := readFilter(f, v.zone)
	wrong = append(picked.Wrong, wrong...)
	p := &listPage{Form: f, Pick: picked.Ambiguous}
	if len(wrong) > 0 {
		f.refuse(lyceum.InvalidFields(wrong...))
	}
	if err := c.chips(r.Context(), v, p); err != nil {
		return err
	}
	switch {
	case len(wrong) > 1 || len(wrong) > 0 && f.Wrong["page"] == "": // without a valid filter there is no list
		return c.show(w, r, http.StatusUnprocessableEntity, "transactions.gohtml", v, "Transactions", p)
	case len(wrong) > 0:
	case p.Pick != nil:
		return c.show(w, r, http.StatusOK, "transactions.gohtml", v, "Transactions", p)
	case picked.Address != "":
		http.Redirect(w, r, picked.Address, http.StatusSeeOther)
		return nil
	}
	if err := c.fill(r.Context(), v, p, &requested); err != nil {
		return err
	}
	status := http.StatusOK
	if len(wrong) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.show(w, r, status, "transactions.gohtml", v, "Transactions", p)
}

// chips fills in the filter of a list.
func (c *console) chips(ctx context.Context, v *visit, p *listPage) (err error) {
	if p.Names, err = c.namesIn(ctx, v, p.Form); err != nil {
		return err
	}
	p.Periods = periodChips(p.Form, c.Clock(), v.zone)
	p.Groups, p.Chosen = p.groups(), len(narrowed(p.Form)) > 0
	if len(p.Form.Wrong) == 0 && access.May(v.Role, "GET "+exportPath) {
		p.Groups[0].Export = exportPath // of the days: a month for the accountant
	}
	return nil
}

// fill fills in the rows of a list, and its totals.
func (c *console) fill(ctx context.Context, v *visit, p *listPage, query *salesQuery) error {
	listing, err := c.Sales.List(ctx, v.by(), query.Filter, lyceum.NewestFirst, query.Page)
	if err != nil {
		return err
	}
	p.Total, p.Turn = listing.Total, newTurn(p.Form, filterFields, pageSize, int64(query.Page.Number), listing.Total)
	if p.Rows, err = c.rowsOf(ctx, v.School.ID, listing.All()); err != nil {
		return err
	}
	if access.May(v.Role, "GET "+exportPath) {
		p.Export = exportAddress(p.Form)
	}
	if listing.Total == 0 || !access.Holds(v.Role, access.SeeReports) {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, totalsTime)
	defer cancel()
	var figures reports.Figures
	if p.Report, err = c.reportOf(short, v, p.Form, query); err == nil {
		figures, err = c.Reports.Totals(short, v.by(), query.Filter, query.From, query.Until)
	}
	if p.NoTotals = err != nil && short.Err() != nil && ctx.Err() == nil; p.NoTotals {
		return nil
	}
	p.Totals, p.Revenue = totalLines(figures)
	if len(p.Totals) > totalsShown {
		p.Totals, p.MoreTotals = p.Totals[:1], p.Totals[1:]
	}
	return err
}

// rowsOf adds the names of the objects that transactions refer to.
func (c *console) rowsOf(
	ctx context.Context, school lyceum.SchoolID, transactions []lyceum.Transaction,
) ([]row, error) {
	names, err := saleNamesOf(c.Names.In(ctx, school), transactions)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(transactions))
	for i, t := range transactions {
		rows[i] = row{
			Transaction: t, Buyer: personOf(names.users, t.UserID), Plan: names.plan(&t), Of: names.product(&t),
			Coupon: names.coupon(&t), Affiliate: names.affiliate(&t),
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
	return person{Name: seen(user.Name), Email: user.Note}
}

// seen returns a name without spaces around it, or "" if there is nothing to see.
func seen(name string) string {
	if web.Plain(name) == "" {
		return ""
	}
	return strings.TrimSpace(name)
}

func planName(name string, id lyceum.PricingPlanID) string {
	if strings.TrimSpace(name) != "" {
		return name
	}
	return fmt.Sprintf("Pricing plan %d", id)
}

// marksOf returns badges for the state of a transaction.
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

// newTurn returns the links from page number of a list with total rows; fields are the form's
// fields that filter the list.
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
