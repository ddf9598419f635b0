package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

type templateSecrets = noun[lyceum.TemplateSecretID, lyceum.TemplateSecret, lyceum.TemplateSecretFilter]

var _ = define(&tables.TemplateSecrets, templateSecrets{
	table:   table[lyceum.TemplateSecret]{name: "template_secrets"},
	entries: "template_secret",
	key:     idKey("template_secret_id", func(s *lyceum.TemplateSecret) *lyceum.TemplateSecretID { return &s.ID }),
	rest: []column[lyceum.TemplateSecret]{
		textColumn("name", func(s *lyceum.TemplateSecret) *string { return &s.Name }),
		textColumn("sealed", func(s *lyceum.TemplateSecret) *string { return &s.Sealed }),
		timeColumn("created_at", func(s *lyceum.TemplateSecret) *time.Time { return &s.CreatedAt }),
		timeColumn("updated_at", func(s *lyceum.TemplateSecret) *time.Time { return &s.UpdatedAt }),
	},
	secret: true,
	narrow: func(w *where, f lyceum.TemplateSecretFilter) {
		if f.Name.Present {
			w.equal("name", f.Name.Value)
		}
	},
})
