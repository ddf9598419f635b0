package lyceum

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// SalesGroup is what sums of sales are kept apart by, besides the currency.
type SalesGroup uint8

// The groups that a store knows.
const (
	AllSales SalesGroup = iota
	SalesByDay
	SalesByPlan
	SalesByAuthor
	SalesByAffiliate
	SalesByCoupon
)

// SalesSumQuery asks for the sums of the paid transactions of a school.
type SalesSumQuery struct {
	Filter      TransactionFilter // without Created
	First, Last Day               // both included, as a calendar in Zone has them
	Zone        *time.Location
	Group       SalesGroup
	// Most is the number of sums that are returned at most; more are an error.
	Most int
}

// SalesKey is what the transactions of a sum have in common.
type SalesKey struct {
	Currency Currency
	// Of is the number of a day, or the id of a plan, an author, an affiliate or a
	// coupon; absent for transactions without one.
	Of Opt[int32]
}

// SalesSum is the sum of some paid transactions of one currency. Amounts without a
// comment are in the currency; docs/glossary.md defines them.
type SalesSum struct {
	SalesKey

	Sales, NewBuyers, Renewals, Chargebacks int64

	Gross, Tax     Minor
	RefundedOf     Minor // of these transactions, whenever it was refunded
	Refunded       Minor // in the period, whenever it was paid
	ChargedBack    Minor
	ChargebackFees Minor
	AffiliateFees  Minor
	AuthorFees     Minor
	Charge         USDCents
	Revenue        USDCents
}

// Net is what is left of the transactions, without tax.
func (s *SalesSum) Net() Minor {
	return s.Gross - s.RefundedOf - s.ChargedBack - s.ChargebackFees - s.AffiliateFees - s.AuthorFees
}

// Add adds the figures of another sum.
func (s *SalesSum) Add(o *SalesSum) {
	s.Sales += o.Sales
	s.NewBuyers += o.NewBuyers
	s.Renewals += o.Renewals
	s.Chargebacks += o.Chargebacks
	s.Gross += o.Gross
	s.Tax += o.Tax
	s.RefundedOf += o.RefundedOf
	s.Refunded += o.Refunded
	s.ChargedBack += o.ChargedBack
	s.ChargebackFees += o.ChargebackFees
	s.AffiliateFees += o.AffiliateFees
	s.AuthorFees += o.AuthorFees
	s.Charge += o.Charge
	s.Revenue += o.Revenue
}

// AddSale adds a paid transaction on the day on which it was recorded.
func (s *SalesSum) AddSale(t *Transaction, m SaleMarks) {
	s.Sales++
	if m.First {
		s.NewBuyers++
	}
	if m.Renewal {
		s.Renewals++
	}
	s.Gross += t.FinalPrice
	s.Tax += t.TaxCharge
	s.RefundedOf += t.AmountRefunded
	if t.HasChargeback == Some(true) {
		s.Chargebacks++
		s.ChargedBack += max(0, t.FinalPrice-t.AmountRefunded)
	}
	s.ChargebackFees += t.ChargebackFee.Value
	s.AffiliateFees += t.AffiliateFees
	s.AuthorFees += t.AuthorFees
	s.Charge += t.Charge
	s.Revenue += t.Revenue
}

// SaleMarks are what the earlier transactions of a buyer make of a paid one.
type SaleMarks struct {
	First   bool // none of them was paid
	Renewal bool // one of the same sale was paid
}

// MaxReportGroups is the number of groups of the longest report.
const MaxReportGroups = 10_000

// ErrTooManyGroups refuses a report that would have more.
func ErrTooManyGroups() error {
	return Invalidf("the report has more than %d groups: ask for a shorter period, use filters, or choose "+
		"another by", MaxReportGroups)
}

// RefundedOn is when the refunds of a transaction count; without a time of their
// own, when it was recorded.
func (t *Transaction) RefundedOn() time.Time { return t.RefundedAt.Else(t.CreatedAt) }

// Summer sums transactions that are handed to it one by one.
type Summer struct {
	query  SalesSumQuery
	period Period
	days   *DayFinder
	sums   map[SalesKey]*SalesSum
}

// NewSummer makes a summer for a query.
func NewSummer(q SalesSumQuery) *Summer {
	return &Summer{
		query: q, period: Days(Some(q.First), Some(q.Last), q.Zone), days: NewDayFinder(q.Zone),
		sums: map[SalesKey]*SalesSum{},
	}
}

// Add adds a transaction, given the course of its pricing plan, if it belongs to
// what is asked for.
func (s *Summer) Add(t *Transaction, course Opt[CourseID], m SaleMarks) {
	if !t.Paid || !s.query.Filter.Match(t, course) {
		return
	}
	if s.period.Has(t.CreatedAt) {
		s.sum(t, t.CreatedAt).AddSale(t, m)
	}
	if t.AmountRefunded != 0 && s.period.Has(t.RefundedOn()) {
		s.sum(t, t.RefundedOn()).Refunded += t.AmountRefunded
	}
}

// sum returns the sum that a transaction belongs to at a moment.
func (s *Summer) sum(t *Transaction, at time.Time) *SalesSum {
	key := SalesKey{Currency: t.Currency, Of: s.query.Group.of(t)}
	if s.query.Group == SalesByDay {
		key.Of = Some(s.days.Of(at.Unix()))
	}
	sum := s.sums[key]
	if sum == nil {
		sum = &SalesSum{SalesKey: key}
		s.sums[key] = sum
	}
	return sum
}

func (g SalesGroup) of(t *Transaction) Opt[int32] {
	switch g {
	case SalesByPlan:
		return Some(int32(t.PricingPlanID))
	case SalesByAuthor:
		return Opt[int32]{Value: int32(t.AuthorID.Value), Present: t.AuthorID.Present}
	case SalesByAffiliate:
		return Opt[int32]{Value: int32(t.AffiliateID.Value), Present: t.AffiliateID.Present}
	case SalesByCoupon:
		return Opt[int32]{Value: int32(t.CouponID.Value), Present: t.CouponID.Present}
	default:
		return None[int32]()
	}
}

// Sums returns the sums by key.
func (s *Summer) Sums() ([]SalesSum, error) {
	sums := make([]SalesSum, 0, len(s.sums))
	for _, sum := range s.sums {
		sums = append(sums, *sum)
	}
	return s.query.Finish(sums)
}

// Finish sorts sums by key, transactions without one first, and leaves out those of
// nothing. It fails if there are more than the query takes.
func (q *SalesSumQuery) Finish(sums []SalesSum) ([]SalesSum, error) {
	sums = slices.DeleteFunc(sums, func(s SalesSum) bool { return s == SalesSum{SalesKey: s.SalesKey} })
	if len(sums) > q.Most {
		return nil, ErrTooManyGroups()
	}
	slices.SortFunc(sums, func(a, b SalesSum) int {
		if a.Of.Present != b.Of.Present {
			if b.Of.Present {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Of.Value, b.Of.Value), strings.Compare(string(a.Currency), string(b.Currency)))
	})
	return sums, nil
}
