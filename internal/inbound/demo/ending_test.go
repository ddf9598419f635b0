package demo

import (
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
