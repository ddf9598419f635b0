package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Enroller is what sales need from the rules of learning, within the transaction of a sale.
type Enroller interface {
	// Grant gives a user access to a product. It assigns the entitlement's id.
	Grant(tx lyceum.Tx, now time.Time, e lyceum.Entitlement) error
	// Revoke ends the entitlements that came with a sale, as of a given time: one in the past,
	// or one in the future if they would not end before. It reports whether one of them was
	// open and no longer is.
	Revoke(
		tx lyceum.Tx, now time.Time, sale *lyceum.Sale, at time.Time, why lyceum.EntitlementEnd,
	) (ended bool, err error)
	// Restore reopens the entitlements of a sale that an act ended, unless its buyer was erased.
	// Those of a canceled sale that end by themselves end no later than what is paid for. It
	// returns the last time at which one of them ends by itself, if that is in the future.
	Restore(
		tx lyceum.Tx, now time.Time, sale *lyceum.Sale, ended lyceum.EntitlementEnd,
	) (until lyceum.Opt[time.Time], err error)
	// Preview returns a page of what an act would do to the access of some users to some
	// products and what comes with them, or to all products if none are given. It rolls the act
	// back, and fails like the act.
	Preview(
		ctx context.Context, by lyceum.By, p lyceum.Page,
		of func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error), act func(lyceum.Tx, time.Time) error,
	) (lyceum.AccessPreview, error)
	// Link determines again which sales the imported enrollments of users belong to.
	Link(tx lyceum.Tx, now time.Time, users []lyceum.UserID) error
	// Relink runs Link before an act on a user's sale, if a changed plan requires it.
	Relink(tx lyceum.Tx, now time.Time, user lyceum.UserID) error
}

// Registrar is what orders need from the rules of people.
type Registrar interface {
	// CheckAddress rejects text that cannot be a user's email address or name.
	CheckAddress(email string, name lyceum.Opt[string]) error
	// Register returns the user with an address, and creates one if there is none.
	Register(tx lyceum.Tx, now time.Time, email string, name lyceum.Opt[string]) (lyceum.UserID, error)
}

// Service reads and records sales, and keeps their books.
type Service struct {
	store    lyceum.Store
	clock    func() time.Time
	enroller Enroller
	people   Registrar
	notify   Notify
}

// New returns a Service for a store.
func New(store lyceum.Store, clock func() time.Time, enroller Enroller, people Registrar) *Service {
	return &Service{store: store, clock: clock, enroller: enroller, people: people, notify: notifyNobody}
}

// List returns one page of the transactions that match the filter, and their exact number. A
// page after the last one is empty.
func (s *Service) List(
	ctx context.Context, by lyceum.By, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page,
) (lyceum.TransactionListing, error) {
	return s.store.FindTransactions(ctx, by.School, f, o, p)
}

// Each visits the transactions that match the filter, all from one snapshot.
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
	Failures     []lyceum.PaymentFailure // by id; the newest, at most MaxFailures
	Status       lyceum.Opt[SaleStatus]  // absent for a single payment that has not ended
	LapsesAt     lyceum.Opt[time.Time]   // when it ends if it is not paid for by then
}

// Show returns a sale with its history.
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

// paymentsOf returns the query for the transactions of a sale, oldest first.
func paymentsOf(sale lyceum.SaleID) lyceum.TransactionQuery {
	return lyceum.TransactionQuery{Sale: lyceum.Some(sale), Order: lyceum.OldestFirst}
}

// TransactionDetail is a transaction with its movements.
type TransactionDetail struct {
	lyceum.Transaction

	TaxRefunded lyceum.Minor
	Reference   lyceum.Opt[string]
	Period      lyceum.Opt[PaidPeriod]
	Movements   []lyceum.Movement // by id
}

// ShowTransaction returns a transaction with its movements.
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

// taxRefunded returns the tax that the movements of a transaction refunded.
func taxRefunded(movements []lyceum.Movement, id lyceum.TransactionID) lyceum.Minor {
	var tax lyceum.Minor
	for i := range movements {
		if movements[i].TransactionID == id {
			tax = movements[i].TaxRefunded
		}
	}
	return tax
}

// Refunded returns what was refunded of one of the sale's transactions.
func (d *SaleDetail) Refunded(t *lyceum.Transaction) lyceum.Part {
	return t.RefundedPart(taxRefunded(d.Movements, t.ID))
}

// LostElsewhere returns what an imported chargeback of one of the sale's transactions took.
func (d *SaleDetail) LostElsewhere(t *lyceum.Transaction) lyceum.Part {
	a := d.account(t)
	return a.lostElsewhere()
}

// Left returns what can still be refunded of one of the sale's transactions, or the reason why
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

// Reference returns the reference of one of the sale's transactions in the payment system, if
// it has one.
func (d *SaleDetail) Reference(id lyceum.TransactionID) lyceum.Opt[string] {
	return nameIn(d.References, id)
}

// Period returns the time that one of the sale's transactions bought.
func (d *SaleDetail) Period(id lyceum.TransactionID) lyceum.Opt[PaidPeriod] {
	return periodIn(d.Periods, id)
}

func nameIn(references map[lyceum.TransactionID]lyceum.Reference, id lyceum.TransactionID) lyceum.Opt[string] {
	reference, there := references[id]
	return lyceum.Opt[string]{Value: reference.Name, Present: there}
}
