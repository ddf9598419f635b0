package sqlstore

import (
	"fmt"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

// seatCounter is the counter of the taken seats of a pricing plan.
func seatCounter(plan lyceum.PricingPlanID) string { return "seats:" + strconv.Itoa(int(plan)) }

// useCounter is the counter of the taken uses of a coupon.
func useCounter(coupon lyceum.CouponID) string { return "uses:" + strconv.Itoa(int(coupon)) }

// countHeld updates the counters of sales and of the seats and uses that they take.
func countHeld(t *tx, old, row *lyceum.Sale) {
	for _, side := range [...]struct {
		sale *lyceum.Sale
		by   int64
	}{{old, -1}, {row, 1}} {
		if side.sale != nil && side.sale.HoldsSeat() {
			t.count(seatCounter(side.sale.PricingPlanID.Value), side.by)
		}
		if side.sale != nil && side.sale.PricingPlanID.Present {
			t.count(soldPrefix+strconv.Itoa(int(side.sale.PricingPlanID.Value)), side.by)
		}
		if side.sale != nil && side.sale.HoldsUse() {
			t.count(useCounter(side.sale.CouponID.Value), side.by)
		}
	}
}

// countReserved updates the counters of the seats and uses that open orders take.
func countReserved(t *tx, old, row *lyceum.PurchaseOrder) {
	for _, side := range [...]struct {
		order *lyceum.PurchaseOrder
		by    int64
	}{{old, -1}, {row, 1}} {
		if side.order == nil || side.order.State != lyceum.OrderOpen {
			continue
		}
		t.count(seatCounter(side.order.PricingPlanID), side.by)
		if side.order.CouponID.Present {
			t.count(useCounter(side.order.CouponID.Value), side.by)
		}
	}
}

// count adds to a counter of rows at the end of the change.
func (t *tx) count(counter string, by int64) {
	if t.counts[counter] += by; t.counts[counter] == 0 {
		delete(t.counts, counter)
	}
}

// CountTaken includes what the change has not written yet.
func (t *tx) CountTaken(plans []lyceum.PricingPlanID, coupons []lyceum.CouponID) (lyceum.Taken, error) {
	return countTaken(plans, coupons, func(names []string) (map[string]int64, error) {
		counts := map[string]int64{}
		err := t.q.group.know(t.stamp.School, names...)
		for i := 0; i < len(names) && err == nil; i++ {
			counts[names[i]], err = t.counter(names[i])
		}
		return counts, err
	})
}

func (v *view) CountTaken(plans []lyceum.PricingPlanID, coupons []lyceum.CouponID) (lyceum.Taken, error) {
	return countTaken(plans, coupons, func(names []string) (map[string]int64, error) {
		counts := map[string]int64{}
		args := make([]any, len(names))
		for i, name := range names {
			args[i] = name
		}
		var name string
		var value int64
		err := inChunks(v.q, "SELECT name, value FROM counters WHERE school_id = $1 AND name IN ", v.school, args,
			[]any{scanText(&name), scanInt(&value)}, func() { counts[name] = value })
		return counts, v.public(err)
	})
}

func countTaken(
	plans []lyceum.PricingPlanID, coupons []lyceum.CouponID, read func(names []string) (map[string]int64, error),
) (lyceum.Taken, error) {
	var names []string
	for _, plan := range plans {
		names = append(names, seatCounter(plan))
	}
	for _, coupon := range coupons {
		names = append(names, useCounter(coupon))
	}
	counts, err := read(names)
	if err != nil {
		return lyceum.Taken{}, fmt.Errorf("count what is taken: %w", err)
	}
	taken := lyceum.Taken{Seats: map[lyceum.PricingPlanID]int64{}, Uses: map[lyceum.CouponID]int64{}}
	for _, plan := range plans {
		taken.Seats[plan] = counts[seatCounter(plan)]
	}
	for _, coupon := range coupons {
		taken.Uses[coupon] = counts[useCounter(coupon)]
	}
	return taken, nil
}

// takenInvariants check the counters of seats, uses and sales, and which sales take no seat or
// use.
func takenInvariants() []invariant {
	disagree := func(table, column, sale, prefix string) invariant {
		return invariant{
			`SELECT count(*) FROM (SELECT b.id FROM (
				SELECT s.` + column + ` AS id, 1 AS n FROM sales s WHERE s.school_id = $1 AND s.` + column + ` IS NOT NULL
				AND s.released = 0` + sale + `
				UNION ALL SELECT o.` + column + `, 1 FROM orders o WHERE o.school_id = $1 AND o.` + column + ` IS NOT NULL
				AND o.state = 'open'
				UNION ALL SELECT CAST(substr(c.name, ` + strconv.Itoa(len(prefix)+1) + `) AS INTEGER), -c.value FROM counters c
				WHERE c.school_id = $1 AND c.name LIKE '` + prefix + `%'
			) b GROUP BY b.id HAVING sum(b.n) <> 0) x`,
			"%d " + table + " have a different number taken than their counter says",
		}
	}
	return []invariant{
		{
			`SELECT count(*) FROM (SELECT b.id FROM (
				SELECT s.pricing_plan_id AS id, 1 AS n FROM sales s WHERE s.school_id = $1 AND s.pricing_plan_id IS NOT NULL
				UNION ALL SELECT CAST(substr(c.name, ` + strconv.Itoa(len(soldPrefix)+1) + `) AS INTEGER), -c.value FROM counters c
				WHERE c.school_id = $1 AND c.name LIKE '` + soldPrefix + `%'
			) b GROUP BY b.id HAVING sum(b.n) <> 0) x`,
			"%d pricing plans have a different number of sales than their counter says",
		},
		disagree("pricing plans", "pricing_plan_id", " AND s.ended_at IS NULL", "seats:"),
		disagree("coupons", "coupon_id", "", "uses:"),
		{
			`SELECT count(*) FROM sales s WHERE s.school_id = $1 AND s.released <> ` + released,
			"%d sales are marked as fully refunded and are not, or vice versa",
		},
	}
}

// released is 1 for sales s whose payments above 0 were all refunded in full.
const released = `CASE WHEN EXISTS (SELECT 1 FROM transactions t WHERE t.school_id = s.school_id
	AND t.sale_id = s.sale_id AND t.paid = 1 AND t.amount_refunded > 0 AND t.amount_refunded >= t.final_price)
	AND NOT EXISTS (SELECT 1 FROM transactions t WHERE t.school_id = s.school_id AND t.sale_id = s.sale_id
	AND t.paid = 1 AND t.final_price > 0 AND (t.amount_refunded <= 0 OR t.amount_refunded < t.final_price))
	THEN 1 ELSE 0 END`
