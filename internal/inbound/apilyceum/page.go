package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// The sizes of a page.
const (
	usualPage = 25
	mostPage  = 100
)

func bindPage(in *wire.Input) lyceum.Page {
	p := lyceum.Page{Number: 1, Size: usualPage}
	if n := in.Int32From("page", 1); n != nil {
		p.Number = *n
	}
	if n := in.Int32Between("per_page", 1, mostPage); n != nil {
		p.Size = *n
	}
	return p
}

func metaOf(p lyceum.Page, total int64) gen.PaginationMeta {
	size := int64(p.Size)
	return gen.PaginationMeta{Page: p.Number, PerPage: p.Size, TotalPages: int32((total + size - 1) / size), TotalCount: int32(total)}
}
