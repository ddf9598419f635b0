package apilyceum

import (
	"math"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) access() []wire.Operation {
	const all = "/lyceum/v1/users/{user_id}/access"
	const each = all + "/{product_type}/{product_id}"
	l := f.Learning
	return []wire.Operation{
		wire.Many("listUserAccess", all, perPage, bindUser, l.Access, "access", userAccess),
		previewed(
			wire.None("endUserAccess", wire.Delete, each, wire.NoBody(bindUserProduct), l.Unenroll),
			wire.NoBody(bindUserProduct), l.PreviewUnenroll, accessPreview,
		),
		one("createEnrollment", wire.Create, "/lyceum/v1/enrollments", bindGift, l.Give, "enrollment", enrollment),
	}
}

func bindUserProduct(in *wire.Input) learning.UserProduct {
	return learning.UserProduct{User: bindUser(in), Product: lyceum.Product{
		Kind: wire.PathWord(in, "product_type", lyceum.ProductKinds()...), ID: wire.PathID[int32](in, "product_id"),
	}}
}

func bindGift(in *wire.Input) learning.Gift {
	user := wire.ID[lyceum.UserID](in.Body("user_id").Required())
	product := lyceum.Product{
		Kind: wire.OneOf(in.Body("product_type").Required(), lyceum.ProductKinds()...).Value,
		ID:   wire.ID[int32](in.Body("product_id").Required()).Value,
	}
	return learning.Gift{
		UserProduct: learning.UserProduct{User: user.Value, Product: product}, EndsAt: in.Body("ends_at").Time(),
	}
}

func enrollment(e lyceum.Entitlement) gen.Enrollment {
	return gen.Enrollment{
		ID: int32(e.ID), UserID: int32(e.User), ProductType: gen.AnyProductType(e.Product.Kind), ProductID: e.Product.ID,
		StartsAt: wire.Moment(e.StartsAt), EndsAt: wire.OptMoment(e.EndsAt),
	}
}

func userAccess(h learning.HeldProduct) gen.UserAccess {
	held := gen.UserAccess{
		Product: accessProduct(h.ProductInfo), HasAccess: h.HasAccess, EndsAt: wire.OptMoment(h.EndsAt),
		BlockedAt: wire.OptMoment(h.BlockedAt), Reasons: make([]gen.AccessReason, len(h.Reasons)),
		ReasonCount: int32(min(h.Count, math.MaxInt32)),
	}
	for i := range h.Reasons {
		held.Reasons[i] = accessReason(&h.Reasons[i])
	}
	return held
}

func accessReason(r *learning.AccessReason) gen.AccessReason {
	shown := gen.AccessReason{
		ID: int32(r.ID), Kind: gen.AccessReasonKind(r.Kind()), IsActive: r.Active, IsBlocked: r.Blocked,
		Through: (*gen.AccessThrough)(optProduct(r.Through)), KeptFrom: (*gen.AccessKeptFrom)(optProduct(r.Left)),
		StartsAt: wire.Moment(r.StartsAt), EndsAt: wire.OptMoment(r.EndsAt),
		EndedAt: wire.OptMoment(r.EndedAt), EndReason: (*gen.AccessReasonEndReason)(text(r.EndReason)),
	}
	if r.Sale.Present {
		shown.Sale = &gen.AccessSale{ID: int32(r.Sale.Value)}
		if r.Plan.Present {
			id := int32(r.Plan.Value.ID)
			shown.Sale.PricingPlanID, shown.Sale.PricingPlanName = &id, &r.Plan.Value.Name
		}
	}
	return shown
}

func accessProduct(p lyceum.ProductInfo) gen.AccessProduct {
	return gen.AccessProduct{Type: gen.AnyProductType(p.Product.Kind), ID: p.Product.ID, Name: p.Name}
}

func optProduct(o lyceum.Opt[lyceum.ProductInfo]) *gen.AccessProduct {
	if !o.Present {
		return nil
	}
	p := accessProduct(o.Value)
	return &p
}
