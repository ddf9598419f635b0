package apiv1

import (
	"strconv"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
)

// The page sizes of v1 (docs/divergences.md, "Page size"): without per a list
// has its own default, above the maximum per counts as the maximum.
const (
	defaultPer = 20
	maxPer     = 100
)

func pageFrom(page, per *int32) lyceum.Page {
	p := lyceum.Page{Number: 1, Size: defaultPer}
	if page != nil {
		p.Number = *page
	}
	if per != nil {
		p.Size = min(*per, maxPer)
	}
	return p
}

// appendMeta appends the pagination meta, version 1: for per=5 and 50 items,
// page 2 is from 6 to 10 with 10 pages. An empty page is from 0 to 0.
func appendMeta(b []byte, total int64, p lyceum.Page, shown int) []byte {
	var from, to int64
	if shown > 0 {
		from, to = p.Offset()+1, p.Offset()+int64(shown)
	}
	pages := (total + int64(p.Size) - 1) / int64(p.Size)
	b = append(b, `"meta":{"total":`...)
	b = strconv.AppendInt(b, total, 10)
	b = append(b, `,"page":`...)
	b = strconv.AppendInt(b, int64(p.Number), 10)
	b = append(b, `,"from":`...)
	b = strconv.AppendInt(b, from, 10)
	b = append(b, `,"to":`...)
	b = strconv.AppendInt(b, to, 10)
	b = append(b, `,"per_page":`...)
	b = strconv.AppendInt(b, int64(p.Size), 10)
	b = append(b, `,"number_of_pages":`...)
	b = strconv.AppendInt(b, pages, 10)
	return append(b, '}')
}

// pageOf is pageFrom with a default of its own.
func pageOf(page, per *int32, usual int32) lyceum.Page {
	p := pageFrom(page, per)
	if per == nil {
		p.Size = usual
	}
	return p
}

// metaOf is the pagination meta, version 1, as appendMeta writes it.
func metaOf(total int64, p lyceum.Page, shown int) gen.PaginationMeta {
	m := gen.PaginationMeta{
		Total: int32(total), Page: p.Number, PerPage: p.Size, NumberOfPages: int32((total + int64(p.Size) - 1) / int64(p.Size)),
	}
	if shown > 0 {
		m.From, m.To = int32(p.Offset()+1), int32(p.Offset()+int64(shown))
	}
	return m
}
