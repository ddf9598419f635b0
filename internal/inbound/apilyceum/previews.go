package apilyceum

import (
	"context"
	"net/http"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// previewRows is the default page size of a preview, in rows.
const previewRows = 100

// previewed adds ?preview=true to an operation: it then returns what it would do, and does
// nothing. Invalid preview and paging parameters are reported together with the other
// errors of the request.
func previewed[P, T any](
	op wire.Operation, bind func(*wire.Input) P,
	rule func(context.Context, lyceum.By, P, lyceum.Page) (T, error), render func(*T) shownPreview,
) wire.Operation {
	act, preview := op.Serve, wire.Serve(func(in *wire.Input) wire.PageRequest[P] {
		in.Query("preview").Bool()
		page := wire.BindPage(in, previewRows)
		return wire.PageRequest[P]{Filter: bind(in), Page: page}
	}, func(ctx context.Context, by lyceum.By, q wire.PageRequest[P]) (shownPreview, error) {
		out, err := rule(ctx, by, q.Filter, q.Page)
		return render(&out), err
	})
	op.Serve = func(ctx context.Context, who wire.Principal, r *http.Request) (wire.Body, error) {
		in, err := wire.NewInput(r)
		if err != nil {
			return nil, err
		}
		requested := in.Query("preview").Bool()
		wire.BindPage(in, previewRows)
		switch {
		case in.Err() != nil: // preview reports it
		case !requested.Value:
			return act(ctx, who, r)
		default: // a preview shows data that the response of the change does not
			if err := who.By.Permit(lyceum.Read); err != nil {
				return nil, err
			}
		}
		return preview(ctx, who, r)
	}
	op.Previews = true
	return op
}

// unpreviewed rejects ?preview=true on a change that has no preview: a caller who sends it
// does not want the change.
func unpreviewed(op wire.Operation) wire.Operation {
	act := op.Serve
	op.Serve = func(ctx context.Context, who wire.Principal, r *http.Request) (wire.Body, error) {
		query, err := wire.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return nil, err
		}
		if query.Has("preview") {
			return nil, lyceum.InvalidFields(lyceum.FieldError{Field: "preview", Message: "is not available for this request"})
		}
		return act(ctx, who, r)
	}
	return op
}

// shownPreview is gen.OnePreview or gen.OneSalePreview.
type shownPreview struct {
	preview any
	meta    wire.PageMeta
}

// Status implements wire.StatusBody: a preview creates and deletes nothing.
func (shownPreview) Status() int { return http.StatusOK }

func (s shownPreview) AppendJSON(b []byte) ([]byte, error) {
	b, err := wire.JSON{Value: s.preview}.AppendJSON(append(b, `{"preview":`...))
	if err != nil {
		return b, err
	}
	b, err = s.meta.AppendJSON(append(b, `,"meta":`...))
	return append(b, '}'), err
}

// shownSalePreview is gen.SalePreview, which repeats the fields of gen.Preview.
type shownSalePreview struct {
	gen.Preview

	EndsSale bool              `json:"ends_sale"`
	Reopens  *int32            `json:"reopens_sale_id"`
	Sale     gen.Sale          `json:"sale"`
	Money    *gen.PreviewMoney `json:"money"`
	Warnings []gen.SaleWarning `json:"warnings"`
}

func salePreview(p *sales.Preview) shownPreview {
	shown := shownSalePreview{
		Preview: previewOf(&p.AccessPreview), EndsSale: p.EndsSale, Reopens: wire.Number(p.Reopens), Sale: sale(p.Sale),
		Warnings: saleWarnings(p.Warnings),
	}
	if m := &p.Money.Value; p.Money.Present {
		shown.Money = &gen.PreviewMoney{
			TransactionID: int32(m.Transaction.ID), Currency: string(m.Transaction.Currency),
			AmountRefunded: int32(m.Refunded.Price), TaxRefunded: int32(m.Refunded.Tax),
			AmountDisputed: int32(m.Disputed.Price), TaxDisputed: int32(m.Disputed.Tax), Fee: int32(m.Fee),
			AmountLeft: int32(m.Left.Price), TaxLeft: int32(m.Left.Tax),
		}
	}
	return shownPreview{shown, previewMeta(&p.AccessPreview)}
}

func accessPreview(p *lyceum.AccessPreview) shownPreview {
	return shownPreview{previewOf(p), previewMeta(p)}
}

func previewMeta(p *lyceum.AccessPreview) wire.PageMeta {
	return wire.PageMeta{Page: p.Changes.Page, Total: p.Changes.Total}
}

func previewOf(p *lyceum.AccessPreview) gen.Preview {
	shown := gen.Preview{
		At: wire.Moment(p.At), LosingCount: int32(p.People.Losing), KeepingCount: int32(p.People.Keeping),
		GainingCount: int32(p.People.Gaining), Products: []gen.PreviewProduct{}, Access: []gen.PreviewAccess{},
		EndedSaleIds: []int32{},
	}
	for _, id := range p.Ends {
		shown.EndedSaleIds = append(shown.EndedSaleIds, int32(id))
	}
	for _, of := range p.Products {
		shown.Products = append(shown.Products, gen.PreviewProduct{
			ProductType: gen.PreviewProductProductType(of.Product.Kind), ProductID: of.Product.ID,
			Name: p.Names[of.Product].Name, LosingCount: int32(of.Losing), KeepingCount: int32(of.Keeping),
			GainingCount: int32(of.Gaining),
		})
	}
	for i := range p.Changes.Rows {
		shown.Access = append(shown.Access, previewAccess(p, &p.Changes.Rows[i]))
	}
	return shown
}

func previewAccess(p *lyceum.AccessPreview, c *lyceum.AccessChange) gen.PreviewAccess {
	user := p.Users[c.User]
	shown := gen.PreviewAccess{
		UserID: int32(c.User), Email: user.Email, Name: wire.Optional(user.Name),
		ProductType: gen.PreviewAccessProductType(c.Product.Kind), ProductID: c.Product.ID,
		Effect: gen.PreviewAccessEffect(c.Effect()), EndsAt: wire.OptMoment(c.Is.Ends),
		OtherwiseEndsAt: wire.OptMoment(c.Was.Ends), Keeps: []gen.PreviewReason{},
	}
	if !c.Is.Open {
		shown.EndsAt = wire.OptMoment(lyceum.Some(p.At))
	}
	for _, e := range c.Keeps {
		shown.Keeps = append(shown.Keeps, gen.PreviewReason{
			ProductType: gen.PreviewReasonProductType(e.Product.Kind), ProductID: e.Product.ID, SaleID: wire.Number(e.Sale),
			Imported: e.Imported, EndsAt: wire.OptMoment(e.EndsAt),
		})
	}
	return shown
}
