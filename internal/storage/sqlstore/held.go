package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// heldColumns are the columns of a lyceum.Held. The row h identifies the product; heldTables
// joins the others.
const heldColumns = `h.product_type, h.product_id, COALESCE(c.name, d.name, b.name, t.name, k.name, ''),
	COALESCE(c.heading, d.description, b.description, t.description, k.description),
	COALESCE(c.image_url, d.image_url, b.image_url, m.image_url, k.image_url),
	h.since, h.ends, h.sale_id, m.membership_id, m.name, m.description, ` + heldPublished + `,
	COALESCE(c.archived_at, d.archived_at, b.archived_at, t.archived_at, m.archived_at, k.archived_at)`

const heldTables = `
	LEFT JOIN courses c ON h.product_type = 'course' AND c.school_id = $1 AND c.course_id = h.product_id
	LEFT JOIN digital_downloads d ON h.product_type = 'digital_download' AND d.school_id = $1
		AND d.digital_download_id = h.product_id
	LEFT JOIN product_collections b ON h.product_type = 'product_collection' AND b.school_id = $1
		AND b.product_collection_id = h.product_id
	LEFT JOIN membership_tiers t ON h.product_type = 'membership_tier' AND t.school_id = $1
		AND t.membership_tier_id = h.product_id
	LEFT JOIN memberships m ON m.school_id = $1 AND m.membership_id = t.membership_id
	LEFT JOIN coaching k ON h.product_type = 'coaching' AND k.school_id = $1 AND k.coaching_id = h.product_id`

// heldPublished is 1 for products that learners see.
const heldPublished = "COALESCE(c.is_published, d.is_published, b.is_published, t.is_published * m.is_published, " +
	"k.is_published, 0)"

func scanHeld(h *lyceum.Held) []any {
	m := &h.Membership.Value
	return []any{
		scanText(&h.Product.Kind), scanInt(&h.Product.ID), scanText(&h.Name), scanOptText(&h.Description),
		scanOptText(&h.ImageURL), scanFunc(func(src any) error {
			if h.Visible = src != nil; !h.Visible {
				h.Since = time.Time{}
				return nil
			}
			return scanTime(&h.Since).Scan(src)
		}),
		scanOptTime(&h.Until), scanOptInt(&h.Sale),
		scanFunc(func(src any) error {
			if h.Membership = (lyceum.Opt[lyceum.HeldMembership]{Present: src != nil}); src == nil {
				return nil
			}
			return scanInt(&m.ID).Scan(src)
		}),
		scanFunc(func(src any) error {
			if src == nil {
				return nil
			}
			return scanText(&m.Name).Scan(src)
		}),
		scanOptText(&m.Description), scanBool(&h.IsPublished), scanOptTime(&h.ArchivedAt),
	}
}

// heldBy narrows to the products that a user has access to at a moment.
func heldBy(w *where, user lyceum.UserID, at time.Time) {
	w.and("r.school_id = $1")
	is(w, "r.user_id", lyceum.Some(user))
	w.and("r.ended_at IS NULL")
	w.and("(r.ends_at IS NULL OR r.ends_at > ?)", micros(at))
	w.and(unblocked("r"))
}

const (
	heldBegin = `SELECT r.product_type, r.product_id, min(r.starts_at) AS since,
		CASE WHEN count(*) = count(r.ends_at) THEN max(r.ends_at) END AS ends, max(r.sale_id) AS sale_id
		FROM reaching r`
	heldEnd = " GROUP BY r.product_type, r.product_id"
)

func (v *view) FindHeld(f lyceum.HeldFilter, p lyceum.Page) (lyceum.Listing[lyceum.Held], error) {
	w := &where{args: []any{int64(v.school)}}
	heldBy(w, f.User, f.At)
	if f.Kind.Present {
		w.and("r.product_type = ?", string(f.Kind.Value))
	}
	is(w, "r.product_id", f.ID)
	if of := f.In.Value; f.In.Present {
		table, column := "collection_products", "product_collection_id"
		if of.Kind == lyceum.TierKind {
			table, column = "tier_products", "membership_tier_id"
		}
		w.and("EXISTS (SELECT 1 FROM "+table+" i WHERE i.school_id = $1 AND i."+column+" = ? "+
			"AND i.product_type = r.product_type AND i.product_id = r.product_id AND i.leaving IS NULL)", int64(of.ID))
	}
	held := "WITH held AS (" + heldBegin + w.String() + heldEnd + ") "
	shown := &where{args: w.args}
	shown.and(heldPublished + " = 1")
	is(shown, "t.membership_id", f.Membership)
	if f.Newest {
		shown.and(`NOT EXISTS (SELECT 1 FROM held o JOIN membership_tiers u ON u.school_id = $1
			AND u.membership_tier_id = o.product_id WHERE o.product_type = 'membership_tier'
			AND u.membership_id = t.membership_id AND u.is_published = 1
			AND (o.since > h.since OR o.since = h.since AND o.product_id > h.product_id))`)
	}
	from := " FROM held h" + heldTables + shown.String()
	listing := lyceum.Listing[lyceum.Held]{Page: p}
	var err error
	listing.Rows, listing.Total, err = pageBy(v, func(limit string) string {
		return held + "SELECT count(*) OVER (), " + heldColumns + from +
			" ORDER BY h.since DESC, h.product_type, h.product_id" + limit
	}, shown, total{text: "(" + held + "SELECT count(*)" + from + ")", args: len(shown.args)}, p,
		scanHeld)
	if err != nil {
		return listing, fmt.Errorf("find held products: %w", err)
	}
	listing.More = p.Offset()+int64(len(listing.Rows)) < listing.Total
	return listing, nil
}

// maxNamed is how many products one statement looks up.
const maxNamed = 128

func (v *view) FindNamed(
	user lyceum.UserID, at time.Time, products []lyceum.Product,
) (map[lyceum.Product]lyceum.Held, error) {
	found := map[lyceum.Product]lyceum.Held{}
	for part := range slices.Chunk(products, maxNamed) {
		if err := v.findNamed(user, at, slices.Clone(part), found); err != nil {
			return nil, v.public(fmt.Errorf("find named products: %w", err))
		}
	}
	return found, nil
}

func (v *view) findNamed(
	user lyceum.UserID, at time.Time, products []lyceum.Product, found map[lyceum.Product]lyceum.Held,
) error {
	for n := len(products); n&(n-1) != 0; n++ { // a power of two, so that few statements serve all lengths
		products = append(products, products[0])
	}
	w := &where{args: []any{int64(v.school)}}
	heldBy(w, user, at)
	anyProduct(w, products)
	var named []string
	for _, p := range products {
		named = append(named, "(CAST("+w.arg(string(p.Kind))+" AS TEXT), CAST("+w.arg(int64(p.ID))+" AS BIGINT))")
	}
	text := "WITH held AS (" + heldBegin + w.String() + heldEnd + "), named (product_type, product_id) AS (VALUES " +
		strings.Join(named, ", ") + "), h AS (SELECT DISTINCT n.product_type, n.product_id, g.since, g.ends, g.sale_id " +
		"FROM named n LEFT JOIN held g ON g.product_type = n.product_type AND g.product_id = n.product_id) SELECT " +
		heldColumns + " FROM h" + heldTables +
		" WHERE COALESCE(c.course_id, d.digital_download_id, b.product_collection_id, t.membership_tier_id, " +
		"k.coaching_id) IS NOT NULL"
	var row lyceum.Held
	return v.q.each(text, w.args, scanHeld(&row), func() error {
		row.Visible = row.Visible && row.IsPublished
		found[row.Product] = row
		return nil
	})
}
