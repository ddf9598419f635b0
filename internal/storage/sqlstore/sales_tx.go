package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// CreateMovement implements lyceum.Tx.
func (t *tx) CreateMovement(m lyceum.Movement) error { return create(t, &movements.table, m) }

// SaveOrders implements lyceum.Tx.
func (t *tx) SaveOrders(rows []lyceum.PurchaseOrder) (lyceum.Saved, error) {
	return save(t, &orders.table, rows)
}

// SetPolicy implements lyceum.Tx.
func (t *tx) SetPolicy(p lyceum.SalePolicy) error {
	err := t.q.exec("UPDATE schools SET on_refund = $2, on_chargeback = $3, on_cancellation = $4, abandon_after = $5 WHERE school_id = $1",
		append([]any{int64(t.stamp.School)}, bindPolicy(p)...)...)
	if err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	return nil
}

// SetTimeZone implements lyceum.Tx.
func (t *tx) SetTimeZone(zone lyceum.TimeZone) error {
	differs, err := t.changed("UPDATE schools SET time_zone = $2 WHERE school_id = $1 AND time_zone <> $2",
		int64(t.stamp.School), string(zone))
	if err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	if differs {
		t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	}
	return nil
}

// GetPolicy implements lyceum.Tx.
func (t *tx) GetPolicy() (lyceum.SalePolicy, error) {
	var p lyceum.SalePolicy
	there, err := t.q.one("SELECT on_refund, on_chargeback, on_cancellation, abandon_after FROM schools WHERE school_id = $1", []any{int64(t.stamp.School)}, scanPolicy(&p)...)
	if err == nil && !there {
		err = lyceum.Errorf(lyceum.NotFound, "there is no school %d", t.stamp.School)
	}
	return p, err
}

// TakeReference implements lyceum.Tx.
func (t *tx) TakeReference(reference string, id lyceum.TransactionID) error {
	var taken lyceum.TransactionID
	there, err := t.q.one("INSERT INTO charge_references (school_id, reference, transaction_id) VALUES ($1, $2, $3) ON CONFLICT (school_id, reference) DO NOTHING RETURNING transaction_id",
		[]any{int64(t.stamp.School), reference, int64(id)}, scanInt(&taken))
	if err != nil || there {
		return err
	}
	if _, err = t.q.one("SELECT transaction_id FROM charge_references WHERE school_id = $1 AND reference = $2", []any{int64(t.stamp.School), reference}, scanInt(&taken)); err != nil {
		return fmt.Errorf("find reference: %w", err)
	}
	return &lyceum.Error{Kind: lyceum.Conflict, Code: "reference_taken", Detail: fmt.Sprintf("the payment with this reference is recorded already, as transaction %d", taken)}
}

// Announce implements lyceum.Tx.
func (t *tx) Announce(kind lyceum.EntryType, id int32, event lyceum.EventName, detail string) {
	told := lyceum.Entry{Type: kind, ObjectID: id, Event: lyceum.Some(event), Detail: lyceum.Opt[string]{Value: detail, Present: detail != ""}}
	for i := range t.entries {
		if t.plain == 0 {
			break
		}
		if e := &t.entries[i]; e.Type == kind && e.ObjectID == id && !e.Event.Present {
			*e = told
			t.plain--
			return
		}
	}
	t.entries = append(t.entries, told)
}

// ClaimAnswer implements lyceum.Tx. The key's row is locked until this
// transaction ends.
func (t *tx) ClaimAnswer(a lyceum.KeptAnswer) (lyceum.KeptAnswer, bool, error) {
	// A key that was kept before they belonged to actors holds for all of them,
	// until it is swept out: a request may be repeated over an update.
	if kept, there, err := t.keptAnswer(a.Key, keyOfAll(a.Key)); err != nil || there {
		return kept, false, err
	}
	hash := keyOf(t.stamp.Actor, a.Key)
	var at time.Time
	fresh, err := t.q.one("INSERT INTO answers (school_id, hash, request, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (school_id, hash) DO NOTHING RETURNING created_at",
		[]any{int64(t.stamp.School), hash, a.Request[:], micros(a.CreatedAt)}, scanTime(&at))
	if err != nil || fresh {
		return lyceum.KeptAnswer{}, fresh, err
	}
	kept, _, err := t.keptAnswer(a.Key, hash)
	return kept, false, err
}

func (t *tx) keptAnswer(key string, hash []byte) (kept lyceum.KeptAnswer, there bool, err error) {
	kept.Key = key
	there, err = t.q.one("SELECT request, created_at, body FROM answers WHERE school_id = $1 AND hash = $2",
		[]any{int64(t.stamp.School), hash}, scanHash(&kept.Request), scanTime(&kept.CreatedAt), scanOptText(&kept.Body))
	return kept, there, err
}

// KeepAnswer implements lyceum.Tx.
func (t *tx) KeepAnswer(key, body string) error {
	return t.q.exec("UPDATE answers SET body = $3 WHERE school_id = $1 AND hash = $2", int64(t.stamp.School), keyOf(t.stamp.Actor, key), body)
}

// GetSale implements lyceum.Tx.
func (t *tx) GetSale(id lyceum.SaleID) (lyceum.Sale, error) {
	return getByID(t.q, t.stamp.School, &sales.table, id, "sale")
}

