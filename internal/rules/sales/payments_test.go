package sales

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Payments are written as the day they were made in 2026, with a mark: f free, u unpaid, r
// fully refunded, p partially refunded, l lost to a dispute, o in an open one, h half refunded
// and half lost, c charged back elsewhere.
func TestPeriodsPaidFor(t *testing.T) {
	type pay struct {
		day  string
		mark string
	}
	monthly := lyceum.PricingPlan{Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month"), BillingIntervalCount: lyceum.Some(int32(1))}
	trial := monthly
	trial.FreeTrialLength = lyceum.Some(int32(14))
	weeks := monthly
	weeks.BillingInterval, weeks.BillingIntervalCount = lyceum.Some("week"), lyceum.Some(int32(2))
	parts := monthly
	parts.Frequency, parts.Payments = lyceum.PaymentPlan, lyceum.Some(int32(3))
	once := lyceum.PricingPlan{Frequency: lyceum.OneTimePayment}
	for _, tc := range []struct {
		name     string
		plan     lyceum.PricingPlan
		payments []pay
		want     string // "" means none
	}{
		{"nothing", monthly, nil, ""},
		{"what is paid once", once, []pay{{"01-31", ""}}, ""},
		{"a month", monthly, []pay{{"01-31", ""}}, "02-28"},
		{"paid early", monthly, []pay{{"01-31", ""}, {"02-20", ""}}, "03-31"},
		{"paid late", monthly, []pay{{"01-31", ""}, {"03-05", ""}}, "03-31"},
		{"always late", monthly, []pay{{"01-31", ""}, {"03-05", ""}, {"04-03", ""}, {"05-10", ""}}, "05-31"},
		{"after months without", monthly, []pay{{"01-31", ""}, {"06-10", ""}}, "06-30"},
		{"twice for one month", monthly, []pay{{"01-10", ""}, {"01-10", ""}}, "03-10"},
		{"two weeks", weeks, []pay{{"01-01", ""}, {"01-10", ""}}, "01-29"},
		{"a payment plan paid in full", parts, []pay{{"01-10", ""}, {"02-10", ""}, {"03-10", ""}}, "in full"},
		{"one more than that", parts, []pay{{"01-10", ""}, {"02-10", ""}, {"03-10", ""}, {"04-10", ""}}, "in full"},
		{"one of it refunded", parts, []pay{{"01-10", ""}, {"02-10", "r"}, {"03-10", ""}}, "04-10"},
		{"one of it unpaid", parts, []pay{{"01-10", ""}, {"02-10", "u"}, {"02-12", ""}}, "03-10"},
		{"a payment plan", parts, []pay{{"01-10", ""}, {"02-10", ""}}, "03-10"},
		{"a trial", trial, []pay{{"01-01", "f"}}, "01-15"},
		{"paid after a trial", trial, []pay{{"01-01", "f"}, {"01-14", ""}}, "02-15"},
		{"paid in place of a trial", trial, []pay{{"01-01", ""}}, "02-01"},
		{"free once", monthly, []pay{{"01-01", "f"}}, "02-01"},
		{"a trial whose payment went back", trial, []pay{{"01-01", "f"}, {"01-14", "r"}}, "01-15"},
		{"the first refunded", monthly, []pay{{"01-10", "r"}, {"02-10", ""}}, "03-10"},
		{"the last refunded", monthly, []pay{{"01-10", ""}, {"02-10", "r"}}, "02-10"},
		{"one in the middle refunded", monthly, []pay{{"01-10", ""}, {"02-10", "r"}, {"02-20", ""}}, "03-10"},
		{"all refunded", monthly, []pay{{"01-10", "r"}, {"02-10", "r"}}, ""},
		{"paid a little early, the month before refunded", monthly, []pay{{"01-10", "r"}, {"02-09", ""}}, "03-10"},
		{"always a little early, all but the last refunded", monthly, []pay{{"01-10", "r"}, {"02-09", "r"}, {"03-09", ""}}, "04-10"},
		{"one of two for a month refunded, then paid a little early", monthly, []pay{{"01-10", "r"}, {"01-10", ""}, {"02-09", ""}}, "03-10"},
		{"paid again for a refunded month", monthly, []pay{{"01-10", "r"}, {"01-20", ""}}, "02-10"},
		{"refunded in part", monthly, []pay{{"01-10", "p"}}, "02-10"},
		{"lost", monthly, []pay{{"01-10", ""}, {"02-10", "l"}}, "02-10"},
		{"disputed", monthly, []pay{{"01-10", ""}, {"02-10", "o"}}, "03-10"},
		{"half refunded, half lost", monthly, []pay{{"01-10", ""}, {"02-10", "h"}}, "02-10"},
		{"charged back elsewhere", monthly, []pay{{"01-10", ""}, {"02-10", "c"}}, "02-10"},
		{"unpaid", monthly, []pay{{"01-10", ""}, {"02-10", "u"}}, "02-10"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var accounts []account
			for _, p := range tc.payments {
				at, err := time.Parse("2006-01-02", "2026-"+p.day)
				if err != nil {
					t.Fatal(err)
				}
				a := account{at: at, Transaction: lyceum.Transaction{CreatedAt: at, FinalPrice: 1000, TaxCharge: 200, Charge: 1200, Paid: p.mark != "u"}}
				lose := func(amount, tax lyceum.Minor, state lyceum.DisputeState) {
					a.HasChargeback = lyceum.Some(true)
					a.disputes = []lyceum.Dispute{{Amount: amount, Tax: tax, State: state}}
				}
				switch p.mark {
				case "f":
					a.FinalPrice, a.TaxCharge, a.Charge = 0, 0, 0
				case "r":
					a.AmountRefunded = 1000
				case "p":
					a.AmountRefunded = 999
				case "l":
					lose(1200, 200, lyceum.DisputeLost)
				case "o":
					lose(1200, 200, lyceum.DisputeOpen)
				case "h":
					a.AmountRefunded = 500
					lose(600, 100, lyceum.DisputeLost)
				case "c":
					a.HasChargeback = lyceum.Some(true)
				}
				accounts = append(accounts, a)
			}
			got, b := "", bought{}
			if tc.plan.Recurring() {
				first := periodsOf(&lyceum.Sale{}, &tc.plan, time.UTC, accounts[:min(len(accounts), 1)])
				b = periodsOf(&lyceum.Sale{BillingAnchor: first.anchor}, &tc.plan, time.UTC, accounts)
			}
			switch {
			case b.inFull:
				got = "in full"
			case b.until.Present:
				got = b.until.Value.Format("01-02")
			}
			if got != tc.want {
				t.Errorf("paid until %q, want %q", got, tc.want)
			}
		})
	}
}

