package lyceum_test

import (
	"math"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TestFullyRefunded checks that a transaction is fully refunded if something was refunded and
// amount_refunded reaches final_price.
func TestFullyRefunded(t *testing.T) {
	for _, tc := range []struct {
		price, refunded lyceum.Minor
		want            bool
	}{
		{1999, 0, false},
		{1999, 1, false},
		{1999, 1998, false},
		{1999, 1999, true},
		{1999, 2400, true}, // with taxes
		{0, 0, false},      // free, and nothing was refunded
		{0, 1, true},
		{-500, 0, false},
		{1999, -1999, false},
		{math.MaxInt32, math.MaxInt32, true},
	} {
		x := lyceum.Transaction{FinalPrice: tc.price, AmountRefunded: tc.refunded}
		if got := x.FullyRefunded(); got != tc.want {
			t.Errorf("%d of %d refunded: fully refunded is %t", tc.refunded, tc.price, got)
		}
	}
}

func TestTransactionFilterMatch(t *testing.T) {
	at := time.Date(2024, 1, 10, 12, 0, 0, 0, time.UTC)
	second := time.Second
	plain := lyceum.Transaction{ID: 1, UserID: 7, PricingPlanID: 4, CreatedAt: at, PurchasedAt: at.AddDate(-1, 0, 0), FinalPrice: 1000}
	with := func(change func(*lyceum.Transaction)) lyceum.Transaction {
		x := plain
		change(&x)
		return x
	}
	brought := with(func(x *lyceum.Transaction) { x.AffiliateID = lyceum.Some(lyceum.AffiliateID(3)) })
	made := with(func(x *lyceum.Transaction) { x.AuthorID = lyceum.Some(lyceum.AuthorID(5)) })
	refunded := with(func(x *lyceum.Transaction) { x.AmountRefunded = 1000 })
	half := with(func(x *lyceum.Transaction) { x.AmountRefunded = 500 })
	charged := with(func(x *lyceum.Transaction) { x.HasChargeback = lyceum.Some(true) })
	cleared := with(func(x *lyceum.Transaction) { x.HasChargeback = lyceum.Some(false) })
	course, none := lyceum.Some(lyceum.CourseID(2)), lyceum.None[lyceum.CourseID]()
	after := func(d time.Duration) lyceum.TransactionFilter {
		return lyceum.TransactionFilter{Created: lyceum.Period{After: at.Add(d)}}
	}
	until := func(d time.Duration) lyceum.TransactionFilter {
		return lyceum.TransactionFilter{Created: lyceum.Period{Until: at.Add(d)}}
	}
	yes, no := lyceum.Some(true), lyceum.Some(false)

	for _, tc := range []struct {
		name   string
		filter lyceum.TransactionFilter
		x      lyceum.Transaction
		course lyceum.Opt[lyceum.CourseID]
		want   bool
	}{
		{"nothing asked", lyceum.TransactionFilter{}, plain, none, true},
		{"the user", lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(7))}, plain, none, true},
		{"another user", lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(8))}, plain, none, false},
		{"user 0 is nobody", lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(0))}, plain, none, false},
		{"the plan", lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(4))}, plain, none, true},
		{"another plan", lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(7))}, plain, none, false},
		{"the affiliate", lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(3))}, brought, none, true},
		{"another affiliate", lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(2))}, brought, none, false},
		{"an affiliate of none", lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(3))}, plain, none, false},
		{"affiliate 0 is not none", lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(0))}, plain, none, false},
		{"the course", lyceum.TransactionFilter{CourseID: course}, plain, course, true},
		{"another course", lyceum.TransactionFilter{CourseID: lyceum.Some(lyceum.CourseID(9))}, plain, course, false},
		{"a course of a plan without one", lyceum.TransactionFilter{CourseID: course}, plain, none, false},
		{"course 0 is not none", lyceum.TransactionFilter{CourseID: lyceum.Some(lyceum.CourseID(0))}, plain, none, false},
		{"the author", lyceum.TransactionFilter{AuthorID: lyceum.Some(lyceum.AuthorID(5))}, made, none, true},
		{"another author", lyceum.TransactionFilter{AuthorID: lyceum.Some(lyceum.AuthorID(2))}, made, none, false},
		{"an author of none", lyceum.TransactionFilter{AuthorID: lyceum.Some(lyceum.AuthorID(5))}, plain, none, false},
		{"author 0 is not none", lyceum.TransactionFilter{AuthorID: lyceum.Some(lyceum.AuthorID(0))}, plain, none, false},
		{"fully refunded, and is", lyceum.TransactionFilter{FullyRefunded: yes}, refunded, none, true},
		{"fully refunded, and is half", lyceum.TransactionFilter{FullyRefunded: yes}, half, none, false},
		{"fully refunded, and is not", lyceum.TransactionFilter{FullyRefunded: yes}, plain, none, false},
		{"not fully refunded, and is", lyceum.TransactionFilter{FullyRefunded: no}, refunded, none, false},
		{"not fully refunded, and is half", lyceum.TransactionFilter{FullyRefunded: no}, half, none, true},
		{"not fully refunded, and is not", lyceum.TransactionFilter{FullyRefunded: no}, plain, none, true},
		{"chargeback, and is", lyceum.TransactionFilter{Chargeback: yes}, charged, none, true},
		{"chargeback, and is not", lyceum.TransactionFilter{Chargeback: yes}, cleared, none, false},
		{"chargeback, and null", lyceum.TransactionFilter{Chargeback: yes}, plain, none, false},
		{"no chargeback, and is", lyceum.TransactionFilter{Chargeback: no}, charged, none, false},
		{"no chargeback, and is not", lyceum.TransactionFilter{Chargeback: no}, cleared, none, true},
		{"no chargeback finds null", lyceum.TransactionFilter{Chargeback: no}, plain, none, true},
		{"start is excluded", after(0), plain, none, false},
		{"a second after start", after(-second), plain, none, true},
		{"a second before start", after(second), plain, none, false},
		{"end is included", until(0), plain, none, true},
		{"a second after end", until(-second), plain, none, false},
		{"a second before end", until(second), plain, none, true},
		{"end in another zone", lyceum.TransactionFilter{Created: lyceum.Period{Until: at.In(time.FixedZone("", 7200))}}, plain, none, true},
		{"start is end", lyceum.TransactionFilter{Created: lyceum.Period{After: at, Until: at}}, plain, none, false},
		{"end before start", lyceum.TransactionFilter{Created: lyceum.Period{After: at.Add(second), Until: at.Add(-second)}}, plain, none, false},
		{
			"all parts hold",
			lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(7)), CourseID: course, Chargeback: no, Created: lyceum.Period{Until: at}},
			plain, course, true,
		},
		{
			"one part does not hold",
			lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(7)), CourseID: course, Chargeback: yes, Created: lyceum.Period{Until: at}},
			plain, course, false,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.filter.Match(&tc.x, tc.course); got != tc.want {
				t.Errorf("matches: %t", got)
			}
		})
	}
}

func TestR14OffsetDoesNotOverflow(t *testing.T) {
	for _, tc := range []struct {
		page lyceum.Page
		want int64
	}{
		{lyceum.Page{Number: 1, Size: 20}, 0},
		{lyceum.Page{Number: 2, Size: 5}, 5},
		{lyceum.Page{Number: 400_000_000, Size: 20}, 7_999_999_980},
		{lyceum.Page{Number: math.MaxInt32, Size: 100}, 214_748_364_600},
		{lyceum.Page{Number: math.MaxInt32, Size: math.MaxInt32}, 4_611_686_011_984_936_962},
	} {
		if got := tc.page.Offset(); got != tc.want {
			t.Errorf("%+v begins after %d, want %d", tc.page, got, tc.want)
		}
	}
}
