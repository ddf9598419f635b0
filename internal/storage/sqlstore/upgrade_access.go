package sqlstore

import (
	"slices"

	"github.com/lyceum-school/lyceum"
)

// The schema versions that introduced what an upgrade counts.
const (
	enrollmentsVersion  = 3
	entitlementsVersion = 16
)

// remember saves the open enrollments and the refunded amounts in temporary tables, to compare
// them with those after the upgrade, and subtracts the existing entitlements and blocks from the
// counts of new ones.
func (u *upgrade) remember() error {
	for _, text := range []string{
		"CREATE TEMPORARY TABLE upgrade_open (school_id INTEGER, user_id INTEGER, course_id INTEGER, expires_at BIGINT)",
		"CREATE UNIQUE INDEX upgrade_open_key ON upgrade_open (school_id, user_id, course_id)",
		"CREATE TEMPORARY TABLE upgrade_refunds (school_id INTEGER, transaction_id INTEGER, amount BIGINT)",
		"CREATE UNIQUE INDEX upgrade_refunds_key ON upgrade_refunds (school_id, transaction_id)",
	} {
		if _, err := u.tx.ExecContext(u.ctx, text); err != nil {
			return err
		}
	}
	if err := u.findSchools(); err != nil {
		return err
	}
	if u.from >= entitlementsVersion {
		if err := u.countMade(-1); err != nil {
			return err
		}
	}
	_, err := u.tx.ExecContext(u.ctx, `INSERT INTO upgrade_refunds (school_id, transaction_id, amount)
		SELECT school_id, transaction_id, amount_refunded FROM transactions WHERE amount_refunded <> 0`)
	if err != nil || u.from < enrollmentsVersion {
		return err
	}
	_, err = u.tx.ExecContext(u.ctx, `INSERT INTO upgrade_open (school_id, user_id, course_id, expires_at)
		SELECT school_id, user_id, course_id, expires_at FROM enrollments WHERE ended_at IS NULL`)
	return err
}

func (u *upgrade) findSchools() error {
	rows, err := u.tx.QueryContext(u.ctx, "SELECT school_id, name FROM schools ORDER BY school_id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s UpgradedSchool
		if err := rows.Scan(&s.ID, &s.Name); err != nil {
			return err
		}
		u.result.Schools = append(u.result.Schools, s)
	}
	return rows.Err()
}

// openNow is the condition that an enrollment has not expired; $1 is the time.
const openNow = "(expires_at IS NULL OR expires_at > $1)"

// compare counts the open enrollments of each school before and after, and finds the differences.
func (u *upgrade) compare() error {
	now := micros(u.o.Now)
	const count = "SELECT school_id, count(*), count(DISTINCT user_id) FROM "
	err := u.count(count+"upgrade_open WHERE "+openNow+" GROUP BY school_id", func(s *UpgradedSchool, n, users int64) {
		s.Before, s.Learners = n, users
	}, now)
	if err != nil {
		return err
	}
	err = u.count(count+"enrollments WHERE ended_at IS NULL AND "+openNow+" GROUP BY school_id",
		func(s *UpgradedSchool, n, _ int64) { s.After = n }, now)
	if err != nil {
		return err
	}
	err = u.count(`WITH reached AS (
			SELECT school_id, user_id, product_id, max(CASE WHEN sale_id IS NULL THEN 0 ELSE 1 END) AS sold,
				max(imported) AS imported
			FROM reaching WHERE product_type = 'course' AND ended_at IS NULL GROUP BY school_id, user_id, product_id)
		SELECT e.school_id, count(CASE WHEN r.sold = 1 THEN 1 END),
			count(CASE WHEN r.sold = 0 AND r.imported = 1 THEN 1 END)
		FROM enrollments e JOIN reached r ON r.school_id = e.school_id AND r.user_id = e.user_id
			AND r.product_id = e.course_id
		WHERE e.ended_at IS NULL AND `+openNow+` GROUP BY e.school_id`,
		func(s *UpgradedSchool, sold, imported int64) { s.Sold, s.Imported = sold, imported }, now)
	if err != nil {
		return err
	}
	if err := u.countMade(1); err != nil {
		return err
	}
	if err := u.findRefunded(); err != nil {
		return err
	}
	return u.findDiffering()
}

