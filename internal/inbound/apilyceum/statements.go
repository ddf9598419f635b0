package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) statements() []wire.Operation {
	const affiliates = "/lyceum/v1/affiliates/{affiliate_id}/statement"
	const authors = "/lyceum/v1/authors/{author_id}/statement"
	return []wire.Operation{
		heavy(one("showAffiliateStatement", wire.Get, affiliates, bindStatement[lyceum.AffiliateID]("affiliate_id"),
			f.Sales.AffiliateStatement, "statement", statement)),
		heavy(one("showAuthorStatement", wire.Get, authors, bindStatement[lyceum.AuthorID]("author_id"),
			f.Sales.AuthorStatement, "statement", statement)),
	}
}

func bindStatement[ID ~int32](of string) func(*wire.Input) sales.StatementQuery[ID] {
	return func(in *wire.Input) sales.StatementQuery[ID] {
		return sales.StatementQuery[ID]{
			Of: wire.PathID[ID](in, of), From: in.Query("from").Time(), Until: in.Query("until").Time(),
			After: wire.Parsed(in.Query("after"), sales.ParseStatementPlace).Value,
			Limit: int(wire.Int[int32](in.Query("limit"), 1, sales.MaxStatement).Else(sales.MaxStatement)),
		}
	}
}

func statement(s sales.Statement) gen.Statement {
	shown := gen.Statement{
		From: wire.OptMoment(s.From), Until: wire.OptMoment(s.Until), Lines: []gen.StatementLine{},
		Sums: []gen.StatementSum{}, More: s.Next.Present,
	}
	if s.Next.Present {
		next := s.Next.Value.String()
		shown.Next = &next
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		shown.Lines = append(shown.Lines, gen.StatementLine{
			At: wire.Moment(l.At), Kind: gen.StatementLineKind(l.Kind), SaleID: int32(l.Sale),
			TransactionID: int32(l.Transaction), MovementID: wire.Number(l.Movement), Currency: string(l.Currency),
			Amount: int32(l.Amount),
		})
	}
	for _, sum := range s.Sums() {
		shown.Sums = append(shown.Sums, gen.StatementSum{Currency: string(sum.Currency), Amount: int64(sum.Amount)})
	}
	return shown
}
