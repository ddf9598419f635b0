package lyceum

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// SalesGroup is what sums of sales are grouped by, in addition to the currency.
type SalesGroup uint8

// The groups that a store supports.
const (
	AllSales SalesGroup = iota
	SalesByDay
	SalesByPlan
	SalesByAuthor
	SalesByAffiliate
	SalesByCoupon
)

// SalesSumQuery is a query for sums of a school's paid transactions.
type SalesSumQuery struct {
	Filter      TransactionFilter // without Created
	First, Last Day               // both inclusive, in the calendar of Zone
	Zone        *time.Location
	Group       SalesGroup
	// Most is the maximum number of sums returned; more are an error.
	Most int
}

// SalesKey is what the transactions of a sum have in common.
type SalesKey struct {
	Currency Currency
	// Of is the number of a day, or the id of a plan, an author, an affiliate or a coupon;
	// absent for transactions without one.
	Of Opt[int32]
}

// SalesSum is the sum of paid transactions in one currency. Amounts of type Minor are in that
// currency; docs/glossary.md defines them.
type SalesSum struct {
	SalesKey

	Sales, NewBuyers, Renewals, Chargebacks int64

	Gross, Tax     Minor
	RefundedOf     Minor // of these transactions, whenever they were refunded
	Refunded       Minor // in the period, whenever they were paid
	ChargedBack    Minor
	ChargebackFees Minor
	AffiliateFees  Minor
	AuthorFees     Minor
	Charge         USDCents
	Revenue        USDCents
}

// Net returns what remains of the transactions, without tax.
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

// AddSale adds a paid transaction on the day it was recorded.
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
	refunded := t.RefundedPrice()
	s.RefundedOf += refunded
	if t.HasChargeback == Some(true) {
		s.Chargebacks++
		s.ChargedBack += max(0, t.FinalPrice-refunded)
	}
	s.ChargebackFees += t.ChargebackFee.Value
	s.AffiliateFees += t.AffiliateFees
	s.AuthorFees += t.AuthorFees
	s.Charge += t.Charge
	s.Revenue += t.Revenue
}

// SaleMarks are what the buyer's earlier transactions say about a paid transaction.
type SaleMarks struct {
	First   bool // none of them was paid
	Renewal bool // one of the same sale was paid
}

// MaxReportGroups is the maximum number of groups in a report.
const MaxReportGroups = 10_000

// ErrTooManyGroups returns the error for a report that would have more.
func ErrTooManyGroups() error {
	return Invalidf("the report has more than %d groups: ask for a shorter period, use filters, or choose "+
		"another by", MaxReportGroups)
}

// RefundedOn returns when the refunds of a transaction count: when they were refunded or, if
// that is unknown, when the transaction was recorded.
func (t *Transaction) RefundedOn() time.Time { return t.RefundedAt.Else(t.CreatedAt) }

// Summer sums transactions that are passed to it one by one.
type Summer struct {
	query  SalesSumQuery
	period Period
	days   *DayFinder
	sums   map[SalesKey]*SalesSum
}

// NewSummer returns a Summer for the query.
func NewSummer(q SalesSumQuery) *Summer {
	return &Summer{
		query: q, period: Days(Some(q.First), Some(q.Last), q.Zone), days: NewDayFinder(q.Zone),
		sums: map[SalesKey]*SalesSum{},
	}
}

// Add adds a transaction, given the course of its pricing plan, if it matches the query.
func (s *Summer) Add(t *Transaction, course Opt[CourseID], m SaleMarks) {
	if !t.Paid || !s.query.Filter.Match(t, course) {
		return
	}
	if s.period.Has(t.CreatedAt) {
		s.sum(t, t.CreatedAt).AddSale(t, m)
	}
	if refunded := t.RefundedPrice(); refunded != 0 && s.period.Has(t.RefundedOn()) {
		s.sum(t, t.RefundedOn()).Refunded += refunded
	}
}

// sum returns the sum that a transaction belongs to at the given time.
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

// Sums returns the sums, sorted by key.
func (s *Summer) Sums() ([]SalesSum, error) {
	sums := make([]SalesSum, 0, len(s.sums))
	for _, sum := range s.sums {
		sums = append(sums, *sum)
	}
	return s.query.Finish(sums)
}

// Finish sorts sums by key, those without one first, and removes empty ones. It fails if there
// are more than the query allows.
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