// findRefunded finds the transactions whose refunded amount differs.
func (u *upgrade) findRefunded() error {
	rows, err := u.tx.QueryContext(u.ctx, `WITH changed AS (
		SELECT t.school_id, t.transaction_id, t.currency, COALESCE(b.amount, 0) AS before, t.amount_refunded AS after
		FROM transactions t LEFT JOIN upgrade_refunds b
			ON b.school_id = t.school_id AND b.transaction_id = t.transaction_id
		WHERE t.amount_refunded <> COALESCE(b.amount, 0))
	SELECT school_id, transaction_id, currency, before, after, count(*) OVER () FROM changed ORDER BY 1, 2 LIMIT 100`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r Refunded
		if err := rows.Scan(&r.School, &r.Transaction, &r.Currency, &r.Before, &r.After, &u.result.Refunds); err != nil {
			return err
		}
		u.result.Refunded = append(u.result.Refunded, r)
	}
	return rows.Err()
}

// countMade adds the number of entitlements and blocks, multiplied by times, to each school's
// counts.
func (u *upgrade) countMade(times int64) error {
	return u.count(`SELECT school_id, sum(CASE WHEN kind = 1 THEN 1 ELSE 0 END), sum(CASE WHEN kind = 2 THEN 1 ELSE 0 END)
		FROM (SELECT school_id, 1 AS kind FROM entitlements UNION ALL SELECT school_id, 2 FROM blocks) made
		GROUP BY school_id`, func(s *UpgradedSchool, entitlements, blocks int64) {
		s.Entitlements += times * entitlements
		s.Blocks += times * blocks
	})
}

// count runs a query that returns two numbers for each school, and calls set with them.
func (u *upgrade) count(text string, set func(s *UpgradedSchool, a, b int64), args ...any) error {
	rows, err := u.tx.QueryContext(u.ctx, u.dialect.rebind(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var school lyceum.SchoolID
		var a, b int64
		if err := rows.Scan(&school, &a, &b); err != nil {
			return err
		}
		i := slices.IndexFunc(u.result.Schools, func(s UpgradedSchool) bool { return s.ID == school })
		if i >= 0 {
			set(&u.result.Schools[i], a, b)
		}
	}
	return rows.Err()
}

// findDiffering finds enrollments that were opened or closed or whose end has changed, and those
// that stay open longer than the entitlements behind them. The latter are ignored in a school
// where a product was added or removed and enrollments have yet to follow.
func (u *upgrade) findDiffering() error {
	const never = "9223372036854775807"
	rows, err := u.tx.QueryContext(u.ctx, `WITH reached AS (
		SELECT school_id, user_id, product_id, max(COALESCE(ends_at, `+never+`)) AS until
		FROM reaching WHERE product_type = 'course' AND ended_at IS NULL GROUP BY school_id, user_id, product_id),
	unsettled AS (
		SELECT school_id FROM collection_products WHERE settled IS NOT NULL
		UNION SELECT school_id FROM tier_products WHERE settled IS NOT NULL),
	differing AS (
		SELECT b.school_id, b.user_id, b.course_id FROM upgrade_open b LEFT JOIN enrollments e
			ON e.school_id = b.school_id AND e.user_id = b.user_id AND e.course_id = b.course_id AND e.ended_at IS NULL
		WHERE e.enrollment_id IS NULL OR COALESCE(e.expires_at, `+never+`) <> COALESCE(b.expires_at, `+never+`)
		UNION
		SELECT e.school_id, e.user_id, e.course_id FROM enrollments e LEFT JOIN upgrade_open b
			ON b.school_id = e.school_id AND b.user_id = e.user_id AND b.course_id = e.course_id
		WHERE e.ended_at IS NULL AND b.school_id IS NULL
		UNION
		SELECT b.school_id, b.user_id, b.course_id FROM upgrade_open b LEFT JOIN reached r
			ON r.school_id = b.school_id AND r.user_id = b.user_id AND r.product_id = b.course_id
		WHERE (r.until IS NULL OR r.until < COALESCE(b.expires_at, `+never+`))
		AND b.school_id NOT IN (SELECT school_id FROM unsettled))
	SELECT d.school_id, d.user_id, d.course_id, COALESCE(u.email, ''), COALESCE(c.name, ''), count(*) OVER ()
	FROM differing d LEFT JOIN users u ON u.school_id = d.school_id AND u.user_id = d.user_id
	LEFT JOIN courses c ON c.school_id = d.school_id AND c.course_id = d.course_id
	ORDER BY 1, 2, 3 LIMIT 100`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var d Differing
		if err := rows.Scan(&d.School, &d.User, &d.Course, &d.Email, &d.Name, &u.result.Differ); err != nil {
			return err
		}
		u.result.Differing = append(u.result.Differing, d)
	}
	return rows.Err()
}
