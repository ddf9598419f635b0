package salesindex_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// held is a store for which no index can be built before release is closed. It counts the
// filtered lists that it serves, and can claim to have more sales than it has.
type held struct {
	lyceum.Store

	release  chan struct{}
	answered atomic.Int64
	more     int64
}

func (h *held) ScanTransactions(ctx context.Context, id lyceum.SchoolID, part func([]lyceum.Transaction) error) error {
	<-h.release
	return h.Store.ScanTransactions(ctx, id, part)
}

func (h *held) FindTransactions(ctx context.Context, id lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) (lyceum.TransactionListing, error) {
	listing, err := h.Store.FindTransactions(ctx, id, f, o, p)
	if f == (lyceum.TransactionFilter{}) {
		listing.Total += h.more
	} else {
		h.answered.Add(1)
	}
	return listing, err
}

// A list for which the database would read all sales waits for the index, but not if the school
// is small and its index has to wait for that of a large one.
func TestListsWaitForTheIndexThatIsBeingBuilt(t *testing.T) {
	t.Parallel()
	plan := lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(1))}
	user := lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(1)), PricingPlanID: plan.PricingPlanID}
	for _, tc := range []struct {
		name   string
		more   int64
		filter lyceum.TransactionFilter
		waits  bool
	}{
		{"a large school", 50_000_000, plan, true},
		{"a large school, of a course", 50_000_000, lyceum.TransactionFilter{CourseID: lyceum.Some(lyceum.CourseID(1))}, true},
		{"a large school, of a user", 50_000_000, user, false},
		{"a small school", 0, plan, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			below := &held{Store: openSQLite(t), release: make(chan struct{}), more: tc.more}
			s := over(t, below, salesindex.Options{Memory: 1 << 40})
			school := storetest.MakeSchool(t, s)
			storetest.Ledger(t, s, school, 5, 300)
			want, err := below.Store.FindTransactions(t.Context(), school, tc.filter, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 9})
			if err != nil {
				t.Fatal(err)
			}
			ask := func() {
				got, err := s.FindTransactions(t.Context(), school, tc.filter, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 9})
				if err != nil || got.Total != want.Total || got.Transactions.Len() != want.Transactions.Len() {
					t.Errorf("%d of %d, %v; want %d of %d", got.Transactions.Len(), got.Total, err, want.Transactions.Len(), want.Total)
				}
			}
			if tc.waits {
				answered := make(chan struct{})
				go func() { defer close(answered); ask() }()
				await(t, "the index is being built", func() bool { return s.Stats().Building == 1 })
				close(below.release)
				<-answered
			} else {
				ask()
				close(below.release)
			}
			if n := below.answered.Load(); (n == 0) != tc.waits {
				t.Errorf("the database answered %d lists", n)
			}
		})
	}
}
