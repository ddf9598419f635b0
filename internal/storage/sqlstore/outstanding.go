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

// outstanding are statements that were sent to PostgreSQL and whose answers were not taken. A group
// that goes ahead sends its rows behind its questions, and compares the answers with what was
// guessed while PostgreSQL writes the rows. So neither of them waits for the other before the commit.
type outstanding struct {
	pipeline *pgconn.Pipeline
	prepared *preparedStatements
	sent     [][]*answer // for each statement, the questions that it asks
	taken    int         // how many of them were answered
	asked    int         // how many of them, up to the last one that asks
	synced   bool        // nothing follows them
	stale    bool        // a statement has to be prepared again
}

// preparedStatements are the statements that a connection has prepared to be outstanding.
type preparedStatements struct {
	of      map[string]*pgconn.StatementDescription // by their texts
	encoder pgx.ExtendedQueryBuilder
	binary  []byte // arrays of a statement that is being put
}

const (
	// maxStatements is how many statements a connection prepares to be outstanding.
	maxStatements = 512
	maxBinary     = 64 << 10 // bytes that a connection keeps to encode arrays
	preparedKey   = "lyceum.prepared"
	commitText    = "COMMIT"
	planChanged   = "0A000" // feature_not_supported: a prepared statement would have other columns than before
)

// ofConnection gives those of the connection.
func (p *pipeline) ofConnection() *preparedStatements {
	data := p.conn.PgConn().CustomData()
	prepared, is := data[preparedKey].(*preparedStatements)
	if !is {
		prepared = &preparedStatements{of: map[string]*pgconn.StatementDescription{}}
		data[preparedKey] = prepared
	}
	return prepared
}

// mayBeOutstanding reports whether statements may be. Those that are not prepared are prepared after
// the transaction.
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

// prepare prepares statements for the next groups. It is for a connection outside a transaction,
// which a text that PostgreSQL does not take would end.
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

// jointQuestion is a statement that answers queries of one text.
type jointQuestion struct {
	text     string
	together []*answer
}

// goesAhead reports whether what waits, a turn and what is missing may be outstanding, and gives the
// questions for that.
func (p *pipeline) goesAhead(turn string, missing []*answer) ([]jointQuestion, bool) {
	texts := []string{turn, commitText}
	for _, waits := range p.queue.QueuedQueries {
		texts = append(texts, waits.SQL)
	}
	var questions []jointQuestion
	for _, together := range p.questions(missing) {
		text := p.textOf(together)
		texts, questions = append(texts, text), append(questions, jointQuestion{text, together})
	}
	return questions, p.mayBeOutstanding(texts...)
}

// askAhead sends what waits and questions, whose answers are taken to be what was guessed until they
// are compared.
func (p *pipeline) askAhead(questions []jointQuestion) error {
	queue := p.queue.QueuedQueries
	p.queue = &pgx.Batch{}
	o := &outstanding{pipeline: p.conn.PgConn().StartPipeline(p.ctx), prepared: p.ofConnection()}
	p.outstanding = o
	for _, waits := range queue {
		if err := p.put(waits.SQL, waits.Arguments, nil); err != nil {
			return err
		}
	}
	for _, q := range questions {
		p.trace(q.text)
		if err := p.put(q.text, argsOf(q.together), q.together); err != nil {
			return err
		}
		for _, a := range q.together {
			a.known, a.rows = true, a.guess
		}
	}
	o.asked = len(o.sent)
	o.pipeline.SendFlushRequest()
	return o.pipeline.Flush()
}

// put puts a statement behind those that are outstanding. It goes with the next flush.
func (p *pipeline) put(text string, args []any, asks []*answer) error {
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
	o.sent = append(o.sent, asks)
	return nil
}

// sync lets the answers come, of which the last one says that there are no more.
func (o *outstanding) sync() error {
	o.synced = true
	return o.pipeline.Sync()
}

// encodeArrays takes the arrays that have a binary form out of the arguments of a statement, and gives that
// form of each.
func (s *preparedStatements) encodeArrays(of *pgconn.StatementDescription, args []any) [][]byte {
	binary, b := make([][]byte, len(args)), s.binary[:0]
	for i := range args {
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

// next takes the next answer. It fails with errGuessed if that is not what was guessed.
func (p *pipeline) next() (tag pgconn.CommandTag, err error) {
	o := p.outstanding
	asks := o.sent[o.taken]
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
	if asks == nil {
		return reader.Close()
	}
	for _, a := range asks {
		a.rows = nil
	}
	if err := p.answer(pgx.RowsFromResultReader(p.conn.TypeMap(), reader), asks); err != nil {
		return tag, err
	}
	if slices.ContainsFunc(asks, func(a *answer) bool { return !a.guessedRight() }) {
		return tag, errGuessed
	}
	return tag, nil
}

// take takes the answers of the statements up to a place.
func (p *pipeline) take(until int) error {
	for o := p.outstanding; o.taken < until; {
		if _, err := p.next(); err != nil {
			return &queuedError{o.taken - 1, err}
		}
	}
	return nil
}

// await takes all answers that are outstanding.
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

// abandon leaves what is outstanding.
func (p *pipeline) abandon() {
	o := p.outstanding
	if o == nil {
		return
	}
	p.outstanding = nil
	if !o.synced && !p.conn.IsClosed() { // pgx may still write to one that it closes
		_ = o.sync()
	}
	_ = o.pipeline.Close()
	if o.stale {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.conn.Close(ctx)
	}
}

// commitOutstanding is commit, once all that was asked is found to be what was guessed. If it is not,
// it fails with errGuessed.
func (p *pipeline) commitOutstanding() error {
	o := p.outstanding
	defer p.abandon()
	if err := p.take(o.asked); err != nil {
		return err
	}
	if err := p.put(commitText, nil, nil); err != nil {
		return err
	}
	if err := o.sync(); err != nil { // one write has both: if nothing of it has gone, nothing was committed
		return &commitError{err}
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
