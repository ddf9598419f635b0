package sqlstore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var entitlements = define(&tables.Entitlements, entitlementNoun("entitlements", "entitlement"))

// tables.Access is the view reaching, which has an entitlement once for each product that it
// reaches. Rows that a block outranks are left out, unless the filter asks for them.
var _ = define(&tables.Access, entitlementNoun("reaching", ""))

func entitlementNoun(
	name, entries string,
) noun[lyceum.EntitlementID, lyceum.Entitlement, lyceum.EntitlementFilter] {
	type row = lyceum.Entitlement
	key := idKey("entitlement_id", func(e *row) *lyceum.EntitlementID { return &e.ID })
	key.numbered = entries != "" // the view has an id several times
	held := table[row]{name: name}
	if key.numbered {
		held.changed = countEntitlements
	}
	return noun[lyceum.EntitlementID, row, lyceum.EntitlementFilter]{
		table:   held,
		entries: entries,
		key:     key,
		rest: []column[row]{
			intColumn("user_id", func(e *row) *lyceum.UserID { return &e.User }),
			textColumn("product_type", func(e *row) *lyceum.ProductKind { return &e.Product.Kind }),
			intColumn("product_id", func(e *row) *int32 { return &e.Product.ID }),
			optIntColumn("sale_id", func(e *row) *lyceum.Opt[lyceum.SaleID] { return &e.Sale }),
			boolColumn("imported", func(e *row) *bool { return &e.Imported }),
			optIntColumn("kept_from", func(e *row) *lyceum.Opt[lyceum.EntitlementID] { return &e.KeptFrom }),
			timeColumn("starts_at", func(e *row) *time.Time { return &e.StartsAt }),
			optTimeColumn("ends_at", func(e *row) *lyceum.Opt[time.Time] { return &e.EndsAt }),
			optTimeColumn("ended_at", func(e *row) *lyceum.Opt[time.Time] { return &e.EndedAt }),
			optTextColumn("end_reason", func(e *row) *lyceum.Opt[lyceum.EntitlementEnd] { return &e.EndReason }),
		},
		largest: 1 << 10,
		narrow: func(w *where, f lyceum.EntitlementFilter) {
			is(w, "user_id", f.User)
			among(w, "user_id", f.Users)
			anyProduct(w, f.Products)
			is(w, "sale_id", f.Sale)
			if f.Open || f.OpenAt.Present {
				w.absent("ended_at")
			}
			if f.OpenAt.Present {
				w.lasts("ends_at", f.OpenAt.Value)
			}
			if f.After.Present {
				w.above("entitlement_id", int64(f.After.Value))
				if f.Products != nil && !slices.ContainsFunc(f.Products, isCourse) {
					w.and("product_type <> 'course'") // an index has these in order of their ids
					w.evaluable++                     // anyProduct tests it
				}
			}
			if !key.numbered && !f.Blocked {
				w.and(unblocked("reaching"))
				w.evaluable++ // reachingThrough tests it
			}
		},
		through: func(v *view, f lyceum.EntitlementFilter) *through {
			if key.numbered {
				return nil
			}
			return reachingThrough(v, f)
		},
		count: func(f lyceum.EntitlementFilter, w *where) total {
			if f.After.Present { // a caller that resumes after an id does not need the total
				return total{text: "0"}
			}
			return counted(" FROM "+name, w)
		},
		order: func(f lyceum.EntitlementFilter) string {
			if f.Users != nil {
				return "user_id, entitlement_id"
			}
			return "entitlement_id"
		},
	}
}

// reachingThrough describes how an entitlement reaches its product and what comes with it. An
// entitlement that was kept from another one replaces it, even if it has ended. ok is false for
// a product that holds others if the user has a block.
func reachingThrough(v *view, f lyceum.EntitlementFilter) *through {
	product := func(w *edit) lyceum.Product {
		kind, id := w.value("product_type").(string), w.value("product_id").(int64)
		return lyceum.Product{Kind: lyceum.ProductKind(kind), ID: int32(id)}
	}
	return &through{
		fills: []string{"product_type", "product_id"},
		hides: func(w *edit) bool { return w.gone || w.update == "" && w.value("kept_from") != nil },
		shown: func(w *edit) (rows [][]any, ok bool, err error) {
			p := product(w)
			if !p.Holds() {
				return [][]any{w.values}, true, nil
			}
			all, ok, err := comingWith(v, p, w.values[0].(int64))
			for _, p := range append(all, p) {
				row := slices.Clone(w.values)
				row[slices.Index(w.columns, "product_type")] = string(p.Kind)
				row[slices.Index(w.columns, "product_id")] = int64(p.ID)
				rows = append(rows, row)
			}
			return rows, ok, err
		},
		hidden: func(w *edit) (hidden, ok bool, err error) {
			if f.Blocked {
				return false, true, nil
			}
			user, p := lyceum.Some(lyceum.UserID(w.value("user_id").(int64))), product(w)
			if p.Holds() {
				_, some, err := blocks.First(seen(v), lyceum.BlockFilter{User: user})
				return false, !some, err
			}
			some, err := blocks.some(v, lyceum.BlockFilter{User: user, Product: lyceum.Some(p)}, 1)
			return len(some) > 0, true, err
		},
	}
}

