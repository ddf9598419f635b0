package lyceum_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TestEarlierTerms changes the terms of a plan several times and checks that each sale has those
// from when it began.
func TestEarlierTerms(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	plan := lyceum.PricingPlan{ID: 7, Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month"), BillingIntervalCount: lyceum.Some(int32(1))}
	change := func(at time.Time, to func(*lyceum.PricingPlan)) {
		t.Helper()
		before := plan
		to(&plan)
		if err := plan.KeepTerms(&before, at); err != nil {
			t.Fatal(err)
		}
	}
	change(day(2), func(p *lyceum.PricingPlan) { p.Price = 2900 })
	if plan.EarlierTerms.Present {
		t.Errorf("after another price: %s", plan.EarlierTerms.Value)
	}
	change(day(3), func(p *lyceum.PricingPlan) { p.BillingInterval = lyceum.Some("year") })
	change(day(5), func(p *lyceum.PricingPlan) {
		p.Frequency, p.Payments, p.BillingIntervalCount = lyceum.PaymentPlan, lyceum.Some(int32(3)), lyceum.None[int32]()
	})
	change(day(5), func(p *lyceum.PricingPlan) { p.Payments = lyceum.Some(int32(4)) })
	change(day(7), func(p *lyceum.PricingPlan) {
		p.Frequency, p.BillingInterval, p.Payments = lyceum.OneTimePayment, lyceum.None[string](), lyceum.None[int32]()
	})
	change(day(9), func(p *lyceum.PricingPlan) { p.Frequency, p.BillingInterval = lyceum.Subscription, lyceum.Some("week") })
	if problem := plan.EarlierTerms.Value.Problem(); problem != "" {
		t.Errorf("%s %s", plan.EarlierTerms.Value, problem)
	}
	type terms struct {
		frequency       lyceum.Frequency
		interval        string
		count, payments int32
	}
	weekly := terms{lyceum.Subscription, "week", 0, 0}
	for n, want := range map[int]terms{
		1: {lyceum.Subscription, "month", 1, 0},
		2: {lyceum.Subscription, "month", 1, 0},
		3: {lyceum.Subscription, "year", 1, 0},
		5: {lyceum.PaymentPlan, "year", 0, 4},
		6: {lyceum.PaymentPlan, "year", 0, 4},
		7: weekly, // imported sales were not paid once
		9: weekly,
	} {
		p := plan.For(&lyceum.Sale{CreatedAt: day(n)})
		if got := (terms{p.Frequency, p.BillingInterval.Value, p.BillingIntervalCount.Value, p.Payments.Value}); got != want {
			t.Errorf("a sale of day %d: %+v, want %+v", n, got, want)
		}
	}
	own := lyceum.Sale{CreatedAt: day(8), BilledSince: lyceum.Some(day(8))}
	if p := plan.For(&own); p.Frequency != lyceum.OneTimePayment || p.BillingInterval.Present {
		t.Errorf("a sale that was paid once is now of a plan with %s, %v", p.Frequency, p.BillingInterval)
	}
	own.BillingAnchor = lyceum.Some(day(9))
	if p := plan.For(&own); p.Frequency != lyceum.Subscription || p.BillingInterval.Value != "week" {
		t.Errorf("a sale that was charged again is of a plan with %s, %v", p.Frequency, p.BillingInterval)
	}
}

// TestTermsChangeOftenEnough checks that the terms of a plan can change MaxEarlierTerms times.
func TestTermsChangeOftenEnough(t *testing.T) {
	t.Parallel()
	plan := lyceum.PricingPlan{ID: 7, Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month")}
	for n := range lyceum.MaxEarlierTerms + 1 {
		before := plan
		plan.BillingIntervalCount = lyceum.Some(int32(2 + n))
		err := plan.KeepTerms(&before, time.Unix(int64(n), 0).UTC())
		if (err != nil) != (n == lyceum.MaxEarlierTerms) || err != nil && lyceum.KindOf(err) != lyceum.Conflict {
			t.Fatalf("change %d: %v", n+1, err)
		}
	}
	if problem := plan.EarlierTerms.Value.Problem(); problem != "" {
		t.Error(problem)
	}
}

// TestEarlierTermsHaveProblems checks what is wrong with earlier terms in a file.
func TestEarlierTermsHaveProblems(t *testing.T) {
	t.Parallel()
	const month = `{"until":"2026-01-03T12:00:00Z","frequency":"subscription","billing_interval":"month","billing_interval_count":1,"num_payments_required":null}`
	for text, says := range map[string]string{
		"": "from 1 to", "x": "JSON array", "{}": "JSON array", "null": "from 1 to", "[]": "from 1 to", "[null]": "until", "[1]": "JSON array",
		"[" + month + "]": "", "[" + month + "," + month + "]": "until",
		"[" + strings.Replace(month, "subscription", "one_time_payment", 1) + "]": "",
		"[" + strings.Replace(month, "subscription", "often", 1) + "]":            "frequency",
		"[" + strings.Replace(month, "month", "fortnight", 1) + "]":               "billing_interval",
		"[" + strings.Replace(month, `"month"`, "null", 1) + "]":                  "",
		"[" + strings.Replace(month, "count\":1", "count\":0", 1) + "]":           "billing_interval_count",
		"[" + month + "," + strings.Replace(month, "00Z", "00.1Z", 1) + "]":       "",
		"[" + strings.Replace(month, "2026-01-03", "2026-13-03", 1) + "]":         "JSON array",
		"[" + strings.Repeat(month+",", lyceum.MaxEarlierTerms) + month + "]":     "from 1 to",
	} {
		got := lyceum.EarlierTerms(text).Problem()
		if again := lyceum.EarlierTerms(text).Uniform(); says == "" && again.Problem() != "" {
			t.Errorf("%.200s becomes %s", text, again)
		}
		if says == "" && got != "" || !strings.Contains(got, says) {
			t.Errorf("%.200s: %q, want %q", text, got, says)
		}
	}
}
