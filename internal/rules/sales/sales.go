package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Enroller is what sales need of the rules of learning, inside the transaction
// of a sale.
type Enroller interface {
	// Grant gives a user a product. The entitlement's id is chosen by it.
	Grant(tx lyceum.Tx, now time.Time, e lyceum.Entitlement) error
	// Revoke ends the entitlements that came with a sale, as of a moment: one that
	// has passed, or one to come if they would not end before. It reports whether one
	// of them was open and is not any longer.
	Revoke(
		tx lyceum.Tx, now time.Time, sale *lyceum.Sale, at time.Time, why lyceum.EntitlementEnd,
	) (ended bool, err error)
	// Restore opens the entitlements of a sale again that an act ended.
	Restore(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, ended lyceum.EntitlementEnd) error
	// Preview returns a page of what an act does to the access of some users to some
	// products and what comes with these; to all, if there are none. It takes the act
	// back, and fails as the act does.
	Preview(
		ctx context.Context, by lyceum.By, p lyceum.Page,
		of func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error), act func(lyceum.Tx, time.Time) error,
	) (lyceum.AccessPreview, error)
	// Link finds again which sales the imported enrollments of users belong to.
	Link(tx lyceum.Tx, now time.Time, users []lyceum.UserID) error
	// Relink does so before an act on a sale of a user, if a plan that changed
	// waits for it.
	Relink(tx lyceum.Tx, now time.Time, user lyceum.UserID) error
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
	notify   Notify
}

// New makes the service over a store.
func New(store lyceum.Store, clock func() time.Time, enroller Enroller, people Registrar) *Service {
	return &Service{store: store, clock: clock, enroller: enroller, people: people, notify: notifyNobody}
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
	Disputes     []lyceum.Dispute     // by id
	References   map[lyceum.TransactionID]lyceum.Reference
	Periods      map[lyceum.TransactionID]PaidPeriod
	Warnings     []lyceum.SaleWarning    // by id
	Failures     []lyceum.PaymentFailure // by id, the newest of them, at most MaxFailures
	Status       lyceum.Opt[SaleStatus]  // absent for a single payment that has not ended
	LapsesAt     lyceum.Opt[time.Time]   // when it ends if it is not paid for until then
}

// Show gives a sale with its history.
func (s *Service) Show(ctx context.Context, by lyceum.By, id lyceum.SaleID) (SaleDetail, error) {
	v := s.store.In(ctx, by.School)
	return s.saleDetail(v.Tables, v, id)
}

func (s *Service) saleDetail(tables *lyceum.Tables, from lyceum.Reads, id lyceum.SaleID) (SaleDetail, error) {
	var d SaleDetail
	var err error
	if d.Sale, err = tables.Sales.Get(from, id); err != nil {
		return SaleDetail{}, err
	}
	if d.Transactions, err = lyceum.All(tables.Transactions, from, paymentsOf(id)); err != nil {
		return SaleDetail{}, err
	}
	if d.Movements, err = lyceum.All(tables.Movements, from, lyceum.MovementFilter{Sale: lyceum.Some(id)}); err != nil {
		return SaleDetail{}, err
	}
	if len(d.Movements) > 0 {
		d.Disputes, err = lyceum.All(tables.Disputes, from, lyceum.DisputeFilter{Sale: lyceum.Some(id)})
		if err != nil {
			return SaleDetail{}, err
		}
	}
	d.Warnings, err = lyceum.All(tables.SaleWarnings, from, lyceum.SaleWarningFilter{Sale: lyceum.Some(id)})
	if err != nil {
		return SaleDetail{}, err
	}
	ids := make([]lyceum.TransactionID, len(d.Transactions))
	for i := range d.Transactions {
		ids[i] = d.Transactions[i].ID
	}
	if d.References, err = tables.References.Find(from, ids...); err != nil {
		return SaleDetail{}, err
	}
	if err := d.judge(tables, from, s.clock()); err != nil {
		return SaleDetail{}, err
	}
	return d, nil
}

// paymentsOf finds the transactions of a sale, oldest first.
func paymentsOf(sale lyceum.SaleID) lyceum.TransactionQuery {
	return lyceum.TransactionQuery{Sale: lyceum.Some(sale), Order: lyceum.OldestFirst}
}

// TransactionDetail is a transaction with what happened to its money.
type TransactionDetail struct {
	lyceum.Transaction

	TaxRefunded lyceum.Minor
	Reference   lyceum.Opt[string]
	Period      lyceum.Opt[PaidPeriod]
	Movements   []lyceum.Movement // by id
}

// ShowTransaction gives a transaction with what happened to its money.
func (s *Service) ShowTransaction(
	ctx context.Context, by lyceum.By, id lyceum.TransactionID,
) (TransactionDetail, error) {
	v := s.store.In(ctx, by.School)
	t, err := v.Transactions.Get(v, id)
	if err != nil {
		return TransactionDetail{}, err
	}
	return transactionDetail(v.Tables, v, t)
}

func transactionDetail(
	tables *lyceum.Tables, from lyceum.Reads, t lyceum.Transaction,
) (TransactionDetail, error) {
	d := TransactionDetail{Transaction: t}
	var err error
	d.Movements, err = lyceum.All(tables.Movements, from, lyceum.MovementFilter{Transaction: lyceum.Some(t.ID)})
	if err != nil {
		return d, err
	}
	d.TaxRefunded = t.RefundedPart(taxRefunded(d.Movements, t.ID)).Tax
	references, err := tables.References.Find(from, t.ID)
	if err != nil {
		return d, err
	}
	d.Reference = nameIn(references, t.ID)
	periods, err := paidPeriods(tables, from, t.SaleID)
	d.Period = periodIn(periods, t.ID)
	return d, err
}

// taxRefunded is the tax that the movements of a transaction returned.
func taxRefunded(movements []lyceum.Movement, id lyceum.TransactionID) lyceum.Minor {
	var tax lyceum.Minor
	for i := range movements {
		if movements[i].TransactionID == id {
			tax = movements[i].TaxRefunded
		}
	}
	return tax
}

// TaxRefunded is the tax of a transaction of the sale that was refunded.
func (d *SaleDetail) TaxRefunded(t *lyceum.Transaction) lyceum.Minor {
	return t.RefundedPart(taxRefunded(d.Movements, t.ID)).Tax
}

// Left returns what can still be refunded of a transaction of the sale, or why
// nothing can.
func (d *SaleDetail) Left(t *lyceum.Transaction) (lyceum.Part, error) {
	a := d.account(t)
	return a.returnable()
}

func (d *SaleDetail) account(t *lyceum.Transaction) account {
	return account{
		Transaction: *t, at: paidAt(t, d.References), tax: taxRefunded(d.Movements, t.ID),
		disputes: disputesOf(d.Disputes, t.ID),
	}
}

// Reference returns the name of a transaction of the sale in the payment system,
// if it has one.
func (d *SaleDetail) Reference(id lyceum.TransactionID) lyceum.Opt[string] {
	return nameIn(d.References, id)
}

// Period returns the time that a transaction of the sale bought.
func (d *SaleDetail) Period(id lyceum.TransactionID) lyceum.Opt[PaidPeriod] {
	return periodIn(d.Periods, id)
}

func nameIn(references map[lyceum.TransactionID]lyceum.Reference, id lyceum.TransactionID) lyceum.Opt[string] {
	reference, there := references[id]
	return lyceum.Opt[string]{Value: reference.Name, Present: there}
}
