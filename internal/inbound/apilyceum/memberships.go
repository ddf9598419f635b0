package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) memberships() []wire.Operation {
	const all, each, name = "/lyceum/v1/memberships", "/lyceum/v1/memberships/{membership_id}", "membership"
	m := f.Learning.Memberships()
	bindNew := created(lyceum.Membership{}, bindMembership)
	bindChange := changed(byMembership, bindMembership)
	return []wire.Operation{
		wire.Many("listMemberships", all, perPage, bindProducts, m.List, "memberships", membership),
		one("createMembership", wire.Create, all, bindNew, m.Create, name, membership).Long(),
		one("showMembership", wire.Get, each, byMembership, m.Get, name, membership),
		one("updateMembership", wire.Patch, each, bindChange, m.Update, name, membership).Long(),
		one("archiveMembership", wire.Run, each+"/archive", wire.NoBody(byMembership), m.Archive, name, membership),
	}
}

func (f *Face) membershipTiers() []wire.Operation {
	const all, each = "/lyceum/v1/memberships/{membership_id}/tiers", "/lyceum/v1/membership_tiers/{membership_tier_id}"
	const name, inside = "membership_tier", each + "/products"
	t, products, kinds := f.Learning.MembershipTiers(), f.Learning.TierProducts(), lyceum.TierKinds()
	bindChange := changed(byTier, bindTier)
	return []wire.Operation{
		wire.Many(
			"listMembershipTiers", all, perPage, bindTiers, f.Learning.ListMembershipTiers, "membership_tiers", membershipTier,
		),
		one("createMembershipTier", wire.Create, all, bindNewTier, f.Learning.CreateMembershipTier, name,
			membershipTier).Long(),
		one("showMembershipTier", wire.Get, each, byTier, t.Get, name, membershipTier),
		one("updateMembershipTier", wire.Patch, each, bindChange, t.Update, name, membershipTier).Long(),
		one("archiveMembershipTier", wire.Run, each+"/archive", wire.NoBody(byTier), t.Archive, name, membershipTier),
		wire.Many("listTierProducts", inside, perPage, byTier, products.List, "products", includedProduct),
		one("addTierProduct", wire.Run, inside, bindProductIn(byTier, kinds), products.Add, "product",
			includedProduct),
		previewed(
			wire.None(
				"removeTierProduct", wire.Delete, inside+"/{product_type}/{product_id}", tierRemoval, products.Remove,
			),
			tierRemoval, products.PreviewRemove, accessPreview,
		),
	}
}

var (
	byMembership = wire.ByID[lyceum.MembershipID]("membership_id")
	byTier       = wire.ByID[lyceum.MembershipTierID]("membership_tier_id")
)

func bindMembership(in *wire.Input, name wire.Field) func(*lyceum.Membership) {
	named, description, image := name.Text(1, maxName), bindText(in, "description", maxDescription), bindImage(in)
	published := in.Body("is_published").Bool()
	return func(m *lyceum.Membership) {
		set(&m.Name, named)
		set(&m.Description, description)
		set(&m.ImageURL, image)
		set(&m.IsPublished, published)
	}
}

func membership(m lyceum.Membership) gen.Membership {
	return gen.Membership{
		ID: int32(m.ID), Name: m.Name, Description: wire.Optional(m.Description), ImageURL: wire.Optional(m.ImageURL),
		IsPublished: m.IsPublished, CreatedAt: wire.Moment(m.CreatedAt), UpdatedAt: wire.Moment(m.UpdatedAt),
		ArchivedAt: wire.OptMoment(m.ArchivedAt),
	}
}

func bindTiers(in *wire.Input) lyceum.MembershipTierFilter {
	return lyceum.MembershipTierFilter{
		MembershipID: lyceum.Some(byMembership(in)), IsArchived: in.Query("is_archived").Bool(),
	}
}

func bindNewTier(in *wire.Input) lyceum.MembershipTier {
	return created(lyceum.MembershipTier{MembershipID: byMembership(in)}, bindTier)(in)
}

func bindTier(in *wire.Input, name wire.Field) func(*lyceum.MembershipTier) {
	named, description := name.Text(1, maxName), bindText(in, "description", maxDescription)
	position, published := wire.ID[int32](in.Body("position")), in.Body("is_published").Bool()
	return func(t *lyceum.MembershipTier) {
		set(&t.Name, named)
		set(&t.Description, description)
		set(&t.Position, position)
		set(&t.IsPublished, published)
	}
}

func membershipTier(t lyceum.MembershipTier) gen.MembershipTier {
	return gen.MembershipTier{
		ID: int32(t.ID), MembershipID: int32(t.MembershipID), Name: t.Name, Description: wire.Optional(t.Description),
		Position: t.Position, IsPublished: t.IsPublished, CreatedAt: wire.Moment(t.CreatedAt),
		UpdatedAt: wire.Moment(t.UpdatedAt), ArchivedAt: wire.OptMoment(t.ArchivedAt),
	}
}

// tierRemoval binds the removal of a product from a tier.
func tierRemoval(in *wire.Input) learning.Removal[lyceum.MembershipTierID] {
	return learning.Removal[lyceum.MembershipTierID]{ProductIn: byProductIn(byTier, lyceum.TierKinds())(in)}
}
