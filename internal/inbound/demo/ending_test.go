package demo

import (
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TestEndsAtTheClock checks that everything that happened in a school that ends at the clock
// happened before it, and that its subscriptions are paid up to their next due date.
func TestEndsAtTheClock(t *testing.T) {
	for _, tc := range []struct {
		clock        string
		seed         uint64
		transactions int
	}{
		{"2026-01-31T10:00:00Z", 1, 2000},
		{"2020-02-29T23:59:59Z", 2, 2000},
		{"2028-02-29T00:00:00Z", 3, 20_000},
		{"2041-12-31T12:30:15Z", 4, 300},
		{"2000-01-01T00:00:00Z", 5, 20},
		{"2026-07-01T00:00:00Z", 6, 0},
	} {
		t.Run(tc.clock, func(t *testing.T) {
			at, err := lyceum.ParseTime(tc.clock)
			if err != nil {
				t.Fatal(err)
			}
			s := Ending(at, tc.seed, tc.transactions)
			if hash(s, 100) != hash(Ending(at, tc.seed, tc.transactions), 37) {
				t.Error("a second school of the same seed and clock differs")
			}
			for what, times := range pastOf(s) {
				for _, moment := range times {
					if !moment.Before(at) {
						t.Errorf("%s: %v, the clock is at %v", what, moment, at)
						break
					}
				}
			}
			checkBilled(t, s, at)
		})
	}
}

// TestLater checks that a school that is later by some days has the same rows, with all times
// later by as much, and that it ends on the day before the given one.
func TestLater(t *testing.T) {
	for _, tc := range []struct{ today, closing string }{
		{"2026-07-01T00:00:00Z", "2026-07-01T00:00:00Z"},
		{"2026-11-30T23:59:59Z", "2026-11-30T00:00:00Z"},
		{"2026-12-01T01:00:00+02:00", "2026-11-30T00:00:00Z"},
		{"2028-03-01T12:00:00Z", "2028-03-01T00:00:00Z"},
		{"2024-02-29T12:00:00Z", "2024-02-29T00:00:00Z"},
	} {
		t.Run(tc.today, func(t *testing.T) {
			today, err := lyceum.ParseTime(tc.today)
			if err != nil {
				t.Fatal(err)
			}
			days := DaysUntil(today)
			s, usually := Later(days, 3, 2000), New(3, 2000)
			if got := s.Closing().Format(time.RFC3339); got != tc.closing {
				t.Errorf("it ends at %s, want %s", got, tc.closing)
			}
			if got := DaysOf(s.School.CreatedAt); got != days {
				t.Errorf("by its creation it is later by %d days, want %d", got, days)
			}
			later := time.Duration(days) * 24 * time.Hour
			if got, want := timeless(s), timeless(usually); !slices.Equal(got, want) {
				t.Error("the transactions differ in more than their times")
			}
			for what, times := range pastOf(s) {
				usual := pastOf(usually)[what]
				for i, at := range times {
					if !at.Equal(usual[i].Add(later)) || !at.Before(s.Closing()) {
						t.Errorf("%s: %v, usually %v", what, at, usual[i])
						break
					}
				}
			}
			if s.Secrets != usually.Secrets {
				t.Error("the secrets differ")
			}
		})
	}
}

// timeless returns the transactions of a school without their times.
func timeless(s *School) []lyceum.Transaction {
	_, transactions := salesOf(s, 100)
	for i := range transactions {
		t := &transactions[i]
		t.CreatedAt, t.PurchasedAt, t.RefundedAt.Value = time.Time{}, time.Time{}, time.Time{}
	}
	return transactions
}

// pastOf returns the times of a school that must be in the past, keyed by what happened.
func pastOf(s *School) map[string][]time.Time {
	past := map[string][]time.Time{"school": {s.School.CreatedAt}}
	add := func(what string, at lyceum.Opt[time.Time]) {
		if at.Present {
			past[what] = append(past[what], at.Value)
		}
	}
	for i := range s.Users {
		add("users", lyceum.Some(s.Users[i].CreatedAt))
		add("signing in", s.Users[i].LastSignInAt)
	}
	for i := range s.Courses {
		add("courses", lyceum.Some(s.Courses[i].UpdatedAt))
		add("archived courses", s.Courses[i].ArchivedAt)
	}
	for i := range s.PricingPlans {
		add("plans", lyceum.Some(s.PricingPlans[i].UpdatedAt))
	}
	for i := range s.Coupons {
		add("coupons", s.Coupons[i].CreatedAt)
	}
	_, transactions := salesOf(s, 100)
	for i := range transactions {
		add("transactions", lyceum.Some(transactions[i].CreatedAt))
		add("purchases", lyceum.Some(transactions[i].PurchasedAt))
		add("refunds", transactions[i].RefundedAt)
	}
	_, learned := studied(s, 100)
	for i := range learned.Enrollments {
		add("enrollments", lyceum.Some(learned.Enrollments[i].EnrolledAt))
		add("ended enrollments", learned.Enrollments[i].EndedAt)
	}
	for i := range learned.Progress {
		add("completed courses", learned.Progress[i].CompletedAt)
	}
	for i := range learned.LectureProgress {
		add("lectures", lyceum.Some(learned.LectureProgress[i].CompletedAt))
	}
	for i := range learned.QuizResponses {
		add("quizzes", learned.QuizResponses[i].SubmittedAt)
	}
	hooks, events := s.webhooks()
	for i := range hooks {
		add("webhooks", lyceum.Some(hooks[i].CreatedAt))
	}
	for i := range events {
		add("deliveries", lyceum.Some(events[i].CreatedAt))
		add("attempts", events[i].LastAttemptedAt)
	}
	return past
}

// checkBilled checks that the billed sales are paid, period by period, until the clock, or are
// overdue for less than the school's grace.
func checkBilled(t *testing.T, s *School, at time.Time) {
	t.Helper()
	var billed []Billed
	overdue, lapsed := 0, at.Add(-s.School.Policy.Grace())
	of := map[lyceum.SaleID][]lyceum.Transaction{}
	for b := range s.Batches(100) {
		billed = append(billed, b.Billed...)
		for _, tx := range b.Transactions {
			of[tx.SaleID] = append(of[tx.SaleID], tx)
		}
	}
	if len(billed) == 0 && len(of) > 100 {
		t.Error("no sale goes on")
	}
	for _, b := range billed {
		payments := of[b.Sale]
		plan := &s.PricingPlans[payments[0].PricingPlanID-1]
		calendar := plan.Billing(b.Anchor, time.UTC)
		if due := calendar.Begin(len(payments)); !due.Equal(b.Due) || !due.After(lapsed) {
			t.Errorf("sale %d is due at %v with %d payments, at %v", b.Sale, b.Due, len(payments), due)
		}
		if b.Due.Before(at) {
			overdue++
		}
		if plan.Payments.Present && len(payments) >= int(plan.Payments.Value) {
			t.Errorf("sale %d is paid in full", b.Sale)
		}
		for i := range payments {
			p := &payments[i]
			if !p.Paid || p.FullyRefunded() || p.HasChargeback.Value || !p.CreatedAt.Equal(calendar.Begin(i)) {
				t.Errorf("payment %d of sale %d: %+v", i+1, b.Sale, *p)
			}
		}
	}
	if (overdue == 0 || overdue == len(billed)) && len(of) > 100 {
		t.Errorf("%d of %d sales are overdue", overdue, len(billed))
	}
}
