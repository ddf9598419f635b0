package sqlstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

const attemptColumns = "webhook_event_id, attempt, at, took, status, problem, exchange, is_kept"

// exchangeOf returns the request and the response of an attempt as one string. A header
// contains no NUL.
func exchangeOf(a *lyceum.Attempt) string {
	return a.RequestHeader + "\x00" + a.ResponseHeader + "\x00" + a.ResponseBody
}

// setExchange is the inverse of exchangeOf.
func setExchange(a *lyceum.Attempt, text string) error {
	parts := strings.SplitN(text, "\x00", 3)
	if len(parts) < 3 {
		return fmt.Errorf("attempt %d of delivery %d has no answer", a.Number, a.Delivery)
	}
	a.RequestHeader, a.ResponseHeader, a.ResponseBody = parts[0], parts[1], parts[2]
	return nil
}

func scanAttempt(a *lyceum.Attempt) []any {
	return []any{
		scanInt(&a.Delivery), scanInt(&a.Number), scanTime(&a.At), scanFunc(func(src any) error {
			took, ok := src.(int64)
			if !ok {
				return wrong(src, "microseconds")
			}
			a.Took = time.Duration(took) * time.Microsecond
			return nil
		}), scanOptInt(&a.Status), scanOptText(&a.Problem),
		&packedScanner{put: func(text string) error { return setExchange(a, text) }},
		scanFunc(func(src any) error {
			var kept bool
			err := scanBool(&kept).Scan(src)
			a.Unkept = !kept
			return err
		}),
	}
}

func (v *view) FindAttempts(id lyceum.WebhookEventID, after int32) (found []lyceum.Attempt, more bool, err error) {
	var a lyceum.Attempt
	left := lyceum.ResponseBytes
	err = v.q.each(
		"SELECT "+attemptColumns+" FROM webhook_attempts WHERE school_id = $1 AND webhook_event_id = $2 AND attempt > $3 "+
			"ORDER BY attempt",
		[]any{int64(v.school), int64(id), int64(after)}, scanAttempt(&a), func() error {
			left -= bareObject + lyceum.Weight(a.Problem.Value, a.RequestHeader, a.ResponseHeader, a.ResponseBody)
			if left < 0 && len(found) > 0 {
				more = true
				return errFull
			}
			found = append(found, a)
			return nil
		})
	return found, more, v.public(unlessFull(err))
}

func (t *tx) CreateAttempt(a lyceum.Attempt) error {
	err := t.q.group.add(edit{
		table: "webhook_attempts", list: attemptColumns, columns: strings.Split(attemptColumns, ", "),
		school: int64(t.stamp.School), values: []any{
			int64(a.Delivery), int64(a.Number), micros(a.At), a.Took.Microseconds(), optInt(a.Status), optText(a.Problem),
			pack(exchangeOf(&a)), flag(!a.Unkept),
		},
	})
	if err != nil {
		return fmt.Errorf("insert attempt: %w", err)
	}
	return nil
}
