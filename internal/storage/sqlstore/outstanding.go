package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// outstanding are statements that were sent to PostgreSQL and whose results have not been read. A
// group that goes ahead sends its rows right after its queries, and compares the results with its
// guesses while PostgreSQL writes the rows. So neither side waits for the other before the
// commit.
type outstanding struct {
	pipeline   *pgconn.Pipeline
	prepared   *preparedStatements
	sent       [][]*lookup // for each statement, the queries that it answers; nil for a write
	taken      int         // number of results that were read
	queriesEnd int         // number of statements up to and including the last query
	synced     bool        // a sync was sent; no statement follows
	stale      bool        // a statement has to be prepared again
}

// preparedStatements are the statements that a connection has prepared so that they can be
// outstanding.
type preparedStatements struct {
	of      map[string]*pgconn.StatementDescription // by their text
	encoder pgx.ExtendedQueryBuilder
	binary  []byte // buffer for the arrays of the statement being sent
	records []byte // buffer for its records
}

const (
	// maxStatements is how many such statements a connection prepares at most.
	maxStatements = 512
	maxBinary     = 64 << 10 // bytes of each of the two buffers that a connection keeps
	preparedKey   = "lyceum.prepared"
	commitText    = "COMMIT"
	planChanged   = "0A000" // feature_not_supported: a prepared statement's result columns would have changed
)

// ofConnection returns the prepared statements of the connection.
func (p *pipeline) ofConnection() *preparedStatements {
	data := p.conn.PgConn().CustomData()
	prepared, is := data[preparedKey].(*preparedStatements)
	if !is {
		prepared = &preparedStatements{of: map[string]*pgconn.StatementDescription{}}
		data[preparedKey] = prepared
	}
	return prepared
}

// mayBeOutstanding reports whether all the statements are prepared, so that they can be
// outstanding. Those that are not will be prepared after the transaction.
func (p *pipeline) mayBeOutstanding(texts ...string) bool {
	all, prepared := true, p.ofConnection()
	for _, text := range texts {
		if prepared.of[text] != nil {
			continue
		}
		if all = false; p.unprepared == nil {
			p.unprepared = map[string]bool{}
		}
		p.unprepared[text] = true
	}
	return all
}

// prepare prepares statements for the next groups. The connection must not be in a transaction,
// because a text that PostgreSQL rejects would abort it.
func (p *pipeline) prepare() {
	if len(p.unprepared) == 0 || p.conn.IsClosed() {
		return
	}
	prepared := p.ofConnection()
	for text := range p.unprepared {
		if len(prepared.of) == maxStatements {
			clear(prepared.of)
			if p.conn.DeallocateAll(p.ctx) != nil {
				return
			}
		}
		name := fmt.Sprintf("outstanding_%d", len(prepared.of)+1)
		if of, err := p.conn.PgConn().Prepare(p.ctx, name, text, nil); err == nil {
			prepared.of[text] = of
		}
	}
}

// jointQuery is a statement that answers several queries with the same text.
type jointQuery struct {
	text     string
	together []*lookup
}

// goesAhead returns the statements for the missing queries, and reports whether they, the queued
// statements and the turn can all be outstanding.
func (p *pipeline) goesAhead(turn string, missing []*lookup) ([]jointQuery, bool) {
	texts := []string{turn, commitText}
	for _, waits := range p.queue.QueuedQueries {
		texts = append(texts, waits.SQL)
	}
	var queries []jointQuery
	for _, together := range p.grouped(missing) {
		text := p.textOf(together)
		texts, queries = append(texts, text), append(queries, jointQuery{text, together})
	}
	return queries, p.mayBeOutstanding(texts...)
}

// sendAhead sends the queued statements and the queries. The results are taken to be what was
// guessed until they are compared.
func (p *pipeline) sendAhead(queries []jointQuery) error {
	queue := p.queue.QueuedQueries
	p.queue = &pgx.Batch{}
	o := &outstanding{pipeline: p.conn.PgConn().StartPipeline(p.ctx), prepared: p.ofConnection()}
	p.outstanding = o
	for _, waits := range queue {
		if err := p.put(waits.SQL, waits.Arguments, nil); err != nil {
			return err
		}
	}
	for _, q := range queries {
		p.trace(q.text)
		if err := p.put(q.text, argsOf(q.together), q.together); err != nil {
			return err
		}
		for _, l := range q.together {
			l.known, l.rows = true, l.guess
		}
	}
	o.queriesEnd = len(o.sent)
	o.pipeline.SendFlushRequest()
	return o.pipeline.Flush()
}

