package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// UsedCoupon is a coupon and how often it is used.
type UsedCoupon struct {
	lyceum.Coupon

	Uses int64
}

// Coupons lists the coupons of a school.
func (s *Service) Coupons(
	ctx context.Context, by lyceum.By, f lyceum.CouponFilter, p lyceum.Page,
) (lyceum.Listing[UsedCoupon], error) {
	v := s.store.In(ctx, by.School)
	found, err := v.Coupons.List(v, f, p)
	if err != nil {
		return lyceum.Listing[UsedCoupon]{}, err
	}
	used, err := withUses(v, found.Rows...)
	return lyceum.Listing[UsedCoupon]{Page: found.Page, Total: found.Total, More: found.More, Rows: used}, err
}

func withUses(r lyceum.Reads, coupons ...lyceum.Coupon) ([]UsedCoupon, error) {
	ids, used := make([]lyceum.CouponID, len(coupons)), make([]UsedCoupon, len(coupons))
	for i := range coupons {
		ids[i] = coupons[i].ID
	}
	taken, err := r.CountTaken(nil, ids)
	for i := range coupons {
		used[i] = UsedCoupon{coupons[i], taken.Uses[coupons[i].ID]}
	}
	return used, err
}

func withUse(r lyceum.Reads, c lyceum.Coupon) (UsedCoupon, error) {
	used, err := withUses(r, c)
	return used[0], err
}

// Coupon returns a coupon. It fails with NotFound.
func (s *Service) Coupon(ctx context.Context, by lyceum.By, id lyceum.CouponID) (UsedCoupon, error) {
	v := s.store.In(ctx, by.School)
	c, err := v.Coupons.Get(v, id)
	if err != nil {
		return UsedCoupon{}, err
	}
	return withUse(v, c)
}

// CouponChange is a change to a coupon. Absent fields stay unchanged.
type CouponChange struct {
	ID          lyceum.CouponID
	Code        lyceum.Opt[string]
	Name        lyceum.Opt[lyceum.Opt[string]]
	Percent     lyceum.Opt[lyceum.Opt[float64]]
	Amount      lyceum.Opt[lyceum.Opt[lyceum.Minor]]
	Currency    lyceum.Opt[lyceum.Opt[lyceum.Currency]]
	Duration    lyceum.Opt[lyceum.CouponDuration]
	Months      lyceum.Opt[lyceum.Opt[int32]]
	Available   lyceum.Opt[lyceum.Opt[int32]]
	ExpiresAt   lyceum.Opt[lyceum.Opt[time.Time]]
	Scope       lyceum.Opt[lyceum.Opt[lyceum.CouponScope]]
	Product     lyceum.Opt[lyceum.Opt[lyceum.Product]]
	Plan        lyceum.Opt[lyceum.Opt[lyceum.PricingPlanID]]
	CapVisible  lyceum.Opt[bool]
	Priority    lyceum.Opt[lyceum.DisplayPriority]
	FriendlyURL lyceum.Opt[lyceum.Opt[string]]
}

// apply changes a coupon. A new discount, duration or scope clears the fields that it
// contradicts, unless they are given too.
func (c *CouponChange) apply(to *lyceum.Coupon) {
	if c.Percent.Value.Present {
		to.Amount, to.Currency = lyceum.None[lyceum.Minor](), lyceum.None[lyceum.Currency]()
	}
	if c.Amount.Value.Present {
		to.Percent = lyceum.None[float64]()
	}
	if c.Duration.Present && c.Duration.Value != lyceum.ForMonths {
		to.Months = lyceum.None[int32]()
	}
	if c.Scope.Value.Present || c.Product.Value.Present || c.Plan.Value.Present {
		to.Scope, to.Product = lyceum.None[lyceum.CouponScope](), lyceum.None[lyceum.Product]()
		to.Plan = lyceum.None[lyceum.PricingPlanID]()
	}
	if c.Code.Present {
		to.Code = c.Code
	}
	to.Name = c.Name.Else(to.Name)
	to.Percent, to.Amount = c.Percent.Else(to.Percent), c.Amount.Else(to.Amount)
	to.Currency = c.Currency.Else(to.Currency)
	if c.Duration.Present {
		to.Duration = c.Duration
	}
	to.Months, to.Available = c.Months.Else(to.Months), c.Available.Else(to.Available)
	to.ExpiresAt = c.ExpiresAt.Else(to.ExpiresAt)
	to.Scope, to.Product, to.Plan = c.Scope.Else(to.Scope), c.Product.Else(to.Product), c.Plan.Else(to.Plan)
	to.CapVisible = c.CapVisible.Else(to.CapVisible)
	if c.Priority.Present {
		to.Priority = c.Priority
	}
	to.FriendlyURL = c.FriendlyURL.Else(to.FriendlyURL)
}

