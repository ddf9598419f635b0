package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.EmailTemplates, noun[lyceum.EmailKind, lyceum.EmailTemplate, struct{}]{
	table: table[lyceum.EmailTemplate]{name: "email_templates"},
	what:  "email template",
	key:   unnumbered(idKey("kind", func(e *lyceum.EmailTemplate) *lyceum.EmailKind { return &e.Kind })),
	rest: []column[lyceum.EmailTemplate]{
		textColumn("subject", func(e *lyceum.EmailTemplate) *string { return &e.Subject }),
		textColumn("body", func(e *lyceum.EmailTemplate) *string { return &e.Body }),
		timeColumn("updated_at", func(e *lyceum.EmailTemplate) *time.Time { return &e.UpdatedAt }),
	},
})
