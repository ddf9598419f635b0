package sqlstore

import (
	"fmt"
	"strconv"
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

// lookedAt is how many transactions FindBuyers scans at most.
const lookedAt = 5000

func (t *tx) FindBuyers(q lyceum.BuyerQuery) (lyceum.BuyerListing, error) {
	var found lyceum.BuyerListing
	w := &where{}
	w.and("school_id = ?", int64(t.stamp.School))
	w.and("(created_at, transaction_id) > (?, ?)", micros(q.After), int64(q.ID))
	from := " FROM transactions"
	place := []any{scanTime(&found.After), scanInt(&found.ID)}
	const inTime = " ORDER BY created_at, transaction_id LIMIT "
	var err error
	found.More, err = t.q.one("SELECT created_at, transaction_id"+from+w.String()+inTime+"1 OFFSET "+
		strconv.Itoa(lookedAt-1), w.args, place...)
	if err != nil {
		return found, fmt.Errorf("find where to look for buyers: %w", err)
	}
	if found.More {
		w.and("(created_at, transaction_id) <= (?, ?)", micros(found.After), int64(found.ID))
	}
	among(w, "pricing_plan_id", q.Plans)
	w.and("paid = 1")
	var last lyceum.BuyerListing
	var user lyceum.UserID
	err = t.q.each("SELECT user_id, created_at, transaction_id"+from+w.String()+inTime+w.arg(int64(q.Limit)), w.args,
		[]any{scanInt(&user), scanTime(&last.After), scanInt(&last.ID)},
		func() error { found.Users = append(found.Users, user); return nil })
	if err != nil {
		return found, fmt.Errorf("find buyers: %w", err)
	}
	if len(found.Users) == q.Limit {
		found.After, found.ID, found.More = last.After, last.ID, true
	}
	return found, nil
}
