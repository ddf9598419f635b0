package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/lyceum-school/lyceum"
)

func (s *Store) Check(ctx context.Context) ([]lyceum.Finding, error) {
	var damaged []string
	err := s.reads.last(ctx, func(conn *sql.Conn) (err error) {
		damaged, err = s.dialect.integrity(ctx, conn)
		return err
	})
	if err != nil {
		return nil, s.public(fmt.Errorf("check the database's files: %w", err))
	}
	var findings []lyceum.Finding
	for _, line := range damaged {
		findings = append(findings, lyceum.Finding{What: "the database file is damaged: " + line})
	}
	schools, err := s.FindSchools(ctx)
	if err != nil {
		return nil, err
	}
	for _, school := range schools {
		err := s.reads.survey(ctx, func(q *session) error {
			found, err := checkSchool(q, school.ID)
			findings = append(findings, found...)
			return err
		})
		if err != nil {
			return nil, s.public(fmt.Errorf("check school %d: %w", school.ID, err))
		}
	}
	return findings, nil
}

// invariant is a query whose result must be 0; $1 is the school.
type invariant struct{ text, broken string }

// inRuns counts the entries of a school that are in runs.
const inRuns = "SELECT COALESCE(CAST(sum(last - number + 1) AS BIGINT), 0) FROM journal_runs WHERE school_id = $1"

// skipped is how many numbers of a school's journal were skipped.
const skipped = "SELECT COALESCE(max(value), 0) FROM counters WHERE school_id = $1 AND name = '" + skippedCounter + "'"

