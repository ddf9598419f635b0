package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// saleNames has the names of the objects that some transactions refer to.
type saleNames struct {
	users, affiliates, authors map[int32]lyceum.Named

	plans    map[lyceum.PricingPlanID]lyceum.PricingPlan
	products map[lyceum.Product]lyceum.ProductInfo
	coupons  map[lyceum.CouponID]lyceum.Coupon
}

// saleNamesOf finds the names for transactions, with one query for each kind.
func saleNamesOf(v lyceum.View, transactions []lyceum.Transaction) (n saleNames, err error) {
	var users, affiliates, authors []int32
	var plans []lyceum.PricingPlanID
	var coupons []lyceum.CouponID
	for i := range transactions {
		t := &transactions[i]
		users, plans = append(users, int32(t.UserID)), append(plans, t.PricingPlanID)
		if t.AffiliateID.Present {
			affiliates = append(affiliates, int32(t.AffiliateID.Value))
		}
		if t.AuthorID.Present {
			authors = append(authors, int32(t.AuthorID.Value))
		}
		if t.CouponID.Present {
			coupons = append(coupons, t.CouponID.Value)
		}
	}
	if n.users, err = v.FindNames(lyceum.UserSequence, distinct(users)); err != nil {
		return n, err
	}
	if n.plans, err = v.PricingPlans.Find(v, distinct(plans)...); err != nil {
		return n, err
	}
	var products []lyceum.Product
	for _, plan := range n.plans {
		if product := plan.Product(); product.Present && !slices.Contains(products, product.Value) {
			products = append(products, product.Value)
		}
	}
	if n.products, err = lyceum.FindProducts(v.Tables, v, products...); err != nil {
		return n, err
	}
	if len(affiliates) > 0 {
		if n.affiliates, err = v.FindNames(lyceum.AffiliateSequence, distinct(affiliates)); err != nil {
			return n, err
		}
	}
	if len(authors) > 0 {
		if n.authors, err = v.FindNames(lyceum.AuthorSequence, distinct(authors)); err != nil {
			return n, err
		}
	}
	if len(coupons) > 0 {
		n.coupons, err = v.Coupons.Find(v, distinct(coupons)...)
	}
	return n, err
}

func distinct[ID ~int32](ids []ID) []ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (n *saleNames) plan(t *lyceum.Transaction) string {
	return planName(n.plans[t.PricingPlanID].Name, t.PricingPlanID)
}

// product returns the name of what was bought, or "" if it is unknown.
func (n *saleNames) product(t *lyceum.Transaction) string {
	plan := n.plans[t.PricingPlanID]
	product := plan.Product()
	if !product.Present {
		return ""
	}
	info := n.products[product.Value]
	info.Product = product.Value
	return productLabel(info)
}

// coupon, affiliate and author return "" if there is none.
func (n *saleNames) coupon(t *lyceum.Transaction) string {
	if !t.CouponID.Present {
		return ""
	}
	coupon := n.coupons[t.CouponID.Value]
	return couponName(&coupon, t.CouponID.Value)
}

func (n *saleNames) affiliate(t *lyceum.Transaction) string {
	if !t.AffiliateID.Present {
		return ""
	}
	id := int32(t.AffiliateID.Value)
	return called(n.affiliates[id], fmt.Sprintf("Affiliate %d", id))
}

func (n *saleNames) author(t *lyceum.Transaction) string {
	if !t.AuthorID.Present {
		return ""
	}
	id := int32(t.AuthorID.Value)
	return called(n.authors[id], fmt.Sprintf("Author %d", id))
}

// couponName returns what a coupon is called: its code, its name or its number.
func couponName(c *lyceum.Coupon, id lyceum.CouponID) string {
	for _, name := range []string{c.Code.Value, c.Name.Value} {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return fmt.Sprintf("Coupon %d", id)
}
