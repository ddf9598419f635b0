package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// pool is a set of connections.
type pool struct {
	db        *sql.DB
	dialect   *dialect
	direct    *readers // for SQLite
	writer    *writer  // for SQLite
	ranks     ranks
	combined  sync.Map // text -> combination; for PostgreSQL
	types     columnTypes
	records   recordTypes
	asRecords sync.Map    // table -> *recordInsertion; for PostgreSQL
	keys      foreignKeys // on PostgreSQL, those that triggers check
	noted     noted
	ahead     atomic.Int64 // number of groups that went ahead
	trace     func(string)
}

func newPool(db *sql.DB, d *dialect, trace func(string)) *pool {
	if trace == nil {
		trace = func(string) {}
	}
	return &pool{db: db, dialect: d, trace: trace}
}

func (p *pool) close() error {
	return errors.Join(p.direct.close(), p.writer.close(), p.db.Close())
}

// session runs statements, all in one transaction if link is set. It must be used by one
// goroutine only.
type session struct {
	ctx   context.Context //nolint:containedctx // a session lives as long as the call that opened it
	pool  *pool
	link  link
	group *group // of changes; it decides when statements run
}

// link is a connection in a transaction that bypasses database/sql.
type link interface {
	// each is session.each.
	each(text string, args, dest []any, visit func() error) error
	// later runs a statement without rows immediately or before the next statement of each.
	later(text string, args []any) error
}

// context returns a context that may end a statement midway, if the engine survives that. A
// connection that bypasses database/sql is then closed; see readers.
func (p *pool) context(ctx context.Context) context.Context {
	if p.dialect.cancellable || p.direct != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// last calls do with a connection that is closed afterwards, so that a context may end its
// statements on every engine.
func (p *pool) last(ctx context.Context, do func(*sql.Conn) error) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }()
	return do(conn)
}

// single returns a session that runs statements outside a transaction.
func (p *pool) single(ctx context.Context) *session {
	return &session{ctx: p.context(ctx), pool: p}
}

// snapshot calls read with a session whose statements all see the same snapshot.
func (p *pool) snapshot(ctx context.Context, read func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.dialect.pipelined {
		return p.snapshotPostgres(ctx, read)
	}
	return p.direct.with(p.context(ctx), func(d *direct) (err error) {
		if err := d.run("BEGIN"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.run("ROLLBACK")) }() // also if read panics
		return read(&session{ctx: p.context(ctx), pool: p, link: d})
	})
}

// survey is snapshot for queries of most rows of a school, which are planned better if the engine
// plans them for the number of rows.
func (p *pool) survey(ctx context.Context, read func(*session) error) error {
	return p.snapshot(ctx, func(q *session) error {
		if p.dialect.replan != "" {
			if err := q.exec(p.dialect.replan); err != nil {
				return err
			}
		}
		return read(q)
	})
}

// began reports whether the statements run in a transaction.
func (s *session) began() bool { return s.link != nil }

// linked calls do with the connection that bypasses database/sql. done is false if there is none.
func (s *session) linked(do func(link) error) (done bool, err error) {
	switch {
	case s.link != nil:
		return true, do(s.link)
	case s.pool.direct != nil:
		return true, s.pool.direct.with(s.ctx, func(d *direct) error { return do(d) })
	}
	return false, nil
}

func (s *session) query(text string, args ...any) (*sql.Rows, error) {
	s.pool.trace(text)
	return s.pool.db.QueryContext(s.ctx, text, args...)
}

func (s *session) exec(text string, args ...any) error {
	if s.group != nil {
		return s.group.each(scope{}, text, args, nil, func() error { return nil })
	}
	return s.run(text, args)
}

// run runs a statement without rows immediately, bypassing the group.
func (s *session) run(text string, args []any) error {
	if s.link != nil {
		return s.link.each(text, args, nil, func() error { return nil })
	}
	s.pool.trace(text)
	_, err := s.pool.db.ExecContext(s.ctx, text, args...)
	return err
}

