package sqlstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// heldCounter is the counter of a product's entitlements, including those that have ended.
func heldCounter(p lyceum.Product) string {
	return "held:" + string(p.Kind) + ":" + strconv.Itoa(int(p.ID))
}

// countEntitlements updates the counters of the entitlements to each product.
func countEntitlements(t *tx, old, row *lyceum.Entitlement) {
	if old != nil && row != nil && old.Product == row.Product {
		return
	}
	if old != nil {
		t.count(heldCounter(old.Product), -1)
	}
	if row != nil {
		t.count(heldCounter(row.Product), 1)
	}
}

// heldProduct is a product that another product comes with.
type heldProduct struct {
	lyceum.Product

	leaving bool // the other one was removed from it, but not all holders have been given it separately yet
}

func isLeaving(p heldProduct) bool { return p.leaving }

// productsWith returns the products that a product comes with, itself first. The query returns
// them as one string, so that a change can run it ahead.
func (v *view) productsWith(p lyceum.Product) ([]heldProduct, error) {
	all := []heldProduct{{Product: p}}
	const is = " AND i.product_type = $2 AND i.product_id = $3"
	var found string
	_, err := v.q.one(`SELECT COALESCE(string_agg(w.kind || ' ' || w.id || ' ' || w.leaving, ' '
		ORDER BY w.kind, w.id), '') FROM (SELECT 'product_collection' AS kind, i.product_collection_id AS id,
		CASE WHEN i.leaving IS NULL THEN 0 ELSE 1 END AS leaving
		FROM collection_products i WHERE i.school_id = $1 AND (i.leaving IS NULL OR i.leaving > 0)`+is+`
		UNION SELECT 'membership_tier', i.membership_tier_id, 0 FROM tier_products i
		WHERE i.school_id = $1 AND i.leaving IS NULL`+is+`
		UNION SELECT 'membership_tier', o.membership_tier_id, 0 FROM collection_products i
		CROSS JOIN tier_products o WHERE i.school_id = $1 AND i.leaving IS NULL`+is+`
		AND o.school_id = i.school_id AND o.product_type = 'product_collection'
		AND o.product_id = i.product_collection_id AND o.leaving IS NULL) w`,
		[]any{int64(v.school), string(p.Kind), int64(p.ID)}, scanText(&found))
	if err != nil {
		return nil, err
	}
	for of := range slices.Chunk(strings.Fields(found), 3) {
		id, err := strconv.ParseInt(of[1], 10, 32)
		if err != nil {
			return nil, wrong(of[1], "id")
		}
		with := lyceum.Product{Kind: lyceum.ProductKind(of[0]), ID: int32(id)}
		all = append(all, heldProduct{Product: with, leaving: of[2] == "1"})
	}
	return all, nil
}

// FindHoldings finds the keys of a page from the beginning of an index for each product that
// the product comes with, merges them, and then reads the rows.
func (v *view) FindHoldings(f lyceum.HoldingFilter, p lyceum.Page) (lyceum.Listing[lyceum.Holding], error) {
	products, err := v.productsWith(f.Product)
	if err != nil {
		return lyceum.Listing[lyceum.Holding]{}, v.public(fmt.Errorf("find what %s comes with: %w", f.Product, err))
	}
	q := newHoldings(v, f, p)
	count := q.count(products)
	scan := func(h *lyceum.Holding) []any {
		return append(entitlements.scan(&h.Entitlement),
			scanBool(&h.Blocked), scanInt(&h.PercentComplete), scanOptTime(&h.CompletedAt))
	}
	r := q.ranking(products)
	return pageIndexed(v, r, count, p, func(s seat) (string, []any) {
		q := newHoldings(v, f, p)
		q.found = r.page(q.w, s.ids)
		return q.phrase(products)(markText, ""), q.w.args
	}, scan, func() ([]lyceum.Holding, int64, error) {
		phrase := q.phrase(products)
		return pageBy(v, func(limit string) string { return phrase(count.text, limit) }, q.w, count, p, scan)
	})
}

// phrase returns a function that returns the query for the page, with a given first column.
func (q *holdings) phrase(products []heldProduct) func(first, limit string) string {
	keys, order := q.keys(products)
	shown, join := q.shown()
	return func(first, limit string) string {
		return "SELECT " + first + shown + " FROM (SELECT * FROM (" + keys + ") k" + order + limit +
			") k CROSS JOIN entitlements e" + join + " WHERE e.school_id = $1 AND e.entitlement_id = k.entitlement_id" + order
	}
}

