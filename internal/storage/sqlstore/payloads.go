package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var payloads = define(&tables.Payloads, noun[int64, lyceum.EventPayload, struct{}]{
	table: table[lyceum.EventPayload]{name: "event_payloads"},
	what:  "payload",
	key:   numberKey("number", func(p *lyceum.EventPayload) *int64 { return &p.Number }),
	rest: []column[lyceum.EventPayload]{
		textColumn("event", func(p *lyceum.EventPayload) *lyceum.EventName { return &p.Event }),
		intColumn("object_id", func(p *lyceum.EventPayload) *int32 { return &p.ObjectID }),
		timeColumn("at", func(p *lyceum.EventPayload) *time.Time { return &p.At }),
		packedColumn("object", func(p *lyceum.EventPayload) *string { return &p.Object }),
	},
})