// CreateCoupon creates a coupon, for all products unless it has a scope. It fails with Conflict
// if another coupon has the code.
func (s *Service) CreateCoupon(ctx context.Context, by lyceum.By, params CouponChange) (UsedCoupon, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (UsedCoupon, error) {
		c := lyceum.Coupon{
			Duration: lyceum.Some(lyceum.ForOnce), Priority: lyceum.Some(lyceum.ShowTime),
			CreatedAt: lyceum.Some(now), UpdatedAt: lyceum.Some(now),
		}
		params.apply(&c)
		if !c.Scope.Present && !c.Product.Present && !c.Plan.Present {
			c.Scope = lyceum.Some(lyceum.AllProducts)
		}
		wrong := c.Problems()
		if !c.Percent.Present && !c.Amount.Present {
			wrong = append(wrong, lyceum.FieldError{
				Field: "discount_percent", Message: "or discount_amount with discount_currency is required",
			})
		}
		if err := checkCoupon(tx, &c, lyceum.Coupon{}, wrong); err != nil {
			return UsedCoupon{}, err
		}
		var err error
		if c.ID, err = tx.Coupons.NextID(tx); err != nil {
			return UsedCoupon{}, err
		}
		return UsedCoupon{Coupon: c}, tx.Coupons.Insert(tx, c)
	})
}

// UpdateCoupon changes a coupon. It fails with NotFound, and with Conflict if another coupon has
// the code.
func (s *Service) UpdateCoupon(ctx context.Context, by lyceum.By, params CouponChange) (UsedCoupon, error) {
	return s.changeCoupon(ctx, by, params.ID, func(tx lyceum.Tx, c *lyceum.Coupon, _ time.Time) error {
		before := *c
		params.apply(c)
		return checkCoupon(tx, c, before, newProblems(c.Problems(), before.Problems()))
	})
}

// ArchiveCoupon archives a coupon, so that it cannot be used for new sales. It fails with
// NotFound.
func (s *Service) ArchiveCoupon(ctx context.Context, by lyceum.By, id lyceum.CouponID) (UsedCoupon, error) {
	return s.changeCoupon(ctx, by, id, func(_ lyceum.Tx, c *lyceum.Coupon, now time.Time) error {
		c.ArchivedAt = c.ArchivedAt.Or(now)
		return nil
	})
}

func (s *Service) changeCoupon(
	ctx context.Context, by lyceum.By, id lyceum.CouponID, change func(lyceum.Tx, *lyceum.Coupon, time.Time) error,
) (UsedCoupon, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (UsedCoupon, error) {
		c, err := tx.Coupons.Get(tx, id)
		if err != nil {
			return UsedCoupon{}, err
		}
		before := c
		if err := change(tx, &c, now); err != nil {
			return UsedCoupon{}, err
		}
		if c != before {
			c.UpdatedAt = lyceum.Some(now)
			if err := tx.Coupons.Update(tx, c); err != nil {
				return UsedCoupon{}, err
			}
		}
		return withUse(tx, c)
	})
}