// ranking returns the ranking of the holdings. It returns nil for those of one user, which are
// few, and while the product is leaving another one: an entitlement to it that a holder of the
// other one is given removes that one's entitlement from the list, of which no entry says so.
func (q *holdings) ranking(products []heldProduct) *ranking {
	if q.f.User.Present || slices.ContainsFunc(products, isLeaving) {
		return nil
	}
	on := follow{rows: entitlements.entries, ends: []string{"collection_product", "tier_product"}}
	if q.f.Statuses != nil {
		on.ends = append(on.ends, "block")
	}
	if q.f.Statuses != nil || q.f.ByCompletion {
		on.of = map[string]string{"progress": "SELECT e.entitlement_id FROM progress d JOIN entitlements e " +
			"ON e.school_id = d.school_id AND e.user_id = d.user_id WHERE d.school_id = $1 AND d.progress_id"}
	}
	at := func(w *where, at int64) *holdings {
		f := q.f
		f.At = ofMicros(at)
		return &holdings{w: w, f: f, dialect: q.dialect}
	}
	r := &ranking{
		table: entitlements.name, alias: "e", id: entitlements.key.name, keys: []string{"starts_at", "entitlement_id"},
		down: q.dir != "", follow: on,
		narrow: func(w *where, moment int64) {
			q := at(w, moment)
			q.narrow()
			w.conds = append(w.conds, q.toAny(products))
		},
	}
	if q.f.ByCompletion {
		r.keys = q.completionKeys()
	}
	if q.f.Statuses != nil {
		r.at, r.expires = micros(q.f.At), "ends_at"
		r.lasting = func(w *where) { w.conds = append(w.conds, at(w, 0).toAny(products)) }
	}
	return r
}

// completionKeys returns keys that put those who have not completed the course last in both
// directions. So the lists of the two directions are not the same list.
func (q *holdings) completionKeys() []string {
	done, not := doneAt(ofRow, strconv.Itoa(int(q.f.Product.ID))), "9223372036854775807"
	if q.dir != "" {
		not = "-" + not
	}
	return []string{
		"COALESCE(" + done + ", " + not + ")",
		"CASE WHEN " + done + " IS NULL THEN 0 ELSE " + ofRow + ".user_id END",
		"CASE WHEN " + done + " IS NULL THEN " + ofRow + ".starts_at ELSE 0 END",
		entitlements.key.name,
	}
}

// doneAt is an expression for when the user of an entitlement completed a course, or NULL.
func doneAt(of, course string) string {
	return "(SELECT d.completed_at FROM progress d WHERE d.school_id = " + of + ".school_id AND d.user_id = " + of +
		".user_id AND d.course_id = " + course + ")"
}

// holdings builds the queries for the holdings of a product. Arguments are in the order in
// which the texts use them, and none is left unused: the total has those of the filter and its
// own.
type holdings struct {
	w       *where
	f       lyceum.HoldingFilter
	dialect *dialect
	filter  string // conditions of the filter
	found   string // the source of the page's rows, if they are known
	page    lyceum.Page
	dir     string
}

func newHoldings(v *view, f lyceum.HoldingFilter, p lyceum.Page) *holdings {
	q := &holdings{w: &where{args: []any{int64(v.school)}}, f: f, page: p, dialect: v.q.pool.dialect}
	if f.Order == lyceum.NewestFirst {
		q.dir = " DESC"
	}
	q.w.and("e.school_id = $1")
	q.narrow()
	q.filter = strings.Join(q.w.conds, " AND ")
	return q
}

func (q *holdings) narrow() {
	is(q.w, "e.user_id", q.f.User)
	q.w.within("e.starts_at", q.f.Enrolled)
	if q.f.Statuses != nil {
		q.narrowStatuses()
	}
}

func (q *holdings) narrowStatuses() {
	conds := make([]string, len(q.f.Statuses))
	for i, status := range q.f.Statuses {
		conds[i] = "(" + q.has(status) + ")"
	}
	q.w.and("(" + strings.Join(conds, " OR ") + ")")
}

