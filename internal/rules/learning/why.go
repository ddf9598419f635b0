package learning

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// HeldProduct is a product that a user has or had a reason to use, with the access that the
// reasons give now.
type HeldProduct struct {
	lyceum.ProductInfo

	HasAccess bool
	EndsAt    lyceum.Opt[time.Time] // of the present access
	BlockedAt lyceum.Opt[time.Time]
	Reasons   []AccessReason // at most maxReasons: the active ones first, then the latest
	Count     int            // of all reasons
}

// maxReasons is the maximum number of reasons that are shown for a product.
const maxReasons = 100

// AccessReason is an entitlement that reaches a product.
type AccessReason struct {
	lyceum.Entitlement

	Active  bool
	Blocked bool                           // overridden by a block of the product, or of the collection that it comes with
	Through lyceum.Opt[lyceum.ProductInfo] // what the entitlement is for, if the product comes with that
	Left    lyceum.Opt[lyceum.ProductInfo] // the collection that the product left, from which it was kept
	Plan    lyceum.Opt[lyceum.PricingPlan] // of the sale
	Charged bool                           // the sale is recurring, and not paid in full yet
}

// Access lists the products that a user has or had a reason to use, by kind and id, all from one
// snapshot. It fails with NotFound.
func (s *Service) Access(
	ctx context.Context, by lyceum.By, user lyceum.UserID, p lyceum.Page,
) (listing lyceum.Listing[HeldProduct], err error) {
	now := s.clock()
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if _, err := v.Users.Get(v, user); err != nil {
			return err
		}
		held, err := holdingsOf(v, user)
		if err != nil {
			return err
		}
		products := held.products()
		listing = lyceum.Listing[HeldProduct]{Page: p, Total: int64(len(products))}
		from := min(p.Offset(), listing.Total)
		to := min(from+int64(p.Size), listing.Total)
		listing.More = to < listing.Total
		for _, product := range products[from:to] {
			listing.Rows = append(listing.Rows, held.of(product, now))
		}
		return nameHeld(v, user, now, held, listing.Rows)
	})
	return listing, err
}

// AccessTo returns the reasons for which a user has or had access to one product. It fails with
// NotFound for a user or product that does not exist.
func (s *Service) AccessTo(ctx context.Context, by lyceum.By, q UserProduct) (held HeldProduct, err error) {
	now := s.clock()
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if err := exist(v.Tables, v, q.Product, q.User); err != nil {
			return err
		}
		all, err := holdingsOf(v, q.User)
		if err != nil {
			return err
		}
		rows := []HeldProduct{all.of(q.Product, now)}
		err = nameHeld(v, q.User, now, all, rows)
		held = rows[0]
		return err
	})
	return held, err
}

// holdings are all entitlements and blocks of a user.
type holdings struct {
	own     map[lyceum.EntitlementID]lyceum.Entitlement // as they were given
	reach   map[lyceum.Product][]lyceum.EntitlementID
	free    map[lyceum.Product]map[lyceum.EntitlementID]bool // entitlements that no block overrides
	blocked map[lyceum.Product]time.Time
}