// comingWith lists what comes with a collection or a tier. ok is false if the entitlement is
// no newer than the removal of a product from the collection.
func comingWith(v *view, p lyceum.Product, entitlement int64) (all []lyceum.Product, ok bool, err error) {
	ok = true
	named := p
	if p.Kind == lyceum.TierKind {
		in := lyceum.InclusionFilter[lyceum.MembershipTierID]{
			In: lyceum.Some(lyceum.MembershipTierID(p.ID)), Leaving: true, // the same query as the rules use
		}
		err = tierProducts.Each(seen(v), in, func(i *lyceum.TierProduct) error {
			if !i.Leaving.Present {
				all = append(all, i.Product)
			}
			return nil
		})
	}
	for _, p := range append(slices.Clone(all), p) {
		if err != nil || p.Kind != lyceum.CollectionKind {
			continue
		}
		in := lyceum.InclusionFilter[lyceum.ProductCollectionID]{
			In: lyceum.Some(lyceum.ProductCollectionID(p.ID)), Leaving: true,
		}
		err = collectionProducts.Each(seen(v), in, func(i *lyceum.CollectionProduct) error {
			if !i.Leaving.Present {
				all = append(all, i.Product)
			}
			ok = ok && (p != named || entitlement > int64(i.Leaving.Value))
			return nil
		})
	}
	return all, ok, err
}

// unblocked is the condition that no block outranks a row of the view reaching: neither one on
// its product nor one on the collection that the product comes with.
func unblocked(row string) string {
	return "NOT EXISTS (SELECT 1 FROM blocks b WHERE b.school_id = " + row + ".school_id AND b.user_id = " + row +
		".user_id AND (b.product_type = " + row + ".product_type AND b.product_id = " + row + ".product_id " +
		"OR b.product_type = 'product_collection' AND b.product_id = " + row + ".collection_id))"
}

var blocks = define(&tables.Blocks, noun[lyceum.BlockID, lyceum.Block, lyceum.BlockFilter]{
	table:   table[lyceum.Block]{name: "blocks"},
	entries: "block",
	key:     idKey("block_id", func(b *lyceum.Block) *lyceum.BlockID { return &b.ID }),
	rest: []column[lyceum.Block]{
		intColumn("user_id", func(b *lyceum.Block) *lyceum.UserID { return &b.User }),
		textColumn("product_type", func(b *lyceum.Block) *lyceum.ProductKind { return &b.Product.Kind }),
		intColumn("product_id", func(b *lyceum.Block) *int32 { return &b.Product.ID }),
		timeColumn("created_at", func(b *lyceum.Block) *time.Time { return &b.CreatedAt }),
	},
	largest: 1 << 10,
	narrow: func(w *where, f lyceum.BlockFilter) {
		is(w, "user_id", f.User)
		among(w, "user_id", f.Users)
		if f.Product.Present {
			anyProduct(w, []lyceum.Product{f.Product.Value})
		}
	},
})

func isCourse(p lyceum.Product) bool { return p.Kind == lyceum.CourseKind }

// anyProduct narrows rows to those of any of the products, unless there are none.
func anyProduct(w *where, products []lyceum.Product) {
	if len(products) == 0 {
		return
	}
	var parts []string
	var args []any
	for _, p := range products {
		parts = append(parts, "(product_type = ? AND product_id = ?)")
		args = append(args, string(p.Kind), int64(p.ID))
	}
	among := func(of []any) bool {
		for i := 0; i < len(args); i += 2 {
			if of[0] == args[i] && of[1] == args[i+1] {
				return true
			}
		}
		return false
	}
	w.test(test{[]string{"product_type", "product_id"}, among}, "("+strings.Join(parts, " OR ")+")", args...)
}

func (t *tx) FindExpired(
	in lyceum.Period, without lyceum.EntitlementID, limit int,
) ([]lyceum.Entitlement, error) {
	w := &where{}
	w.and("school_id = ?", int64(t.stamp.School))
	w.absent("ended_at")
	w.and("ends_at IS NOT NULL")
	w.within("ends_at", in)
	if without > 0 {
		w.and("(ends_at, entitlement_id) > (?, ?)", micros(in.After)+1, int64(without))
	}
	return rows(t.q, &entitlements.table, w.String()+" ORDER BY ends_at, entitlement_id LIMIT "+w.arg(int64(limit)),
		w.args...)
}

func (t *tx) FindPaidSales(users []lyceum.UserID) ([]lyceum.PaidSale, error) {
	var found []lyceum.PaidSale
	var row lyceum.PaidSale
	err := inChunks(t.q, `SELECT DISTINCT t.user_id, t.sale_id,
		CASE WHEN p.course_id IS NULL THEN p.product_type ELSE 'course' END, COALESCE(p.course_id, p.product_id)
		FROM transactions t
		JOIN pricing_plans p ON p.school_id = t.school_id AND p.pricing_plan_id = t.pricing_plan_id
		WHERE t.school_id = $1 AND t.paid = 1 AND NOT (t.amount_refunded > 0 AND t.amount_refunded >= t.final_price)
		AND COALESCE(t.has_chargeback, 0) <> 1 AND COALESCE(p.course_id, p.product_id) IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM sales s WHERE s.school_id = t.school_id AND s.sale_id = t.sale_id
			AND s.end_reason IN ('changed', 'voided', 'refunded', 'charged_back', 'lapsed')) AND t.user_id`+byYear+` IN `,
		t.school, int32Args(users),
		[]any{scanInt(&row.User), scanInt(&row.Sale), scanText(&row.Product.Kind), scanInt(&row.Product.ID)},
		func() { found = append(found, row) })
	if err != nil {
		return nil, fmt.Errorf("find paid sales: %w", err)
	}
	slices.SortFunc(found, func(a, b lyceum.PaidSale) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Sale, b.Sale))
	})
	return found, nil
}
