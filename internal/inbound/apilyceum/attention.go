package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) attention() []wire.Operation {
	const all, name = "/lyceum/v1/attention", "attention"
	byID := wire.ByID[lyceum.SaleWarningID]("attention_id")
	dismissed := func(in *wire.Input) bool { return in.Query("is_dismissed").Bool().Value }
	return []wire.Operation{
		wire.Many("listAttention", all, perPage, dismissed, f.Sales.Attention, name, attention),
		one("dismissAttention", wire.Run, all+"/{attention_id}/dismiss", wire.NoBody(byID), f.Sales.Dismiss, name, attention),
	}
}

func attention(w sales.Attention) gen.Attention {
	return gen.Attention{
		ID: int32(w.ID), Code: w.Code, Message: w.Message, CreatedAt: wire.Moment(w.CreatedAt),
		DismissedAt: wire.OptMoment(w.DismissedAt), Sale: sale(w.Sale),
	}
}
