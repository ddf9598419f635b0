package apilyceum

import (
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) attention() []wire.Operation {
	return []wire.Operation{
		wire.Many(
			"listAttention", "/lyceum/v1/attention", perPage, wire.Anything, f.Sales.Attention, "attention", attention,
		),
	}
}

func attention(w sales.Attention) gen.Attention {
	return gen.Attention{
		ID: int32(w.ID), Code: w.Code, Message: w.Message, CreatedAt: wire.Moment(w.CreatedAt), Sale: sale(w.Sale),
	}
}
