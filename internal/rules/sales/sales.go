package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Enroller is what sales need of the rules of learning, inside the transaction
// of a sale.
type Enroller interface {
	// Admit lets a user into a course until a moment, or for good. Who is in
	// the course stays in it for the longer of both.
	Admit(tx lyceum.Tx, now time.Time, admission lyceum.Admission) error
	// Dismiss ends the enrollment that came with a sale: now, or at a moment to
	// come. Where there is none it does nothing.
	Dismiss(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, course lyceum.CourseID, at time.Time) error
}

// Registrar is what orders need of the rules of people.
type Registrar interface {
	// CheckAddress refuses what cannot be the address or the name of a user.
	CheckAddress(email string, name lyceum.Opt[string]) error
	// Register gives the user with an address, and makes one where there is
	// none.
	Register(tx lyceum.Tx, now time.Time, email string, name lyceum.Opt[string]) (lyceum.UserID, error)
}

// Service answers questions about sales, takes sales in and keeps their books.
type Service struct {
	store    lyceum.Store
	clock    func() time.Time
	enroller Enroller
	people   Registrar
}

// New makes the service over a store.
func New(store lyceum.Store, clock func() time.Time, enroller Enroller, people Registrar) *Service {
	return &Service{store: store, clock: clock, enroller: enroller, people: people}
}

// List gives one page of the transactions that pass the filter and their exact
// number. A page after the last is empty.
func (s *Service) List(
	ctx context.Context, by lyceum.By, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page,
) (lyceum.TransactionListing, error) {
	return s.store.FindTransactions(ctx, by.School, f, o, p)
}

// Each visits the transactions that pass the filter, all of one moment.
func (s *Service) Each(ctx context.Context, by lyceum.By, f lyceum.TransactionFilter, o lyceum.Order,
	visit func(*lyceum.Transaction) error,
) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	return v.Transactions.Each(v, lyceum.TransactionQuery{TransactionFilter: f, Order: o}, visit)
}

// SaleDetail is a sale with its history.
type SaleDetail struct {
	lyceum.Sale

	Transactions []lyceum.Transaction // oldest first
	Movements    []lyceum.Movement    // by id
	References   map[lyceum.TransactionID]lyceum.Reference
}

// Show gives a sale with its history.
func (s *Service) Show(ctx context.Context, by lyceum.By, id lyceum.SaleID) (SaleDetail, error) {
	var d SaleDetail
	var err error
	v := s.store.In(ctx, by.School)
	if d.Sale, err = v.Sales.Get(v, id); err != nil {
		return SaleDetail{}, err
	}
	if d.Transactions, err = lyceum.All(v.Transactions, v, paymentsOf(id)); err != nil {
		return SaleDetail{}, err
	}
	if d.Movements, err = lyceum.All(v.Movements, v, lyceum.MovementFilter{Sale: lyceum.Some(id)}); err != nil {
		return SaleDetail{}, err
	}
	ids := make([]lyceum.TransactionID, len(d.Transactions))
	for i := range d.Transactions {
		ids[i] = d.Transactions[i].ID
	}
	d.References, err = v.References.Find(v, ids...)
	return d, err
}

// paymentsOf finds the transactions of a sale, oldest first.
func paymentsOf(sale lyceum.SaleID) lyceum.TransactionQuery {
	return lyceum.TransactionQuery{Sale: lyceum.Some(sale), Order: lyceum.OldestFirst}
}

// TransactionDetail is a transaction with what happened to its money.
type TransactionDetail struct {
	lyceum.Transaction

	Reference lyceum.Opt[string]
	Movements []lyceum.Movement // by id
}

// ShowTransaction gives a transaction with what happened to its money.
func (s *Service) ShowTransaction(
	ctx context.Context, by lyceum.By, id lyceum.TransactionID,
) (TransactionDetail, error) {
	v := s.store.In(ctx, by.School)
	kept, err := v.Transactions.Get(v, id)
	if err != nil {
		return TransactionDetail{}, err
	}
	sale, err := s.Show(ctx, by, kept.SaleID)
	if err != nil {
		return TransactionDetail{}, err
	}
	d := TransactionDetail{Transaction: kept}
	for i := range sale.Movements {
		if sale.Movements[i].TransactionID == id {
			d.Movements = append(d.Movements, sale.Movements[i])
		}
	}
	d.Reference = sale.Reference(id)
	return d, nil
}

// Reference returns the name of a transaction of the sale in the payment system,
// if it has one.
func (d *SaleDetail) Reference(id lyceum.TransactionID) lyceum.Opt[string] {
	return nameIn(d.References, id)
}

func nameIn(references map[lyceum.TransactionID]lyceum.Reference, id lyceum.TransactionID) lyceum.Opt[string] {
	reference, there := references[id]
	return lyceum.Opt[string]{Value: reference.Name, Present: there}
}