// checkCoupon rejects a coupon with problems, one that refers to something unknown, and one
// whose code is taken.
func checkCoupon(tx lyceum.Tx, c *lyceum.Coupon, before lyceum.Coupon, wrong []lyceum.FieldError) error {
	if c.Plan.Present && c.Plan != before.Plan {
		known, err := tx.Known(lyceum.PricingPlanSequence, []int32{int32(c.Plan.Value)})
		if err != nil {
			return err
		}
		if len(known) == 0 {
			wrong = append(wrong, noSuch("pricing_plan_id", "pricing plan", int32(c.Plan.Value)))
		}
	}
	if c.Product.Present && c.Product != before.Product {
		_, problem, err := lyceum.SellableProduct(tx.Tables, tx, c.Product.Value)
		if err != nil {
			return err
		}
		if problem != "" {
			wrong = append(wrong, lyceum.FieldError{Field: "product_id", Message: problem})
		}
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	if !c.Code.Present || c.ArchivedAt.Present {
		return nil
	}
	sharing, err := lyceum.All(tx.Coupons, tx, lyceum.CouponFilter{Code: c.Code, IsArchived: lyceum.Some(false)})
	for i := range sharing {
		if sharing[i].ID != c.ID {
			return &lyceum.Error{
				Kind: lyceum.Conflict, Code: "coupon_code_taken",
				Detail: fmt.Sprintf("coupon %d already has this code (case-insensitive); archive it, or use another code",
					sharing[i].ID),
			}
		}
	}
	return err
}

// noSuch is the error of a field that refers to something that the school does not have.
func noSuch(field, what string, id int32) lyceum.FieldError {
	return lyceum.FieldError{Field: field, Message: fmt.Sprintf("%d matches no %s of this school", id, what)}
}

// ImportCoupons begins an import of coupons.
func (s *Service) ImportCoupons(by lyceum.By) *Rows[lyceum.Coupon] {
	type row = lyceum.Coupon
	return &Rows[row]{s, by, shape[row]{
		what: "coupons",
		names: []reference[row]{
			{"pricing_plan_id", "pricing plan", lyceum.PricingPlanSequence, func(c *row) int32 { return int32(c.Plan.Value) }},
		},
		look: lookAtCoupons,
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) { return tx.Coupons.Save(tx, rows...) },
	}}
}

// lookAtCoupons returns a problem for each row whose fields contradict each other, that refers
// to an unknown product, or whose code another coupon has.
func lookAtCoupons(tx lyceum.Tx, rows []lyceum.Coupon) ([]lyceum.RowProblem, error) {
	problems, err := unknownProducts(tx.Tables, tx, rows, func(c *lyceum.Coupon) lyceum.Opt[lyceum.Product] {
		if c.Product.Value.Kind == "" || c.Product.Value.ID == 0 { // rejected below
			return lyceum.None[lyceum.Product]()
		}
		return c.Product
	})
	if err != nil {
		return nil, err
	}
	for i := range rows {
		for _, wrong := range rows[i].Problems() {
			problems = append(problems, lyceum.RowProblem{Index: i, FieldError: wrong})
		}
	}
	again, err := codesTaken(tx, rows, problems)
	return append(problems, again...), err
}

// codesTaken returns a problem for each row whose code another coupon has that is not archived. A
// row with a problem changes nothing: its coupon keeps the code that it has.
func codesTaken(
	tx lyceum.Tx, rows []lyceum.Coupon, bad []lyceum.RowProblem,
) (problems []lyceum.RowProblem, err error) {
	taken := func(i int, by lyceum.CouponID) {
		problems = append(problems, problem(i, "code", "is already the code of coupon %d (case-insensitive)", by))
	}
	isBad := map[int]bool{}
	for i := range bad {
		isBad[bad[i].Index] = true
	}
	codes, claims, changed := []string{}, map[string]int{}, map[lyceum.CouponID]bool{}
	for i := range rows {
		if isBad[i] {
			continue
		}
		c := &rows[i]
		changed[c.ID] = true
		if !c.Code.Present || c.ArchivedAt.Present {
			continue
		}
		code := strings.ToLower(c.Code.Value)
		if first, claimed := claims[code]; claimed {
			taken(i, rows[first].ID)
			changed[c.ID] = false
			continue
		}
		claims[code], codes = i, append(codes, c.Code.Value)
	}
	stored, kept := map[lyceum.CouponID]string{}, []lyceum.CouponID{}
	for part := range slices.Chunk(codes, lyceum.MaxUsers) {
		f := lyceum.CouponFilter{Codes: part, IsArchived: lyceum.Some(false)}
		err := tx.Coupons.Each(tx, f, func(c *lyceum.Coupon) error {
			if stored[c.ID] = strings.ToLower(c.Code.Value); !changed[c.ID] {
				kept = append(kept, c.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for ; len(kept) > 0; kept = kept[1:] {
		i, claimed := claims[stored[kept[0]]]
		if !claimed {
			continue
		}
		delete(claims, stored[kept[0]])
		taken(i, kept[0])
		if _, has := stored[rows[i].ID]; has {
			kept = append(kept, rows[i].ID)
		}
	}
	return problems, nil
}
