package sqlstore

import (
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// entryColumns are those of the journal after the school.
const entryColumns = "number, at, actor, type, object_id, event, detail"

// entryColumnsOf gives them with the name of their table.
func entryColumnsOf(table string) string {
	return table + "." + strings.ReplaceAll(entryColumns, ", ", ", "+table+".")
}

func scanEntry(e *lyceum.Entry) []any {
	return []any{scanInt(&e.Number), scanTime(&e.At), scanText(&e.Actor), scanText(&e.Type), scanInt(&e.ObjectID), scanOptText(&e.Event), scanOptText(&e.Detail)}
}

func bindPolicy(p lyceum.SalePolicy) []any {
	return []any{string(p.OnRefund), string(p.OnChargeback), string(p.OnCancellation), int64(p.AbandonAfter / time.Minute)}
}

func scanPolicy(p *lyceum.SalePolicy) []any {
	return []any{scanText(&p.OnRefund), scanText(&p.OnChargeback), scanText(&p.OnCancellation), scanFunc(func(src any) error {
		minutes, ok := src.(int64)
		if !ok {
			return wrong(src, "minutes")
		}
		p.AbandonAfter = time.Duration(minutes) * time.Minute
		return nil
	})}
}
