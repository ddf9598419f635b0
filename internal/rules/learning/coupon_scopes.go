package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// ScopedCoupon is a coupon with the pricing plan or the product that it is for, if it is for
// one.
type ScopedCoupon struct {
	UsedCoupon

	For     lyceum.Opt[lyceum.PricingPlan]
	Product lyceum.Opt[lyceum.ProductInfo]
}

// ScopedCoupons lists coupons with what they are for.
func (s *Service) ScopedCoupons(
	ctx context.Context, by lyceum.By, f lyceum.CouponFilter, p lyceum.Page,
) (lyceum.Listing[ScopedCoupon], error) {
	found, err := s.Coupons(ctx, by, f, p)
	if err != nil {
		return lyceum.Listing[ScopedCoupon]{}, err
	}
	scoped, err := s.scoped(ctx, by, found.Rows...)
	return lyceum.Listing[ScopedCoupon]{Page: found.Page, Total: found.Total, More: found.More, Rows: scoped}, err
}

// scoped adds to coupons what they are for.
func (s *Service) scoped(ctx context.Context, by lyceum.By, coupons ...UsedCoupon) ([]ScopedCoupon, error) {
	var ids []lyceum.PricingPlanID
	var products []lyceum.Product
	for i := range coupons {
		if coupons[i].Plan.Present {
			ids = append(ids, coupons[i].Plan.Value)
		}
		if coupons[i].Product.Present {
			products = append(products, coupons[i].Product.Value)
		}
	}
	v := s.store.In(ctx, by.School)
	plans, err := v.PricingPlans.Find(v, ids...)
	if err != nil {
		return nil, err
	}
	infos, err := lyceum.FindProducts(v.Tables, v, products...)
	scoped := make([]ScopedCoupon, len(coupons))
	for i, c := range coupons {
		scoped[i].UsedCoupon = c
		if plan, there := plans[c.Plan.Value]; there {
			scoped[i].For = lyceum.Some(plan)
		}
		if info, there := infos[c.Product.Value]; there {
			scoped[i].Product = lyceum.Some(info)
		}
	}
	return scoped, err
}

// ofCoupon wraps a rule so that it returns its coupon with what the coupon is for.
func ofCoupon[P any](
	s *Service, rule func(context.Context, lyceum.By, P) (UsedCoupon, error),
) func(context.Context, lyceum.By, P) (ScopedCoupon, error) {
	return func(ctx context.Context, by lyceum.By, q P) (ScopedCoupon, error) {
		c, err := rule(ctx, by, q)
		if err != nil {
			return ScopedCoupon{}, err
		}
		scoped, err := s.scoped(ctx, by, c)
		if err != nil {
			return ScopedCoupon{}, err
		}
		return scoped[0], nil
	}
}

// ScopedCoupon returns a coupon with what it is for. It fails with NotFound.
func (s *Service) ScopedCoupon(ctx context.Context, by lyceum.By, id lyceum.CouponID) (ScopedCoupon, error) {
	return ofCoupon(s, s.Coupon)(ctx, by, id)
}

// CreateScopedCoupon creates a coupon with an explicit scope. It fails with Conflict if another
// coupon has the code.
func (s *Service) CreateScopedCoupon(ctx context.Context, by lyceum.By, params CouponChange) (ScopedCoupon, error) {
	if wrong := params.scopeProblems(); len(wrong) > 0 {
		return ScopedCoupon{}, lyceum.InvalidFields(wrong...)
	}
	return ofCoupon(s, s.CreateCoupon)(ctx, by, params)
}

// leastPercent is the smallest share of a price that a coupon takes off.
const leastPercent = 0.0001

// scopeProblems returns what is wrong with a coupon that must have exactly one scope and a
// discount above zero.
func (c *CouponChange) scopeProblems() (wrong []lyceum.FieldError) {
	refuse := func(field, message string) {
		wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
	}
	scopes := 0
	for _, given := range []bool{c.Scope.Value.Present, c.Product.Value.Present, c.Plan.Value.Present} {
		if given {
			scopes++
		}
	}
	if scopes != 1 {
		refuse("scope_type", "must be sent, or pricing_plan_id, or product_type with product_id, and no two of them")
	}
	if p := c.Product.Value; p.Present && p.Value.Kind == "" {
		refuse("product_type", "is required when product_id is used")
	} else if p.Present && p.Value.ID == 0 {
		refuse("product_id", "is required when product_type is used")
	}
	if p := c.Percent.Value; p.Present && p.Value < leastPercent {
		refuse("discount_percent", "must be a number from 0.0001 to 1")
	}
	return wrong
}

// UpdateScopedCoupon changes a coupon. It fails with NotFound.
func (s *Service) UpdateScopedCoupon(ctx context.Context, by lyceum.By, params CouponChange) (ScopedCoupon, error) {
	return ofCoupon(s, s.UpdateCoupon)(ctx, by, params)
}

// RetireCoupon archives a coupon, so that it cannot be used for new sales. It succeeds even if
// the coupon does not exist.
func (s *Service) RetireCoupon(ctx context.Context, by lyceum.By, id lyceum.CouponID) error {
	_, err := s.ArchiveCoupon(ctx, by, id)
	if err != nil && lyceum.KindOf(err) == lyceum.NotFound {
		return nil
	}
	return err
}
