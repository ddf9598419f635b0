package sqlstore

import (
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var movements = table[lyceum.Movement]{
	name: "movements", seq: lyceum.MovementSequence, created: lyceum.MovementCreated,
	columns: []string{"movement_id", "transaction_id", "sale_id", "kind", "amount", "refunded", "at", "reason", "reference"},
	id:      func(m *lyceum.Movement) int32 { return int32(m.ID) },
	bind: func(m *lyceum.Movement) []any {
		return []any{int64(m.ID), int64(m.TransactionID), int64(m.SaleID), string(m.Kind), int64(m.Amount), int64(m.Refunded), micros(m.At), optText(m.Reason), optText(m.Reference)}
	},
	scan: func(m *lyceum.Movement) []any {
		return []any{scanInt(&m.ID), scanInt(&m.TransactionID), scanInt(&m.SaleID), scanText(&m.Kind), scanInt(&m.Amount), scanInt(&m.Refunded), scanTime(&m.At), scanOptText(&m.Reason), scanOptText(&m.Reference)}
	},
}

var orders = table[lyceum.PurchaseOrder]{
	name: "orders", seq: lyceum.OrderSequence, created: lyceum.OrderCreated, updated: lyceum.OrderUpdated,
	columns: []string{"order_id", "email", "name", "user_id", "pricing_plan_id", "coupon_id", "affiliate_id", "final_price", "currency", "state", "created_at", "abandons_at", "closed_at", "sale_id"},
	id:      func(o *lyceum.PurchaseOrder) int32 { return int32(o.ID) },
	bind: func(o *lyceum.PurchaseOrder) []any {
		return []any{
			int64(o.ID), o.Email, optText(o.Name), optInt(o.UserID), int64(o.PricingPlanID), optInt(o.CouponID), optInt(o.AffiliateID),
			int64(o.FinalPrice), string(o.Currency), string(o.State), micros(o.CreatedAt), micros(o.AbandonsAt), optMicros(o.ClosedAt), optInt(o.SaleID),
		}
	},
	scan: func(o *lyceum.PurchaseOrder) []any {
		return []any{
			scanInt(&o.ID), scanText(&o.Email), scanOptText(&o.Name), scanOptInt(&o.UserID), scanInt(&o.PricingPlanID), scanOptInt(&o.CouponID), scanOptInt(&o.AffiliateID),
			scanInt(&o.FinalPrice), scanText(&o.Currency), scanText(&o.State), scanTime(&o.CreatedAt), scanTime(&o.AbandonsAt), scanOptTime(&o.ClosedAt), scanOptInt(&o.SaleID),
		}
	},
}

// entryColumns are those of the journal after the school.
const entryColumns = "number, at, actor, type, object_id, event, detail"

// entryColumnsOf gives them with the name of their table.
func entryColumnsOf(table string) string {
	return table + "." + strings.ReplaceAll(entryColumns, ", ", ", "+table+".")
}

func scanEntry(e *lyceum.Entry) []any {
	return []any{scanInt(&e.Number), scanTime(&e.At), scanText(&e.Actor), scanText(&e.Type), scanInt(&e.ObjectID), scanOptText(&e.Event), scanOptText(&e.Detail)}
}

func bindPolicy(p lyceum.SalePolicy) []any {
	return []any{string(p.OnRefund), string(p.OnChargeback), string(p.OnCancellation), int64(p.AbandonAfter / time.Minute)}
}

func scanPolicy(p *lyceum.SalePolicy) []any {
	return []any{scanText(&p.OnRefund), scanText(&p.OnChargeback), scanText(&p.OnCancellation), scanFunc(func(src any) error {
		minutes, ok := src.(int64)
		if !ok {
			return wrong(src, "minutes")
		}
		p.AbandonAfter = time.Duration(minutes) * time.Minute
		return nil
	})}
}
