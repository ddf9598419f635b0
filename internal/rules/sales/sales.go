package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service answers questions about sales and takes sales in.
type Service struct {
	store lyceum.Store
	clock func() time.Time
}

// New makes the service over a store.
func New(store lyceum.Store, clock func() time.Time) *Service {
	return &Service{store: store, clock: clock}
}

// List gives one page of the transactions that pass the filter and their exact
// number. A page after the last is empty.
func (s *Service) List(ctx context.Context, school lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) (lyceum.TransactionListing, error) {
	return s.store.FindTransactions(ctx, school, f, o, p)
}

// Each visits the transactions that pass the filter, all of one moment.
func (s *Service) Each(ctx context.Context, school lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, visit func(*lyceum.Transaction) error) error {
	if _, err := s.store.GetSchool(ctx, school); err != nil {
		return err
	}
	return s.store.EachTransaction(ctx, school, f, o, visit)
}