// TestAnchorsOfSalesOfBefore checks that a sale without a stored anchor is billed on the day of
// its first payment, unless it was last paid for on another day. paidUntil is what a version
// without anchors computed, or "" for an import.
func TestAnchorsOfSalesOfBefore(t *testing.T) {
	monthly := lyceum.PricingPlan{Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month"), BillingIntervalCount: lyceum.Some(int32(1))}
	trial := monthly
	trial.FreeTrialLength = lyceum.Some(int32(14))
	for _, tc := range []struct {
		name      string
		plan      lyceum.PricingPlan
		paid      []string
		free      bool // the first of them
		paidUntil string
		want      string
	}{
		{"just bought", monthly, []string{"2026-01-31"}, false, "2026-02-28", "2026-01-31"},
		{"drifted to the last of February", monthly, []string{"2026-01-31", "2026-02-28"}, false, "2026-03-28", "2026-01-31"},
		{"moved by a late payment", monthly, []string{"2026-01-10", "2026-02-20"}, false, "2026-03-20", "2026-03-20"},
		{"after a trial", trial, []string{"2026-01-01"}, true, "2026-01-15", "2026-01-15"},
		{"follows another, and nothing is paid", monthly, nil, false, "2026-03-01", "2026-03-01"},
		{"imported", monthly, []string{"2026-01-31", "2026-02-28", "2026-03-31"}, false, "", "2026-01-31"},
		{"imported, on another day since", monthly, []string{"2026-01-10", "2026-02-10", "2026-03-21"}, false, "", "2026-03-21"},
	} {
		day := func(text string) time.Time {
			t.Helper()
			at, err := time.Parse(time.DateOnly, text)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		var accounts []account
		for _, paid := range tc.paid {
			accounts = append(accounts, account{at: day(paid), Transaction: lyceum.Transaction{CreatedAt: day(paid), FinalPrice: 1000, Charge: 1000, Paid: true}})
		}
		if tc.free {
			accounts[0].FinalPrice, accounts[0].Charge = 0, 0
		}
		var sale lyceum.Sale
		if tc.paidUntil != "" {
			sale.PaidUntil = lyceum.Some(day(tc.paidUntil))
		}
		if got := anchorOf(&sale, &tc.plan, time.UTC, accounts); got != lyceum.Some(day(tc.want)) {
			t.Errorf("%s: %v, want %s", tc.name, got.Value, tc.want)
		}
	}
}
