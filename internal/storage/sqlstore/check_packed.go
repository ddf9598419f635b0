package sqlstore

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// packedTexts are the columns whose text is compressed by pack.
var packedTexts = []struct{ table, column, what string }{
	{"event_payloads", "object", "events"},
	{"webhook_attempts", "exchange", "attempts to deliver events"},
}

// checkPacked unpacks all compressed text, which the engines' own integrity checks do not look
// into.
func checkPacked(q *session, school lyceum.SchoolID) (findings []lyceum.Finding, err error) {
	for _, of := range packedTexts {
		broken := 0
		err := q.each("SELECT "+of.column+" FROM "+of.table+" WHERE school_id = $1", []any{int64(school)},
			[]any{scanFunc(func(src any) error {
				packed, ok := src.([]byte)
				if !ok {
					return wrong(src, "bytes")
				}
				if _, err := unpack(packed); err != nil {
					broken++
				}
				return nil
			})}, func() error { return nil })
		if err != nil {
			return findings, fmt.Errorf("check %s: %w", of.table, err)
		}
		if broken > 0 {
			findings = append(findings, lyceum.Finding{
				School: school, What: fmt.Sprintf("%d stored %s cannot be read", broken, of.what),
			})
		}
	}
	return findings, nil
}
