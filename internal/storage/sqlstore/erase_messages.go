package sqlstore

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// How much of what webhooks were sent is searched in one change.
const (
	searchedRows  = 256
	searchedBytes = 2 << 20
)

// EraseMessages reads packed texts, which the database cannot search. Of tests,
// whose numbers are below 0, there is nothing to erase: they are about nobody.
func (t *tx) EraseMessages(
	user lyceum.UserID, called lyceum.Called, from lyceum.Searched,
) (next lyceum.Searched, more bool, err error) {
	e := &eraser{user: user, called: called}
	next = from
	morePayloads, err := t.erasePayloads(e, &next)
	if err != nil {
		return from, false, fmt.Errorf("erase payloads: %w", err)
	}
	moreAttempts, err := t.eraseAttempts(e, &next)
	if err != nil {
		return from, false, fmt.Errorf("erase attempts: %w", err)
	}
	return next, morePayloads || moreAttempts, nil
}

// part counts what one change searches.
type part struct{ rows, bytes int }

// add reports errFull once a part is large enough.
func (p *part) add(text string) error {
	p.rows++
	if p.bytes += len(text); p.rows == searchedRows || p.bytes > searchedBytes {
		return errFull
	}
	return nil
}

func (t *tx) erasePayloads(e *eraser, s *lyceum.Searched) (more bool, err error) {
	finds := e.finder(true)
	found := map[int64]string{}
	var searched part
	var text string
	err = t.q.each("SELECT number, object FROM event_payloads WHERE school_id = $1 AND number > $2 "+
		"ORDER BY number LIMIT $3", []any{int64(t.stamp.School), s.Payload, int64(searchedRows)},
		[]any{scanInt(&s.Payload), scanPacked(&text)}, func() error {
			if finds(text) {
				found[s.Payload] = text
			}
			return searched.add(text)
		})
	if unlessFull(err) != nil {
		return false, err
	}
	for number, text := range found {
		erased := e.json(text)
		if erased == text {
			continue
		}
		if err := t.q.exec("UPDATE event_payloads SET object = $1 WHERE school_id = $2 AND number = $3", pack(erased),
			int64(t.stamp.School), number); err != nil {
			return false, err
		}
	}
	return err != nil, nil
}

// eraseAttempts erases what receivers answered, if they echoed what they got.
func (t *tx) eraseAttempts(e *eraser, s *lyceum.Searched) (more bool, err error) {
	finds := (&eraser{called: e.called}).finder(false)
	var found []lyceum.Attempt
	var searched part
	var a lyceum.Attempt
	err = t.q.each("SELECT "+attemptColumns+" FROM webhook_attempts WHERE school_id = $1 "+
		"AND (webhook_event_id, attempt) > ($2, $3) ORDER BY webhook_event_id, attempt LIMIT $4",
		[]any{int64(t.stamp.School), int64(s.Delivery), int64(s.Attempt), int64(searchedRows)}, scanAttempt(&a),
		func() error {
			s.Delivery, s.Attempt = a.Delivery, a.Number
			if emptyFound(&a, finds) {
				found = append(found, a)
			}
			return searched.add(exchangeOf(&a))
		})
	if unlessFull(err) != nil {
		return false, err
	}
	for i := range found {
		a := &found[i]
		if err := t.q.exec("UPDATE webhook_attempts SET problem = $1, exchange = $2 WHERE school_id = $3 "+
			"AND webhook_event_id = $4 AND attempt = $5", optText(a.Problem), pack(exchangeOf(a)), int64(t.stamp.School),
			int64(a.Delivery), int64(a.Number)); err != nil {
			return false, err
		}
	}
	return err != nil, nil
}

// emptyFound empties the texts of an attempt that have what is looked for, and
// reports whether there was one.
func emptyFound(a *lyceum.Attempt, finds func(string) bool) (emptied bool) {
	for _, text := range []*string{&a.Problem.Value, &a.RequestHeader, &a.ResponseHeader, &a.ResponseBody} {
		if finds(*text) {
			*text, emptied = "", true
		}
	}
	return emptied
}
