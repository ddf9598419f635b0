package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) affiliates() []wire.Operation {
	const all, each, name = "/lyceum/v1/affiliates", "/lyceum/v1/affiliates/{affiliate_id}", "affiliate"
	l := f.Learning
	return []wire.Operation{
		wire.Many("listAffiliates", all, perPage, bindPartners, l.Affiliates, "affiliates", affiliate),
		one("createAffiliate", wire.Create, all, bindNewAffiliate, l.CreateAffiliate, name, affiliate),
		one("showAffiliate", wire.Get, each, byAffiliate, l.Affiliate, name, affiliate),
		one("updateAffiliate", wire.Patch, each, bindAffiliateChange, l.UpdateAffiliate, name, affiliate),
		one("archiveAffiliate", wire.Run, each+"/archive", wire.NoBody(byAffiliate), l.ArchiveAffiliate, name, affiliate),
	}
}

var byAffiliate = wire.ByID[lyceum.AffiliateID]("affiliate_id")

func bindPartners(in *wire.Input) lyceum.PartnerFilter {
	return lyceum.PartnerFilter{
		UserID: wire.ID[lyceum.UserID](in.Query("user_id")), IsArchived: in.Query("is_archived").Bool(),
	}
}

func bindNewAffiliate(in *wire.Input) learning.AffiliateChange {
	return bindAffiliate(in, in.Body("name").Required())
}

func bindAffiliateChange(in *wire.Input) learning.AffiliateChange {
	q := bindAffiliate(in, in.Body("name"))
	q.ID = byAffiliate(in)
	return q
}

func bindAffiliate(in *wire.Input, name wire.Field) learning.AffiliateChange {
	b := in.Body
	return learning.AffiliateChange{
		Name:       name.Text(1, lyceum.MaxShopName),
		UserID:     wire.Nullable(b("user_id"), wire.ID[lyceum.UserID](b("user_id"))),
		Share:      wire.Nullable(b("share"), b("share").Fraction(0)),
		CookieDays: wire.Nullable(b("cookie_days"), wire.Int[int32](b("cookie_days"), 0, maxCookieDays)),
	}
}

func affiliate(a lyceum.AffiliatePartner) gen.Affiliate {
	return gen.Affiliate{
		ID: int32(a.ID), Name: wire.Optional(a.Name), UserID: wire.Number(a.UserID), Share: wire.Optional(a.Share),
		CookieDays: wire.Number(a.CookieDays), ArchivedAt: wire.OptMoment(a.ArchivedAt),
	}
}