// has is the condition for a status; see lyceum.Holding.StatusAt.
func (q *holdings) has(status lyceum.HoldingStatus) string {
	if status == lyceum.HoldingDisabled {
		return "e.ended_at IS NOT NULL OR " + q.blocked()
	}
	open := "e.ended_at IS NULL AND NOT (" + q.blocked() + ") AND "
	now := q.w.arg(micros(q.f.At))
	if status == lyceum.HoldingExpired {
		return open + "e.ends_at <= " + now
	}
	open += "(e.ends_at IS NULL OR e.ends_at > " + now + ")"
	switch course := q.f.Product.Kind == lyceum.CourseKind; {
	case course && status == lyceum.HoldingCompleted:
		return open + " AND " + q.progress("percent_complete = 100")
	case course:
		return open + " AND NOT " + q.progress("percent_complete = 100")
	}
	return open
}

func (q *holdings) id() string { return q.w.arg(int64(q.f.Product.ID)) }

// progress is the condition that the user's progress in the course meets cond.
func (q *holdings) progress(cond string) string {
	return "EXISTS (SELECT 1 FROM progress d WHERE d.school_id = e.school_id AND d.user_id = e.user_id " +
		"AND d.course_id = " + q.id() + " AND d." + cond + ")"
}

// reaches is the condition that an entitlement reaches the product in a way that meets the
// further condition more.
func (q *holdings) reaches(more string) string {
	return "EXISTS (SELECT 1 FROM reaching r WHERE r.school_id = e.school_id AND r.user_id = e.user_id " +
		"AND r.entitlement_id = e.entitlement_id AND r.product_type = '" + string(q.f.Product.Kind) +
		"' AND r.product_id = " + q.id() + more + ")"
}

// blocked is the condition that blocks outrank an entitlement in every way in which
// it reaches the product. Most users have no block at all.
func (q *holdings) blocked() string {
	return "EXISTS (SELECT 1 FROM blocks x WHERE x.school_id = e.school_id AND x.user_id = e.user_id) AND NOT " +
		q.reaches(" AND "+unblocked("r"))
}

// apart is how many products are read separately, each from its index; the others are read
// together and sorted.
const apart = 32

// parts returns a condition for each part that is read separately. What one user has is read
// in one go, as is a page whose rows are known.
func (q *holdings) parts(products []heldProduct) (parts []string) {
	if q.f.User.Present || q.found != "" {
		return []string{q.toAny(products)}
	}
	for _, p := range products[:min(apart, len(products))] {
		parts = append(parts, q.to(p.leaving, p))
	}
	others := map[bool]map[lyceum.ProductKind][]heldProduct{false: {}, true: {}}
	for _, p := range products[len(parts):] {
		others[p.leaving][p.Kind] = append(others[p.leaving][p.Kind], p)
	}
	for _, leaving := range []bool{false, true} {
		for _, kind := range lyceum.ProductKinds() {
			if of := others[leaving][kind]; len(of) > 0 {
				parts = append(parts, q.to(leaving, of...))
			}
		}
	}
	return parts
}

// to is the condition that an entitlement is to one of the given products, which are of one
// kind. If leaving is true, the product is leaving them, and the entitlement must still reach
// it.
func (q *holdings) to(leaving bool, of ...heldProduct) string {
	ids := make([]string, len(of))
	for i, p := range of {
		ids[i] = q.w.arg(int64(p.ID))
	}
	cond := "e.product_type = '" + string(of[0].Kind) + "' AND e.product_id IN (" + strings.Join(ids, ", ") + ")"
	if len(ids) == 1 {
		cond = "e.product_type = '" + string(of[0].Kind) + "' AND e.product_id = " + ids[0]
	}
	if leaving {
		cond += " AND " + q.reaches("")
	}
	return cond
}

func (q *holdings) toAny(products []heldProduct) string {
	conds := make([]string, len(products))
	for i, p := range products {
		conds[i] = "(" + q.to(p.leaving, p) + ")"
	}
	return "(" + strings.Join(conds, " OR ") + ")"
}

func (q *holdings) rows() string {
	if q.found != "" {
		return " FROM " + q.found
	}
	return " FROM entitlements e"
}

