package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Relinkings, noun[lyceum.PricingPlanID, lyceum.Relinking, struct{}]{
	table: table[lyceum.Relinking]{name: "relinkings"},
	what:  "relinking",
	key:   unnumbered(idKey("pricing_plan_id", func(r *lyceum.Relinking) *lyceum.PricingPlanID { return &r.Plan })),
	rest: []column[lyceum.Relinking]{
		timeColumn("after_at", func(r *lyceum.Relinking) *time.Time { return &r.After }),
		intColumn("after_id", func(r *lyceum.Relinking) *lyceum.TransactionID { return &r.ID }),
	},
})

func (t *tx) FindBuyers(r lyceum.Relinking, limit int) ([]lyceum.Buyer, error) {
	var found []lyceum.Buyer
	var buyer lyceum.Buyer
	err := t.q.each(`SELECT t.user_id, t.created_at, t.transaction_id FROM transactions t
		WHERE t.school_id = $1 AND t.pricing_plan_id = $2 AND t.paid = 1 AND (t.created_at, t.transaction_id) > ($3, $4)
		ORDER BY t.created_at, t.transaction_id LIMIT $5`,
		[]any{int64(t.stamp.School), int64(r.Plan), micros(r.After), int64(r.ID), limit},
		[]any{scanInt(&buyer.User), scanTime(&buyer.At), scanInt(&buyer.Transaction)},
		func() error { found = append(found, buyer); return nil })
	if err != nil {
		return nil, fmt.Errorf("find buyers: %w", err)
	}
	return found, nil
}
