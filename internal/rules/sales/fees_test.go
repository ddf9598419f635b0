package sales_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestFeesOfARenewal checks that a renewal, like a first payment, can have the fees of an
// affiliate or an author only if its sale has one: nobody would be owed them, and the revenue
// would be lower.
func TestFeesOfARenewal(t *testing.T) {
	affiliate, author := some(lyceum.AffiliateID(1)), some(lyceum.AuthorID(1))
	for name, tc := range map[string]struct {
		sale    sales.NewSale
		fees    sales.Amounts
		refused []string
	}{
		"of both": {
			sales.NewSale{Affiliate: affiliate, Author: author},
			sales.Amounts{AffiliateFees: some(lyceum.Minor(100)), AuthorFees: some(lyceum.Minor(50))},
			nil,
		},
		"of nobody": {
			sales.NewSale{},
			sales.Amounts{AffiliateFees: some(lyceum.Minor(100)), AuthorFees: some(lyceum.Minor(50))},
			[]string{"affiliate_fees must be 0 without an affiliate_id", "author_fees must be 0 without an author_id"},
		},
		"of an affiliate only": {
			sales.NewSale{Affiliate: affiliate},
			sales.Amounts{AffiliateFees: some(lyceum.Minor(100)), AuthorFees: some(lyceum.Minor(50))},
			[]string{"author_fees must be 0 without an author_id"},
		},
		"none": {sales.NewSale{}, sales.Amounts{AffiliateFees: some(lyceum.Minor(0)), AuthorFees: some(lyceum.Minor(0))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBooks(t)
			tc.sale.User, tc.sale.Plan = 1, 6
			sale := b.sell(t, tc.sale)
			b.now = sale.PaidUntil.Value
			for _, reference := range []lyceum.Opt[string]{{}, some("ch_2")} {
				before := b.last(t)
				_, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: sale.ID, Amounts: tc.fees, Reference: reference})
				var refused []string
				if err != nil {
					refused = lyceum.Public(err).Sentences()
				}
				if diff := cmp.Diff(tc.refused, refused); diff != "" {
					t.Errorf("refused (-want +got):\n%s", diff)
				}
				if kept := b.last(t) != before; kept != (tc.refused == nil) {
					t.Errorf("something was kept: %v", kept)
				}
			}
			b.healthy(t, b.store)
		})
	}
}
