package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	payloadColumns = "number, event, object_id, at, object"
	attemptColumns = "webhook_event_id, attempt, at, took, status, problem, request_header, response_header, response_body, is_kept"
)

func scanPayload(p *lyceum.EventPayload) []any {
	return []any{scanInt(&p.Number), scanText(&p.Event), scanInt(&p.ObjectID), scanTime(&p.At), scanText(&p.Object)}
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
		}), scanOptInt(&a.Status), scanOptText(&a.Problem), scanText(&a.RequestHeader), scanText(&a.ResponseHeader), scanText(&a.ResponseBody),
		scanFunc(func(src any) error {
			var kept bool
			err := scanBool(&kept).Scan(src)
			a.Unkept = !kept
			return err
		}),
	}
}
