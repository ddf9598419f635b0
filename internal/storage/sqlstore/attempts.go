package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

const attemptColumns = "webhook_event_id, attempt, at, took, status, problem, request_header, response_header, " +
	"response_body, is_kept"

func scanAttempt(a *lyceum.Attempt) []any {
	return []any{
		scanInt(&a.Delivery), scanInt(&a.Number), scanTime(&a.At), scanFunc(func(src any) error {
			took, ok := src.(int64)
			if !ok {
				return wrong(src, "microseconds")
			}
			a.Took = time.Duration(took) * time.Microsecond
			return nil
		}), scanOptInt(&a.Status), scanOptText(&a.Problem), scanText(&a.RequestHeader), scanText(&a.ResponseHeader),
		scanText(&a.ResponseBody),
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
	left := lyceum.AnswerBytes
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
	err := t.q.exec(insertText("webhook_attempts", attemptColumns, 11, 1), int64(t.stamp.School), int64(a.Delivery),
		int64(a.Number), micros(a.At), a.Took.Microseconds(),
		optInt(a.Status), optText(a.Problem), a.RequestHeader, a.ResponseHeader, a.ResponseBody, flag(!a.Unkept))
	if err != nil {
		return fmt.Errorf("insert attempt: %w", err)
	}
	return nil
}