func holdingsOf(v lyceum.View, user lyceum.UserID) (*holdings, error) {
	h := &holdings{
		own:     map[lyceum.EntitlementID]lyceum.Entitlement{},
		reach:   map[lyceum.Product][]lyceum.EntitlementID{},
		free:    map[lyceum.Product]map[lyceum.EntitlementID]bool{},
		blocked: map[lyceum.Product]time.Time{},
	}
	of := lyceum.EntitlementFilter{User: lyceum.Some(user), Blocked: true}
	err := v.Entitlements.Each(v, of, func(e *lyceum.Entitlement) error {
		h.own[e.ID] = *e
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = v.Access.Each(v, of, func(e *lyceum.Entitlement) error {
		if ids := h.reach[e.Product]; len(ids) == 0 || ids[len(ids)-1] != e.ID { // they come ordered by id, some twice
			h.reach[e.Product] = append(ids, e.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	of.Blocked = false
	err = v.Access.Each(v, of, func(e *lyceum.Entitlement) error {
		if h.free[e.Product] == nil {
			h.free[e.Product] = map[lyceum.EntitlementID]bool{}
		}
		h.free[e.Product][e.ID] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, v.Blocks.Each(v, lyceum.BlockFilter{User: lyceum.Some(user)}, func(b *lyceum.Block) error {
		h.blocked[b.Product] = b.CreatedAt
		return nil
	})
}

// products returns the products that are reached or blocked, in order.
func (h *holdings) products() []lyceum.Product {
	var list []lyceum.Product
	for p := range h.reach {
		list = append(list, p)
	}
	for p := range h.blocked {
		if _, there := h.reach[p]; !there {
			list = append(list, p)
		}
	}
	kinds := lyceum.ProductKinds()
	slices.SortFunc(list, func(a, b lyceum.Product) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// of returns a product with its reasons, without names.
func (h *holdings) of(p lyceum.Product, now time.Time) HeldProduct {
	held := HeldProduct{ProductInfo: lyceum.ProductInfo{Product: p}, Count: len(h.reach[p])}
	if at, blocked := h.blocked[p]; blocked {
		held.BlockedAt = lyceum.Some(at)
	}
	for _, id := range h.reach[p] {
		e := h.own[id]
		r := AccessReason{Entitlement: e, Active: e.OpenAt(now), Blocked: !h.free[p][id]}
		if r.Active && !r.Blocked && (!held.HasAccess || e.Outlasts(held.EndsAt)) {
			held.HasAccess, held.EndsAt = true, e.EndsAt
		}
		held.Reasons = append(held.Reasons, r)
	}
	slices.SortFunc(held.Reasons, func(a, b AccessReason) int {
		switch {
		case a.Active && !b.Active:
			return -1
		case b.Active && !a.Active:
			return 1
		}
		return cmp.Or(b.StartsAt.Compare(a.StartsAt), cmp.Compare(b.ID, a.ID))
	})
	held.Reasons = held.Reasons[:min(len(held.Reasons), maxReasons)]
	return held
}

// nameHeld adds the names of products, and of those that they came with.
func nameHeld(v lyceum.View, user lyceum.UserID, now time.Time, h *holdings, rows []HeldProduct) error {
	wanted, sold := map[lyceum.Product]bool{}, map[lyceum.SaleID]bool{}
	for i := range rows {
		wanted[rows[i].Product] = true
		for _, r := range rows[i].Reasons {
			wanted[r.Product] = true
			wanted[h.own[r.KeptFrom.Value].Product] = true // the zero Product if there is none
			sold[r.Sale.Value] = true
		}
	}
	delete(wanted, lyceum.Product{})
	delete(sold, 0)
	products, err := v.FindNamed(user, now, slices.Collect(maps.Keys(wanted)))
	if err != nil {
		return err
	}
	plans, err := plansOf(v, slices.Collect(maps.Keys(sold)))
	if err != nil {
		return err
	}
	info := func(p lyceum.Product) lyceum.ProductInfo {
		known := products[p]
		known.Product = p
		return known.Info()
	}
	for i := range rows {
		row := &rows[i]
		row.ProductInfo = info(row.Product)
		for n := range row.Reasons {
			r := &row.Reasons[n]
			if r.Product != row.Product {
				r.Through = lyceum.Some(info(r.Product))
			}
			if from, known := h.own[r.KeptFrom.Value]; known {
				r.Left = lyceum.Some(info(from.Product))
			}
			if of, known := plans[r.Sale.Value]; known {
				r.Plan, r.Charged = lyceum.Some(of.plan), of.plan.Recurring() && !of.paidInFull
			}
		}
	}
	return nil
}

// soldPlan is the pricing plan of a sale.
type soldPlan struct {
	plan       lyceum.PricingPlan
	paidInFull bool
}

// plansOf returns the pricing plans of sales, by sale.
func plansOf(v lyceum.View, ids []lyceum.SaleID) (map[lyceum.SaleID]soldPlan, error) {
	sales, err := v.Sales.Find(v, ids...)
	if err != nil {
		return nil, err
	}
	var wanted []lyceum.PricingPlanID
	for _, sale := range sales {
		wanted = append(wanted, sale.PricingPlanID.Value)
	}
	found, err := v.PricingPlans.Find(v, wanted...)
	plans := make(map[lyceum.SaleID]soldPlan, len(sales))
	for id, sale := range sales {
		if plan, known := found[sale.PricingPlanID.Value]; known {
			plans[id] = soldPlan{plan.For(&sale), sale.PaidInFull}
		}
	}
	return plans, err
}
