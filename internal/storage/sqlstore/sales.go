package sqlstore

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/lyceum-school/lyceum"
)

var sales = define(noun[lyceum.SaleID, lyceum.Sale, struct{}]{
	table:   table[lyceum.Sale]{name: "sales"},
	entries: "sale",
	key:     idKey("sale_id", func(s *lyceum.Sale) *lyceum.SaleID { return &s.ID }),
	rest: []column[lyceum.Sale]{
		timeColumn("created_at", func(s *lyceum.Sale) *time.Time { return &s.CreatedAt }),
		optIntColumn("user_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.UserID] { return &s.UserID }),
		optIntColumn("pricing_plan_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.PricingPlanID] { return &s.PricingPlanID }),
		optIntColumn("coupon_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.CouponID] { return &s.CouponID }),
		optIntColumn("affiliate_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.AffiliateID] { return &s.AffiliateID }),
		optIntColumn("author_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.AuthorID] { return &s.AuthorID }),
		optIntColumn("final_price", func(s *lyceum.Sale) *lyceum.Opt[lyceum.Minor] { return &s.FinalPrice }),
		optTextColumn("currency", func(s *lyceum.Sale) *lyceum.Opt[lyceum.Currency] { return &s.Currency }),
		optTimeColumn("paid_until", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.PaidUntil }),
		optTimeColumn("ended_at", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.EndedAt }),
		optTextColumn("end_reason", func(s *lyceum.Sale) *lyceum.Opt[lyceum.SaleEnd] { return &s.EndReason }),
	},
	largest: 1 << 10,
})

// keyOf is what an Idempotency-Key of an actor is kept as. No actor and no key
// has a NUL character.
func keyOf(actor, key string) []byte {
	sum := sha256.Sum256([]byte(actor + "\x00" + key))
	return sum[:]
}

// keyOfAll is what keys were kept as while all actors of a school shared them.
func keyOfAll(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// GetSale implements lyceum.Reader.
func (s *Store) GetSale(ctx context.Context, school lyceum.SchoolID, id lyceum.SaleID) (lyceum.Sale, error) {
	row, err := getByID(s.reads.single(ctx), school, &sales.table, id, "sale")
	return row, s.public(err)
}

// GetTransaction implements lyceum.Reader.
func (s *Store) GetTransaction(ctx context.Context, school lyceum.SchoolID, id lyceum.TransactionID) (lyceum.Transaction, error) {
	row, err := getByID(s.reads.single(ctx), school, &transactions.table, id, "transaction")
	return row, s.public(err)
}

// FindTransactionsOf implements lyceum.Reader.
func (s *Store) FindTransactionsOf(ctx context.Context, school lyceum.SchoolID, sale lyceum.SaleID) ([]lyceum.Transaction, error) {
	found, err := findTransactionsOf(s.reads.single(ctx), school, sale)
	return found, s.public(err)
}

func findTransactionsOf(q *session, school lyceum.SchoolID, sale lyceum.SaleID) ([]lyceum.Transaction, error) {
	return rows(q, &transactions.table, " WHERE school_id = $1 AND sale_id = $2 ORDER BY created_at, transaction_id", int64(school), int64(sale))
}

// FindMovements implements lyceum.Reader.
func (s *Store) FindMovements(ctx context.Context, school lyceum.SchoolID, sale lyceum.SaleID) ([]lyceum.Movement, error) {
	found, err := rows(s.reads.single(ctx), &movements.table, " WHERE school_id = $1 AND sale_id = $2 ORDER BY movement_id", int64(school), int64(sale))
	return found, s.public(err)
}

// FindReferences implements lyceum.Reader.
func (s *Store) FindReferences(ctx context.Context, school lyceum.SchoolID, ids []lyceum.TransactionID) (map[lyceum.TransactionID]string, error) {
	found := map[lyceum.TransactionID]string{}
	var id lyceum.TransactionID
	var reference string
	err := inChunks(s.reads.single(ctx), "SELECT transaction_id, reference FROM charge_references WHERE school_id = $1 AND transaction_id IN ",
		school, int32Args(ids), []any{scanInt(&id), scanText(&reference)}, func() { found[id] = reference })
	return found, s.public(err)
}

// GetOrder implements lyceum.Reader.
func (s *Store) GetOrder(ctx context.Context, school lyceum.SchoolID, id lyceum.OrderID) (lyceum.PurchaseOrder, error) {
	row, err := getByID(s.reads.single(ctx), school, &orders.table, id, "order")
	return row, s.public(err)
}

// FindOverdue implements lyceum.Reader.
func (s *Store) FindOverdue(ctx context.Context, now time.Time) ([]lyceum.SchoolID, error) {
	var found []lyceum.SchoolID
	var id lyceum.SchoolID
	err := s.reads.single(ctx).each(`SELECT s.school_id FROM schools s LEFT JOIN cursors c ON c.school_id = s.school_id AND c.name = '`+lyceum.ExpiredCursor+`' WHERE c.number IS NULL
		OR EXISTS (SELECT 1 FROM enrollments e WHERE e.school_id = s.school_id AND e.ended_at IS NULL AND e.expires_at IS NOT NULL AND e.expires_at > c.number AND e.expires_at <= $1)
		OR EXISTS (SELECT 1 FROM orders o WHERE o.school_id = s.school_id AND o.state = 'open' AND o.abandons_at <= $2) ORDER BY s.school_id`,
		[]any{micros(now), micros(now)}, []any{scanInt(&id)}, func() error { found = append(found, id); return nil })
	return found, s.public(err)
}