// put appends a statement to the outstanding ones. It is sent with the next flush. queries are
// those that it answers.
func (p *pipeline) put(text string, args []any, queries []*lookup) error {
	o := p.outstanding
	of, encoder := o.prepared.of[text], &o.prepared.encoder
	if of == nil {
		return fmt.Errorf("%q is not prepared", text)
	}
	binary := o.prepared.encodeArrays(of, args)
	err := texts(args)
	if err == nil {
		err = encoder.Build(p.conn.TypeMap(), of, args)
	}
	if err != nil {
		return fmt.Errorf("encode arguments: %w", err)
	}
	for i, value := range binary {
		if value != nil {
			encoder.ParamValues[i], encoder.ParamFormats[i] = value, pgx.BinaryFormatCode
		}
	}
	o.pipeline.SendQueryStatement(of, encoder.ParamValues, encoder.ParamFormats, slices.Clone(encoder.ResultFormats))
	o.sent = append(o.sent, queries)
	return nil
}

// sync asks the server for all remaining results, the last of which marks the end.
func (o *outstanding) sync() error {
	o.synced = true
	return o.pipeline.Sync()
}

// encodeArrays removes the arguments that have a binary form from those of a statement, and
// returns the binary form of each: arrays, and what is encoded already.
func (s *preparedStatements) encodeArrays(of *pgconn.StatementDescription, args []any) [][]byte {
	binary, b := make([][]byte, len(args)), s.binary[:0]
	for i := range args {
		if done, is := args[i].(encoded); is {
			binary[i], args[i] = done, nil
			continue
		}
		a, is := args[i].(array)
		if !is || i >= len(of.ParamOIDs) {
			continue
		}
		begin := len(b)
		if b, is = a.binary(b, of.ParamOIDs[i]); is {
			binary[i], args[i] = b[begin:], nil
		}
	}
	if cap(b) <= maxBinary {
		s.binary = b
	}
	return binary
}

// next reads the next result. It fails with errGuessed if the result differs from what was
// guessed.
func (p *pipeline) next() (tag pgconn.CommandTag, err error) {
	o := p.outstanding
	queries := o.sent[o.taken]
	o.taken++
	results, err := o.pipeline.GetResults()
	if err != nil {
		if refused, is := errors.AsType[*pgconn.PgError](err); is && refused.Code == planChanged {
			o.stale = true
		}
		return tag, err
	}
	reader, is := results.(*pgconn.ResultReader)
	if !is {
		return tag, fmt.Errorf("the answer to a statement is a %T", results)
	}
	if queries == nil {
		return reader.Close()
	}
	for _, l := range queries {
		l.rows = nil
	}
	if err := p.collect(pgx.RowsFromResultReader(p.conn.TypeMap(), reader), queries); err != nil {
		return tag, err
	}
	if slices.ContainsFunc(queries, func(l *lookup) bool { return !l.guessedRight() }) {
		return tag, errGuessed
	}
	return tag, nil
}

// take reads the results of the statements before until.
func (p *pipeline) take(until int) error {
	for o := p.outstanding; o.taken < until; {
		if _, err := p.next(); err != nil {
			return &queuedError{o.taken - 1, err}
		}
	}
	return nil
}

// await reads all outstanding results.
func (p *pipeline) await() error {
	o := p.outstanding
	if o == nil {
		return nil
	}
	defer p.abandon()
	if err := o.sync(); err != nil {
		return err
	}
	return p.take(len(o.sent))
}

// abandon gives up the outstanding statements. It closes the connection if a statement is stale.
func (p *pipeline) abandon() {
	o := p.outstanding
	if o == nil {
		return
	}
	p.outstanding = nil
	if !o.synced && !p.conn.IsClosed() { // pgx may still be writing to a connection that it is closing
		_ = o.sync()
	}
	_ = o.pipeline.Close()
	if o.stale {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.conn.Close(ctx)
	}
}

// commitOutstanding commits once all query results turn out to be what was guessed. If one
// differs, it fails with errGuessed.
func (p *pipeline) commitOutstanding() error {
	o := p.outstanding
	defer p.abandon()
	if err := p.take(o.queriesEnd); err != nil {
		return err
	}
	if err := p.put(commitText, nil, nil); err != nil {
		return err
	}
	if err := o.sync(); err != nil { // COMMIT and sync are one write: if none of it was sent, nothing was committed
		return &commitError{err}
	}
	if p.committing != nil {
		p.committing()
	}
	for i := o.taken; i < len(o.sent); i++ {
		tag, err := p.next()
		if err := committed(i, len(o.sent), tag, err); err != nil {
			return err
		}
	}
	if err := o.pipeline.Close(); err != nil {
		return &commitError{err}
	}
	return nil
}
