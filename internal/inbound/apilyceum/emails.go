package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

func (f *Face) emails() []wire.Operation {
	return []wire.Operation{
		wire.Many("listEmails", "/lyceum/v1/emails", perPage, bindEmails, f.Templates.Queued, "emails", email),
	}
}

func bindEmails(in *wire.Input) lyceum.EmailFilter {
	return lyceum.EmailFilter{
		State: wire.OneOf(in.Query("state"), lyceum.EmailStates()...), User: wire.ID[lyceum.UserID](in.Query("user_id")),
	}
}

func email(e lyceum.QueuedEmail) gen.Email {
	return gen.Email{
		ID: int32(e.ID), Name: string(templates.NameOf(e.Kind)), State: gen.EmailState(e.State),
		UserID: wire.Number(e.UserID), AttemptCount: e.Tries, CreatedAt: wire.Moment(e.CreatedAt),
		NextAttemptAt: wire.OptMoment(e.NextAttemptAt),
		ClosedAt:      wire.OptMoment(e.ClosedAt), Problem: wire.Optional(e.Problem),
	}
}