// later runs a statement without rows immediately or before the next result is needed.
func (s *session) later(text string, args []any) error {
	return s.link.later(text, args)
}

// one scans the first row of a query into dest and reports whether there was one.
func (s *session) one(text string, args []any, dest ...any) (bool, error) {
	return s.oneIn(scope{}, text, args, dest...)
}

// oneIn is one for a query with a scope.
func (s *session) oneIn(in scope, text string, args []any, dest ...any) (bool, error) {
	found := false
	if s.group != nil {
		in.limit = 1
		err := s.group.each(in, text, args, dest, func() error { found = true; return errFull })
		return found, unlessFull(err)
	}
	done, err := s.linked(func(l link) error {
		return unlessFull(l.each(text, args, dest, func() error {
			found = true
			return errFull
		}))
	})
	if done {
		return found, err
	}
	rows, err := s.query(text, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(dest...); err != nil {
		return false, err
	}
	return true, errors.Join(rows.Err(), rows.Close())
}

// each scans every row of a query into dest and calls visit after each. Rows are charged to the
// allowance of the session's context.
func (s *session) each(text string, args, dest []any, visit func() error) error {
	return s.eachIn(scope{}, text, args, dest, visit)
}

// eachIn is each for a query with a scope.
func (s *session) eachIn(in scope, text string, args, dest []any, visit func() error) error {
	if s.group != nil {
		return s.group.each(in, text, args, dest, visit)
	}
	return s.rows(text, args, dest, visit)
}

// rows is each, run immediately, bypassing the group.
func (s *session) rows(text string, args, dest []any, visit func() error) error {
	meter := s.meter(dest)
	done, err := s.linked(func(l link) error {
		err := l.each(text, args, dest, func() error {
			if err := meter.row(); err != nil {
				return err
			}
			return visit()
		})
		if err != nil {
			return err
		}
		return meter.settle()
	})
	if done {
		return err
	}
	rows, err := s.query(text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("scan: %w", err)
		}
		if err := meter.row(); err != nil {
			return err
		}
		if err := visit(); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return meter.settle()
}

// where collects conditions that are joined with AND. Each ? in a condition stands for the next
// argument.
type where struct {
	conds     []string
	args      []any
	equals    []equal // conditions in the form of equal
	tests     []test  // conditions in the form of test
	evaluable int     // number of conditions that have either form
}

func (w *where) and(cond string, args ...any) {
	for _, arg := range args {
		w.args = append(w.args, arg)
		cond = strings.Replace(cond, "?", "$"+strconv.Itoa(len(w.args)), 1)
	}
	w.conds = append(w.conds, cond)
}

// test is and for a condition that can also be evaluated on the values of a row.
func (w *where) test(t test, cond string, args ...any) {
	w.and(cond, args...)
	w.tests = append(w.tests, t)
	w.evaluable++
}

// absent requires a column to be NULL.
func (w *where) absent(column string) { w.test(absent(column), column+" IS NULL") }

// absent tests that a column is NULL.
func absent(column string) test {
	return test{[]string{column}, func(of []any) bool { return of[0] == nil }}
}

// lasts requires a time column to be after at, or NULL.
func (w *where) lasts(column string, at time.Time) {
	moment := micros(at)
	w.test(test{[]string{column}, func(of []any) bool {
		until, ends := of[0].(int64)
		return !ends || until > moment
	}}, "("+column+" IS NULL OR "+column+" > ?)", moment)
}

// above requires a column to be greater than a number.
func (w *where) above(column string, number int64) {
	w.test(test{[]string{column}, func(of []any) bool {
		n, there := of[0].(int64)
		return there && n > number
	}}, column+" > ?", number)
}

// within requires a time column to be in a period.
func (w *where) within(column string, p lyceum.Period) {
	if !p.After.IsZero() {
		w.and(column+" > ?", micros(p.After))
	}
	if !p.Until.IsZero() {
		w.and(column+" <= ?", micros(p.Until))
	}
}

// is requires a column to have a value, if the value is present.
func is[N ~int32](w *where, column string, value lyceum.Opt[N]) {
	if value.Present {
		w.equal(column, int64(value.Value))
	}
}

// equal requires a column to have a value.
func (w *where) equal(column string, value any) {
	w.and(column+" = ?", value)
	w.equals = append(w.equals, equal{column, w.args[len(w.args)-1:]})
	w.evaluable++
}

// moments requires a time column to be one of some times.
func (w *where) moments(column string, at []time.Time) {
	w.conds = append(w.conds, column+" IN "+placeholders(len(w.args)+1, len(at)))
	for _, t := range at {
		w.args = append(w.args, micros(t))
	}
}

// among requires a column to have one of the values; nil means no condition. The list is padded
// with its last value to a power of two, so that few statements cover all lengths.
func among[N ~int32](w *where, column string, values []N) {
	if values == nil {
		return
	}
	if len(values) == 0 {
		w.and("1 = 0")
		return
	}
	n := 1
	for n < len(values) {
		n *= 2
	}
	w.conds = append(w.conds, column+" IN "+placeholders(len(w.args)+1, n))
	for i := range n {
		w.args = append(w.args, int64(values[min(i, len(values)-1)]))
	}
	w.equals = append(w.equals, equal{column, w.args[len(w.args)-n:]})
	w.evaluable++
}

// truth requires a column to be true or false, if the value is present.
func (w *where) truth(column string, value lyceum.Opt[bool]) {
	if value.Present {
		w.equal(column, flag(value.Value))
	}
}

// archived requires a row to be archived or not, if the value is present.
func (w *where) archived(value lyceum.Opt[bool]) {
	switch {
	case !value.Present:
	case value.Value:
		w.and("archived_at IS NOT NULL")
	default:
		w.absent("archived_at")
	}
}

// part requires one of some text columns to contain a text, ignoring case.
func (w *where) part(text lyceum.Opt[string], columns ...string) {
	if !text.Present {
		return
	}
	pattern, cases := partOf(text.Value), otherCases(text.Value)
	var conds []string
	var args []any
	for _, column := range columns {
		lower := "LOWER(" + column + ")"
		for _, r := range cases {
			lower = "REPLACE(" + lower + ", ?, ?)"
			args = append(args, string(r), strings.ToLower(string(r)))
		}
		conds, args = append(conds, lower+" LIKE ? ESCAPE '!'"), append(args, pattern)
	}
	w.and("("+strings.Join(conds, " OR ")+")", args...)
}

// mostCases bounds otherCases, because SQLite limits how deeply expressions are nested.
const mostCases = 100

// otherCases returns the letters that have the same lower case as a letter of a text beyond ASCII,
// because an engine may only know the case of ASCII letters.
func otherCases(text string) []rune {
	var found []rune
	for _, r := range text {
		if r < utf8.RuneSelf || len(found) >= mostCases {
			continue
		}
		lower := unicode.ToLower(r)
		for other := unicode.SimpleFold(r); ; other = unicode.SimpleFold(other) {
			if other != lower && unicode.ToLower(other) == lower && !slices.Contains(found, other) {
				found = append(found, other)
			}
			if other == r {
				break
			}
		}
	}
	return found
}

// arg adds an argument and returns its placeholder.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return "$" + strconv.Itoa(len(w.args))
}

func (w *where) String() string { return " WHERE " + strings.Join(w.conds, " AND ") }

// placeholders returns ($first, …, $first+n-1).
func placeholders(first, n int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(first + i))
	}
	b.WriteByte(')')
	return b.String()
}

// oneOf requires a column to have one of some values; none means no condition. The list is padded
// with its last value to a power of two, so that few statements cover all lengths.
func oneOf[T ~string](w *where, column string, values []T) {
	if len(values) == 0 {
		return
	}
	n := 1
	for n < len(values) {
		n *= 2
	}
	cond := column + " IN " + placeholders(len(w.args)+1, n)
	for i := range n {
		w.args = append(w.args, string(values[min(i, len(values)-1)]))
	}
	w.and(cond)
}