// count returns the total. That of a whole product comes from counters.
func (q *holdings) count(products []heldProduct) total {
	whole := !q.f.User.Present && q.f.Statuses == nil && q.f.Enrolled == (lyceum.Period{}) &&
		!slices.ContainsFunc(products, isLeaving)
	var parts []string
	if whole {
		for _, p := range products {
			parts = append(parts, q.w.arg(heldCounter(p.Product)))
		}
		text := "COALESCE((SELECT CAST(sum(c.value) AS BIGINT) FROM counters c WHERE c.school_id = $1 AND c.name IN (" +
			strings.Join(parts, ", ") + ")), 0)"
		return total{text: text, args: len(q.w.args), kept: true}
	}
	for _, part := range q.parts(products) {
		parts = append(parts, "(SELECT count(*)"+q.rows()+" WHERE "+q.filter+" AND "+part+")")
	}
	return total{text: "(" + strings.Join(parts, " + ") + ")", args: len(q.w.args)}
}

// shown returns the columns that are read for the rows of the page, and the join that has
// them.
func (q *holdings) shown() (columns, join string) {
	columns = ", " + entitlements.of("e") + ", CASE WHEN " + q.blocked() + " THEN 1 ELSE 0 END"
	if q.f.Product.Kind != lyceum.CourseKind {
		return columns + ", 0, NULL", ""
	}
	return columns + ", COALESCE(p.percent_complete, 0), p.completed_at", " LEFT JOIN progress p " +
		"ON p.school_id = e.school_id AND p.user_id = e.user_id AND p.course_id = " + q.id()
}

// keys returns the query for the keys of the page, and their order.
func (q *holdings) keys(products []heldProduct) (text, order string) {
	if !q.f.ByCompletion {
		return q.byBeginning(products, ""), q.begun("k")
	}
	order = " ORDER BY CASE WHEN k.done_at IS NULL THEN 1 ELSE 0 END, k.done_at" + q.dir +
		", CASE WHEN k.done_at IS NULL THEN 0 ELSE k.user_id END" + q.dir +
		", CASE WHEN k.done_at IS NULL THEN k.starts_at ELSE 0 END" + q.dir + ", k.entitlement_id" + q.dir
	if q.found != "" {
		return "SELECT " + heldKeys + ", " + doneAt("e", q.id()) + " AS done_at" + q.rows() + " WHERE " + q.filter +
			" AND " + q.toAny(products), order
	}
	completed := "SELECT " + heldKeys + ", p.completed_at AS done_at FROM progress p" +
		q.dialect.indexed("progress_completed") + " CROSS JOIN entitlements e" + q.dialect.indexed("entitlements_user") +
		" WHERE p.school_id = $1 AND p.course_id = " + q.id() + " AND p.completed_at IS NOT NULL AND " +
		"e.user_id = p.user_id AND " + q.filter + " AND " + q.toAny(products) + " ORDER BY p.completed_at" + q.dir +
		", p.user_id" + q.dir + ", e.entitlement_id" + q.dir + " LIMIT " + q.most()
	others := q.byBeginning(products, " AND NOT "+q.progress("completed_at IS NOT NULL"))
	return "SELECT * FROM (" + completed + ") c UNION ALL SELECT b.*, NULL FROM (" + others + ") b", order
}

// heldKeys are the columns of an entitlement that are read from an index.
const heldKeys = "e.entitlement_id, e.starts_at, e.user_id"

// begun is the order of entitlements by when they began.
func (q *holdings) begun(of string) string {
	return " ORDER BY " + of + ".starts_at" + q.dir + ", " + of + ".entitlement_id" + q.dir
}

// most is the number of rows up to the end of the page.
func (q *holdings) most() string { return q.w.arg(q.page.Offset() + int64(q.page.Size)) }

// byBeginning finds the entitlements of each part. If there are several parts, it finds only
// the first ones of each, in the order in which they began.
func (q *holdings) byBeginning(products []heldProduct, more string) string {
	parts := q.parts(products)
	for i, part := range parts {
		text := "SELECT " + heldKeys + q.rows() + " WHERE " + q.filter + " AND " + part + more
		if len(parts) == 1 && !q.f.ByCompletion {
			return text
		}
		parts[i] = "SELECT * FROM (" + text + q.begun("e") + " LIMIT " + q.most() + ") a" + strconv.Itoa(i)
	}
	return strings.Join(parts, " UNION ALL ")
}
