package salesindex_test

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func TestCompare(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(sale *lyceum.Transaction, plan *lyceum.PricingPlan)
		want  string // part of one of the differences
	}{
		"as it is":      {func(*lyceum.Transaction, *lyceum.PricingPlan) {}, ""},
		"one too many":  {func(s *lyceum.Transaction, _ *lyceum.PricingPlan) { s.ID = 5000 }, "the database has 300 transactions and the index 301"},
		"an amount":     {func(s *lyceum.Transaction, _ *lyceum.PricingPlan) { s.TaxCharge++ }, "is transaction"},
		"a user":        {func(s *lyceum.Transaction, _ *lyceum.PricingPlan) { s.UserID++ }, "of user"},
		"a full refund": {func(s *lyceum.Transaction, _ *lyceum.PricingPlan) { s.AmountRefunded = s.FinalPrice + 1 }, "of full refund 1"},
		"a chargeback": {func(s *lyceum.Transaction, _ *lyceum.PricingPlan) {
			s.HasChargeback = lyceum.Some(!s.HasChargeback.Value)
		}, "of chargeback 1"},
		"a course": {func(_ *lyceum.Transaction, p *lyceum.PricingPlan) {
			p.CourseID = lyceum.Some(lyceum.CourseID(4711))
		}, "the index has pricing plan"},
	} {
		t.Run(name, func(t *testing.T) {
			s := over(t, openSQLite(t), salesindex.Options{Memory: enough})
			school := storetest.MakeSchool(t, s)
			sales, courses := storetest.Ledger(t, s, school, 5, 300)
			s.Settle(t, school)
			sale := sales[9]
			for _, other := range sales { // a sale whose user and flags will differ
				if other.AmountRefunded == 0 && other.FinalPrice > 0 {
					sale = other
				}
			}
			plan := lyceum.PricingPlan{ID: sale.PricingPlanID, CourseID: courses[sale.PricingPlanID]}
			tc.spoil(&sale, &plan)
			s.Spoil(t, school, sale, plan)
			got, err := s.Compare(t.Context(), school, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got.Differences, "\n"); (text == "") != (tc.want == "") || !strings.Contains(text, tc.want) {
				t.Errorf("differences %q, want one with %q", text, tc.want)
			}
		})
	}
}