// invariants returns the invariants of a school. %d in broken is the result.
func invariants() []invariant {
	list := []invariant{
		{
			`SELECT (SELECT count(*) FROM transactions WHERE school_id = $1)
			- COALESCE((SELECT value FROM counters WHERE school_id = $1 AND name = 'transactions'), 0)`,
			"there are %d transactions more than the counter says",
		},
		{
			`SELECT (SELECT count(*) FROM transactions WHERE school_id = $1)
			- (SELECT count(*) FROM journal WHERE school_id = $1 AND type = 'transaction.created')
			- (` + inRuns + ` AND type = 'transaction.created')`,
			"there are %d transactions more than the journal has seen created",
		},
		{
			`SELECT (SELECT count(*) FROM journal WHERE school_id = $1) + (` + inRuns + `) + (` + skipped + `)
			- COALESCE((SELECT value FROM counters WHERE school_id = $1 AND name = 'journal'), 0)`,
			"the journal has %d entries more than its last number",
		},
		{
			`SELECT COALESCE((SELECT max(number) FROM (SELECT number FROM journal WHERE school_id = $1
			UNION ALL SELECT last FROM journal_runs WHERE school_id = $1) n), 0)
			- (SELECT count(*) FROM journal WHERE school_id = $1) - (` + inRuns + `) - (` + skipped + `)`,
			"the journal has %d numbers missing",
		},
		{
			`SELECT count(*) FROM transactions t JOIN sales s ON s.school_id = t.school_id AND s.sale_id = t.sale_id
			WHERE t.school_id = $1 AND t.created_at < s.created_at`,
			"%d transactions are older than their sale",
		},
		{
			`SELECT (SELECT count(*) FROM pricing_plans WHERE school_id = $1 AND course_id IS NOT NULL)
			- (SELECT count(*) FROM pricing_plans p JOIN courses c ON c.school_id = p.school_id
			AND c.course_id = p.course_id WHERE p.school_id = $1)`,
			"%d pricing plans belong to a course that does not exist",
		},
	}
	for _, counted := range [][2]string{{userCounter, "school_id = $1 AND " + notErased}, {"sales", "school_id = $1"}} {
		name, rows := counted[0], counted[1]
		list = append(list, invariant{
			`SELECT (SELECT count(*) FROM ` + name + ` WHERE ` + rows + `)
			- COALESCE((SELECT value FROM counters WHERE school_id = $1 AND name = '` + name + `'), 0)`,
			"there are %d " + name + " more than the counter says",
		})
	}
	for _, role := range []lyceum.Role{lyceum.Student, lyceum.Owner, lyceum.Author, lyceum.Affiliate} {
		list = append(list, invariant{
			`SELECT (SELECT count(*) FROM users WHERE school_id = $1 AND ` + notErased + ` AND role = '` + string(role) + `')
			- COALESCE((SELECT value FROM counters WHERE school_id = $1 AND name = '` + roleCounter(role) + `'), 0)`,
			"there are %d users with the role " + string(role) + " more than the counter says",
		})
	}
	list = append(list, invariant{
		`SELECT (SELECT count(*) FROM enrollments WHERE school_id = $1 AND ended_at IS NULL AND expires_at IS NULL)
		- COALESCE((SELECT CAST(sum(value) AS BIGINT) FROM counters WHERE school_id = $1 AND name LIKE 'enrollments:%'), 0)`,
		"there are %d open enrollments more than the counters say",
	}, invariant{
		`SELECT count(*) FROM progress p WHERE p.school_id = $1 AND (p.percent_complete < 0 OR p.percent_complete > 100)`,
		"%d records of progress are not from 0 to 100",
	}, invariant{
		`SELECT count(*) FROM journal WHERE school_id = $1 AND scarce IS NULL AND type IN (` + scarceList() + ")",
		"%d entries of the journal are missing from its index of rare entries",
	})
	for _, referring := range []struct {
		table string
		to    []lyceum.Sequence
	}{
		{"transactions", []lyceum.Sequence{
			lyceum.UserSequence, lyceum.PricingPlanSequence, lyceum.SaleSequence,
			lyceum.AffiliateSequence, lyceum.AuthorSequence, lyceum.CouponSequence,
		}},
		{"entitlements", []lyceum.Sequence{lyceum.UserSequence, lyceum.SaleSequence}},
		{"enrollments", []lyceum.Sequence{lyceum.UserSequence, lyceum.CourseSequence}},
		{"progress", []lyceum.Sequence{lyceum.UserSequence, lyceum.CourseSequence}},
		{"lecture_progress", []lyceum.Sequence{lyceum.UserSequence, lyceum.LectureSequence}},
	} {
		for _, seq := range referring.to {
			name, column := tableOf()[seq], string(seq)
			list = append(list, invariant{
				`SELECT count(*) FROM ` + referring.table + ` t WHERE t.school_id = $1 AND t.` + column + ` IS NOT NULL
				AND NOT EXISTS (SELECT 1 FROM ` + name + ` o WHERE o.school_id = t.school_id
					AND o.` + column + ` = t.` + column + `)`,
				"%d rows of " + referring.table + " refer to a row of " + name + " that does not exist",
			})
		}
	}
	list = slices.Concat(list, bookInvariants(), inclusionInvariants(), accessInvariants(), takenInvariants())
	for seq, name := range tableOf() {
		list = append(list, invariant{
			`SELECT count(*) FROM ` + name + ` o WHERE o.school_id = $1 AND o.` + string(seq) + ` >
			COALESCE((SELECT value FROM counters WHERE school_id = $1 AND name = '` + string(seq) + `'), 0)`,
			"%d rows of " + name + " have an id that could be given out again",
		})
	}
	return list
}

func checkSchool(q *session, school lyceum.SchoolID) ([]lyceum.Finding, error) {
	var findings []lyceum.Finding
	for _, rule := range invariants() {
		var broken int64
		if _, err := q.one(rule.text, []any{int64(school)}, scanInt(&broken)); err != nil {
			return findings, fmt.Errorf("check that not %q: %w", rule.broken, err)
		}
		if broken != 0 {
			findings = append(findings, lyceum.Finding{School: school, What: fmt.Sprintf(rule.broken, broken)})
		}
	}
	unread, err := checkPacked(q, school)
	if err != nil {
		return findings, err
	}
	runs, err := checkRuns(q, school)
	return slices.Concat(findings, unread, runs), err
}
