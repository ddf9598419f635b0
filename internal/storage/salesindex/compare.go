package salesindex

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

// Comparison is the result of Compare.
type Comparison struct {
	Refused     string   // why there is no index to compare; empty if there is one
	Differences []string // empty if the index agrees
	Bytes       int64    // size of the index
}

// Compare compares the index of a school with the contents of the underlying store and returns
// the differences: every sale in order, and the total of every user, affiliate, pricing plan,
// course, author and flag. Both are compared as of one journal entry, regardless of changes in
// the meantime. progress is called with the number of sales compared so far.
func (s *Store) Compare(ctx context.Context, id lyceum.SchoolID, progress func(sales int)) (Comparison, error) {
	k := s.of(id)
	err := s.made(k)
	if r, is := errors.AsType[*refusal](err); is {
		return Comparison{Refused: r.why}, nil
	}
	if err != nil {
		return Comparison{}, err
	}
	var diffs differences
	err = s.atMoment(ctx, k, func(v lyceum.View, indexed *version, err error) error {
		if err == nil {
			diffs, err = s.differences(v, indexed, progress)
		}
		return err
	})
	return Comparison{Differences: diffs, Bytes: k.bytes.Load()}, err
}

// differences are sentences, limited to maxDifferences of each kind.
type differences []string

const maxDifferences = 5

// note adds differences of one kind, and how many more there are.
func (d *differences) note(kind []string) {
	if more := len(kind) - maxDifferences; more > 0 {
		kind = append(kind[:maxDifferences:maxDifferences], fmt.Sprintf("and %d more like this", more))
	}
	*d = append(*d, kind...)
}

func (s *Store) differences(database lyceum.View, v *version, progress func(int)) (diffs differences, err error) {
	all := v.query(&lyceum.TransactionFilter{})
	var sales, totals, plans []string
	counts := tally{}
	n, rows := 0, &found{}
	err = database.Transactions.Each(database, lyceum.TransactionQuery{Order: lyceum.OldestFirst},
		func(t *lyceum.Transaction) error {
			if n%eachPart == 0 {
				rows = all.slice(lyceum.OldestFirst, n, min(n+eachPart, all.len()))
				progress(n)
			}
			var indexed lyceum.Transaction
			if i := n % eachPart; i < rows.Len() {
				rows.Read(i, &indexed)
			}
			if n++; indexed != *t {
				sales = append(sales, fmt.Sprintf("sale %d of the list is transaction %d in the database, and in the index %d, or "+
					"it differs there", n, t.ID, indexed.ID))
			}
			counts.add(v, t)
			return nil
		})
	if err != nil {
		return nil, err
	}
	if n != v.len() {
		diffs.note([]string{fmt.Sprintf("the database has %d transactions and the index %d", n, v.len())})
	}
	diffs.note(sales)
	for value, want := range counts {
		f := value.filter()
		if q := v.query(&f); q.len() != want {
			totals = append(totals, fmt.Sprintf("the index counts %d transactions and the database %d of %s", q.len(), want,
				value))
		}
	}
	slices.Sort(totals)
	diffs.note(totals)
	err = database.PricingPlans.Each(database, lyceum.PricingPlanFilter{}, func(p *lyceum.PricingPlan) error {
		if v.main.courses[p.ID] != p.CourseID {
			plans = append(plans, fmt.Sprintf("the index has pricing plan %d in another course", p.ID))
		}
		return nil
	})
	diffs.note(plans)
	return diffs, err
}

// value is a value by which a filter can select on its own. The kinds after the last one are the
// flags.
type value struct {
	kind  kind
	value int32
}

const (
	byRefund kind = kinds + iota
	byChargeback
)

func (v value) filter() lyceum.TransactionFilter {
	switch v.kind {
	case byUser:
		return lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(v.value))}
	case byAffiliate:
		return lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(v.value))}
	case byPlan:
		return lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(v.value))}
	case byCourse:
		return lyceum.TransactionFilter{CourseID: lyceum.Some(lyceum.CourseID(v.value))}
	case byAuthor:
		return lyceum.TransactionFilter{AuthorID: lyceum.Some(lyceum.AuthorID(v.value))}
	case byRefund:
		return lyceum.TransactionFilter{FullyRefunded: lyceum.Some(v.value == 1)}
	default:
		return lyceum.TransactionFilter{Chargeback: lyceum.Some(v.value == 1)}
	}
}

// String returns the name of the value for a sentence.
func (v value) String() string {
	names := [...]string{"user", "affiliate", "pricing plan", "course", "author", "full refund", "chargeback"}
	return names[v.kind] + " " + strconv.Itoa(int(v.value))
}

// tally counts the sales of each value.
type tally map[value]int

func (c tally) add(v *version, t *lyceum.Transaction) {
	for k, named := range v.main.values(t) {
		if named.Present {
			c[value{kind(k), named.Value}]++
		}
	}
	c[value{byRefund, one(t.FullyRefunded())}]++
	c[value{byChargeback, one(isChargeback(t))}]++
}

func one(is bool) int32 {
	if is {
		return 1
	}
	return 0
}
