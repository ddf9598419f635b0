package sqlstore

import "github.com/lyceum-school/lyceum"

// anyProducts is the FROM clause for the products of all kinds.
const anyProducts = ` FROM (
	SELECT 'course' AS product_type, course_id AS product_id, name, heading AS description, image_url, is_published,
		is_listed, author_id, created_at, updated_at FROM courses WHERE school_id = $1
	UNION ALL SELECT 'digital_download', digital_download_id, name, description, image_url, is_published,
		is_listed, author_id, created_at, updated_at FROM digital_downloads WHERE school_id = $1 AND archived_at IS NULL
	UNION ALL SELECT 'product_collection', product_collection_id, name, description, image_url, is_published,
		is_listed, NULL, created_at, updated_at FROM product_collections WHERE school_id = $1 AND archived_at IS NULL
	UNION ALL SELECT 'membership_tier', t.membership_tier_id, t.name, t.description, m.image_url,
		t.is_published * m.is_published, 1, NULL, t.created_at, t.updated_at
		FROM membership_tiers t JOIN memberships m ON m.school_id = t.school_id AND m.membership_id = t.membership_id
		WHERE t.school_id = $1 AND t.archived_at IS NULL AND m.archived_at IS NULL
	UNION ALL SELECT 'coaching', coaching_id, name, description, image_url, is_published,
		is_listed, author_id, created_at, updated_at FROM coaching WHERE school_id = $1 AND archived_at IS NULL) p`

func (v *view) ListProducts(
	f lyceum.AnyProductFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.AnyProduct], error) {
	w := &where{args: []any{int64(v.school)}}
	w.part(f.Name, "p.name")
	w.part(f.Search, "p.name", "p.description")
	w.truth("p.is_published", f.IsPublished)
	is(w, "p.author_id", f.AuthorID)
	w.within("p.created_at", f.Created)
	if len(w.conds) == 0 {
		w.and("1 = 1")
	}
	by, direction := "p.created_at", ""
	if f.Order.By == lyceum.CourseByUpdated {
		by = "p.updated_at"
	}
	if f.Order.Descending {
		direction = " DESC"
	}
	order := " ORDER BY " + by + direction + ", p.product_type" + direction + ", p.product_id" + direction
	n := counted(anyProducts, w)
	found, total, err := pageBy(v, func(limit string) string {
		// No join and no window function, so that the union is merged from its indexes.
		return "SELECT " + n.text + `, p.product_type, p.product_id, p.name, p.description, p.image_url, p.is_published,
			p.is_listed, p.author_id, (SELECT a.name FROM authors a WHERE a.school_id = $1 AND a.author_id = p.author_id),
			p.created_at, p.updated_at` + anyProducts + w.String() + order + limit
	}, w, n, p, func(row *lyceum.AnyProduct) []any {
		return []any{
			scanText(&row.Product.Kind), scanInt(&row.Product.ID), scanText(&row.Name), scanOptText(&row.Description),
			scanOptText(&row.ImageURL), scanBool(&row.IsPublished), scanBool(&row.IsListed), scanOptInt(&row.AuthorID),
			scanOptText(&row.AuthorName), scanTime(&row.CreatedAt), scanTime(&row.UpdatedAt),
		}
	})
	return lyceum.Listing[lyceum.AnyProduct]{Page: p, Total: total, Rows: found}, err
}
