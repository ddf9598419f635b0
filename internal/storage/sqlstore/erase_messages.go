package sqlstore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// What was sent to webhooks, and what they responded, is compressed, so the database cannot
// search it. Test messages, whose numbers are below 0, are about nobody, so there is nothing
// to erase in them.

// searchedRows and searchedBytes are how much one search reads at most.
const (
	searchedRows  = 256
	searchedBytes = 2 << 20
)

// part counts what one search has read.
type part struct{ rows, bytes int }

// add counts a text, and returns errFull once the part is large enough.
func (p *part) add(text string) error {
	p.rows++
	if p.bytes += len(text); p.rows == searchedRows || p.bytes > searchedBytes {
		return errFull
	}
	return nil
}

// findPayloads searches the next messages that were sent to webhooks, newest first, before a
// key unless it is empty. It returns the key at which to resume, or an empty one after the
// last message.
func (v *view) findPayloads(e *eraser, before string) (keys []string, next string, err error) {
	w := &where{}
	w.and("school_id = ?", int64(v.school))
	w.and("number > 0")
	if before != "" {
		number, err := strconv.ParseInt(before, 10, 64)
		if err != nil {
			return nil, "", err
		}
		w.and("number < ?", number)
	}
	finds := e.finder(true)
	var searched part
	var number int64
	var text string
	err = v.q.each("SELECT number, object FROM event_payloads"+w.String()+" ORDER BY number DESC LIMIT "+
		strconv.Itoa(searchedRows), w.args, []any{scanInt(&number), scanPacked(&text)}, func() error {
		next = strconv.FormatInt(number, 10)
		if finds(text) {
			keys = append(keys, next)
		}
		return searched.add(text)
	})
	if err == nil { // that was all
		next = ""
	}
	return keys, next, unlessFull(err)
}

func (t *tx) erasePayload(e *eraser, key string) error {
	number, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return err
	}
	const one = " WHERE school_id = $1 AND number = $2"
	var text string // stays empty if it is gone
	err = t.q.each("SELECT object FROM event_payloads"+one, []any{int64(t.stamp.School), number},
		[]any{scanPacked(&text)}, func() error { return nil })
	if err != nil {
		return err
	}
	erased := e.json(text)
	if erased == text {
		return nil
	}
	return t.q.exec("UPDATE event_payloads SET object = $3"+one, int64(t.stamp.School), number, pack(erased))
}

// findAttempts does the same as findPayloads for the responses of receivers, which may echo
// what they received.
func (v *view) findAttempts(e *eraser, before string) (keys []string, next string, err error) {
	w := &where{}
	w.and("school_id = ?", int64(v.school))
	w.and("webhook_event_id > 0")
	if before != "" {
		delivery, number, err := attemptOf(before)
		if err != nil {
			return nil, "", err
		}
		w.and("(webhook_event_id, attempt) < (?, ?)", delivery, number)
	}
	finds := e.echoFinder()
	var searched part
	var a lyceum.Attempt
	err = v.q.each("SELECT "+attemptColumns+" FROM webhook_attempts"+w.String()+
		" ORDER BY webhook_event_id DESC, attempt DESC LIMIT "+strconv.Itoa(searchedRows), w.args, scanAttempt(&a),
		func() error {
			next = attemptKey(&a)
			exchange := exchangeOf(&a)
			if emptyFound(&a, finds) {
				keys = append(keys, next)
			}
			return searched.add(exchange)
		})
	if err == nil {
		next = ""
	}
	return keys, next, unlessFull(err)
}

func (t *tx) eraseAttempt(e *eraser, key string) error {
	delivery, number, err := attemptOf(key)
	if err != nil {
		return err
	}
	const one = " WHERE school_id = $1 AND webhook_event_id = $2 AND attempt = $3"
	var a lyceum.Attempt // stays empty if it is gone
	err = t.q.each("SELECT "+attemptColumns+" FROM webhook_attempts"+one, []any{int64(t.stamp.School), delivery, number},
		scanAttempt(&a), func() error { return nil })
	if err != nil || !emptyFound(&a, e.echoFinder()) {
		return err
	}
	return t.q.exec("UPDATE webhook_attempts SET problem = $4, exchange = $5"+one, int64(t.stamp.School), delivery, number,
		optText(a.Problem), pack(exchangeOf(&a)))
}

// attemptKey returns the key of an attempt for findAttempts; attemptOf is its inverse.
func attemptKey(a *lyceum.Attempt) string { return fmt.Sprintf("%d/%d", a.Delivery, a.Number) }

func attemptOf(key string) (delivery, number int64, err error) {
	first, second, _ := strings.Cut(key, "/")
	if delivery, err = strconv.ParseInt(first, 10, 64); err != nil {
		return 0, 0, err
	}
	number, err = strconv.ParseInt(second, 10, 32)
	return delivery, number, err
}

// echoFinder finds a person's names and email addresses in any text. An id on its own says
// nothing.
func (e *eraser) echoFinder() func(text string) bool {
	return (&eraser{called: e.called}).finder(false)
}

// emptyFound empties the texts of an attempt that contain what is searched for, and reports
// whether there were any.
func emptyFound(a *lyceum.Attempt, finds func(string) bool) (emptied bool) {
	for _, text := range []*string{&a.Problem.Value, &a.RequestHeader, &a.ResponseHeader, &a.ResponseBody} {
		if finds(*text) {
			*text, emptied = "", true
		}
	}
	return emptied
}
