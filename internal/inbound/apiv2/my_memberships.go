package apiv2

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) myMemberships() []wire.Operation {
	return []wire.Operation{
		many("listCurrentUserMemberships", myMembershipsPath, perPage, wire.Anything, f.listMyMemberships, myMembership),
		one(
			"showCurrentUserMembership", wire.Get, myMembershipsPath+"/{membership_id}",
			wire.ByID[lyceum.MembershipID]("membership_id"), f.showMyMembership, myMembershipDetail,
		),
	}
}

// paidMembership is a learner's membership and the state of its payments.
type paidMembership struct {
	learning.MembershipDetail

	payment lyceum.Opt[sales.Standing]
}

func (f *Face) listMyMemberships(
	ctx context.Context, by lyceum.By, _ struct{}, p lyceum.Page,
) (lyceum.Listing[paidMembership], error) {
	found, err := f.learning.HeldMemberships(ctx, by, p)
	list := lyceum.Listing[paidMembership]{Page: found.Page, Total: found.Total, More: found.More}
	if err != nil {
		return list, err
	}
	for _, held := range found.Rows {
		list.Rows = append(list.Rows, paidMembership{MembershipDetail: learning.MembershipDetail{Held: held}})
	}
	return list, f.payments(ctx, by, list.Rows)
}

func (f *Face) showMyMembership(
	ctx context.Context, by lyceum.By, id lyceum.MembershipID,
) (paidMembership, error) {
	found, err := f.learning.HeldMembership(ctx, by, id)
	if err != nil {
		return paidMembership{}, err
	}
	rows := []paidMembership{{MembershipDetail: found}}
	err = f.payments(ctx, by, rows)
	return rows[0], err
}

// payments adds the state of its payments to each membership.
func (f *Face) payments(ctx context.Context, by lyceum.By, rows []paidMembership) error {
	var bought []lyceum.SaleID
	for i := range rows {
		if sale := rows[i].Sale; sale.Present {
			bought = append(bought, sale.Value)
		}
	}
	standings, err := f.sales.Standings(ctx, by, bought...)
	for i := range rows {
		if standing, known := standings[rows[i].Sale.Value]; known {
			rows[i].payment = lyceum.Some(standing)
		}
	}
	return err
}

func myMembership(p paidMembership) gen.LearnerMembership {
	m := p.Membership.Value
	path := myPath(&p.Held)
	return gen.LearnerMembership{
		ID: int32(m.ID), Name: m.Name, Description: wire.Optional(m.Description), ImageURL: wire.Optional(p.ImageURL),
		Href:       *path,
		Tier:       gen.LearnerTier{ID: p.Product.ID, Name: p.Name, Description: wire.Optional(p.Description)},
		EnrolledAt: wire.Moment(p.Since), ExpiresAt: wire.OptMoment(p.Until), Payment: myPayment(p.payment),
	}
}

func myMembershipDetail(p paidMembership) gen.LearnerMembershipDetail {
	m := myMembership(p)
	detail := gen.LearnerMembershipDetail{
		ID: m.ID, Name: m.Name, Description: m.Description, ImageURL: m.ImageURL, Href: m.Href, Tier: m.Tier,
		EnrolledAt: m.EnrolledAt, ExpiresAt: m.ExpiresAt, Payment: m.Payment, Products: []gen.LearnerProduct{},
	}
	for _, product := range p.Products {
		detail.Products = append(detail.Products, myProduct(product))
	}
	return detail
}

func myPayment(s lyceum.Opt[sales.Standing]) *gen.LearnerPayment {
	if !s.Present {
		return nil
	}
	shown := &gen.LearnerPayment{
		PaidUntil: wire.OptMoment(s.Value.PaidUntil), Purchase: reference(myPurchasesPath, s.Value.ID),
	}
	if status := string(s.Value.Status.Value); s.Value.Status.Present {
		shown.Status = &status
	}
	return shown
}