// GetTransaction implements lyceum.Tx.
func (t *tx) GetTransaction(id lyceum.TransactionID) (lyceum.Transaction, error) {
	return getByID(t.q, t.stamp.School, &transactions.table, id, "transaction")
}

// GetFirstTransaction implements lyceum.Tx.
func (t *tx) GetFirstTransaction(sale lyceum.SaleID) (lyceum.Opt[lyceum.Transaction], error) {
	return t.firstOf(sale, "created_at, transaction_id")
}

// GetLastTransaction implements lyceum.Tx.
func (t *tx) GetLastTransaction(sale lyceum.SaleID) (lyceum.Opt[lyceum.Transaction], error) {
	return t.firstOf(sale, "created_at DESC, transaction_id DESC")
}

// firstOf gives the transaction of a sale that comes first in some order.
func (t *tx) firstOf(sale lyceum.SaleID, order string) (lyceum.Opt[lyceum.Transaction], error) {
	found, err := rows(t.q, &transactions.table, " WHERE school_id = $1 AND sale_id = $2 ORDER BY "+order+" LIMIT 1", int64(t.stamp.School), int64(sale))
	if err != nil || len(found) == 0 {
		return lyceum.None[lyceum.Transaction](), err
	}
	return lyceum.Some(found[0]), nil
}

// GetOrder implements lyceum.Tx.
func (t *tx) GetOrder(id lyceum.OrderID) (lyceum.PurchaseOrder, error) {
	return getByID(t.q, t.stamp.School, &orders.table, id, "order")
}

// FindOffer implements lyceum.Tx.
func (t *tx) FindOffer(plan lyceum.PricingPlanID, user lyceum.UserID) (lyceum.Opt[lyceum.PricingPlan], bool, error) {
	var offer lyceum.PricingPlan
	var id lyceum.Opt[lyceum.UserID]
	there, err := t.q.one("SELECT "+pricingPlans.of("p")+", u.user_id FROM pricing_plans p LEFT JOIN users u ON u.school_id = p.school_id AND u.user_id = $1 WHERE p.school_id = $2 AND p.pricing_plan_id = $3",
		[]any{int64(user), int64(t.stamp.School), int64(plan)}, append(pricingPlans.scan(&offer), scanOptInt(&id))...)
	if err != nil {
		return lyceum.None[lyceum.PricingPlan](), false, fmt.Errorf("find offer: %w", err)
	}
	if there {
		return lyceum.Some(offer), id.Present, nil
	}
	found, err := t.FindUsers([]lyceum.UserID{user})
	_, ok := found[user]
	return lyceum.None[lyceum.PricingPlan](), ok, err
}

// GetReference implements lyceum.Tx.
func (t *tx) GetReference(id lyceum.TransactionID) (lyceum.Opt[string], error) {
	var reference lyceum.Opt[string]
	_, err := t.q.one("SELECT reference FROM charge_references WHERE school_id = $1 AND transaction_id = $2", []any{int64(t.stamp.School), int64(id)}, scanOptText(&reference))
	return reference, err
}

// FindLastMovement implements lyceum.Tx.
func (t *tx) FindLastMovement(id lyceum.TransactionID, kinds ...lyceum.MovementKind) (lyceum.Opt[lyceum.Movement], error) {
	w := &where{}
	w.and("school_id = ?", int64(t.stamp.School))
	w.and("transaction_id = ?", int64(id))
	oneOf(w, "kind", kinds)
	found, err := rows(t.q, &movements.table, w.String()+" ORDER BY movement_id DESC LIMIT 1", w.args...)
	if err != nil || len(found) == 0 {
		return lyceum.None[lyceum.Movement](), err
	}
	return lyceum.Some(found[0]), nil
}

// CountSales implements lyceum.Tx.
func (t *tx) CountSales(plan lyceum.PricingPlanID, most int64) (int64, error) {
	var n int64
	_, err := t.q.one(`SELECT count(*) FROM (SELECT 1 FROM sales s WHERE s.school_id = $1 AND s.ended_at IS NULL
		AND s.sale_id IN (SELECT t.sale_id FROM transactions t WHERE t.school_id = $2 AND t.pricing_plan_id = $3) LIMIT $4) counted`,
		[]any{int64(t.stamp.School), int64(t.stamp.School), int64(plan), most}, scanInt(&n))
	return n, err
}

// FindExpired implements lyceum.Tx.
func (t *tx) FindExpired(in lyceum.Period, without lyceum.EnrollmentID, limit int) ([]lyceum.Enrollment, error) {
	w := &where{}
	w.and("school_id = ?", int64(t.stamp.School))
	w.and("ended_at IS NULL")
	w.and("expires_at IS NOT NULL")
	w.within("expires_at", in)
	if without > 0 {
		w.and("(expires_at, enrollment_id) > (?, ?)", micros(in.After)+1, int64(without))
	}
	return rows(t.q, &enrollments.table, w.String()+" ORDER BY expires_at, enrollment_id LIMIT "+w.arg(int64(limit)), w.args...)
}

// FindStaleOrders implements lyceum.Tx.
func (t *tx) FindStaleOrders(now time.Time, limit int) ([]lyceum.PurchaseOrder, error) {
	return rows(t.q, &orders.table, " WHERE school_id = $1 AND state = 'open' AND abandons_at <= $2 ORDER BY abandons_at, order_id LIMIT $3",
		int64(t.stamp.School), micros(now), int64(limit))
}
