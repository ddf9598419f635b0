package learning

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// EachPricingPlan visits the pricing plans of a school by ascending id, all from one snapshot.
func (s *Service) EachPricingPlan(
	ctx context.Context, by lyceum.By, visit func(*lyceum.PricingPlan) error,
) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	return v.PricingPlans.Each(v, lyceum.PricingPlanFilter{}, visit)
}

// CoursePlans lists the pricing plans of courses.
func (s *Service) CoursePlans(
	ctx context.Context, by lyceum.By, p lyceum.Page,
) (lyceum.Listing[lyceum.PricingPlan], error) {
	v := s.store.In(ctx, by.School)
	return v.PricingPlans.List(v, lyceum.PricingPlanFilter{OfCourses: true}, p)
}

// CoursePlan returns a pricing plan of a course. It fails with NotFound.
func (s *Service) CoursePlan(
	ctx context.Context, by lyceum.By, id lyceum.PricingPlanID,
) (lyceum.PricingPlan, error) {
	v := s.store.In(ctx, by.School)
	plan, err := v.PricingPlans.Get(v, id)
	if err == nil && !plan.CourseID.Present {
		return lyceum.PricingPlan{}, lyceum.Errorf(lyceum.NotFound, "there is no pricing plan %d", id)
	}
	return plan, err
}

// SoldPlan is a pricing plan and how many of its seats are taken.
type SoldPlan struct {
	lyceum.PricingPlan

	Seats int64
}

// PricingPlans lists the pricing plans of a school.
func (s *Service) PricingPlans(
	ctx context.Context, by lyceum.By, f lyceum.PricingPlanFilter, p lyceum.Page,
) (lyceum.Listing[SoldPlan], error) {
	v := s.store.In(ctx, by.School)
	found, err := v.PricingPlans.List(v, f, p)
	if err != nil {
		return lyceum.Listing[SoldPlan]{}, err
	}
	sold, err := withSeats(v, found.Rows...)
	return lyceum.Listing[SoldPlan]{Page: found.Page, Total: found.Total, More: found.More, Rows: sold}, err
}

// PlanOf identifies a pricing plan of a product.
type PlanOf struct {
	Product lyceum.Product
	ID      lyceum.PricingPlanID
}

// PlansOfProduct lists the pricing plans of a product. It fails with NotFound.
func (s *Service) PlansOfProduct(
	ctx context.Context, by lyceum.By, f lyceum.PricingPlanFilter, p lyceum.Page,
) (lyceum.Listing[SoldPlan], error) {
	v := s.store.In(ctx, by.School)
	if err := productThere(v.Tables, v, f.Product.Value); err != nil {
		return lyceum.Listing[SoldPlan]{}, err
	}
	return s.PricingPlans(ctx, by, f, p)
}

// PlanOfProduct returns a pricing plan of a product. It fails with NotFound.
func (s *Service) PlanOfProduct(ctx context.Context, by lyceum.By, q PlanOf) (SoldPlan, error) {
	plan, err := s.PricingPlan(ctx, by, q.ID)
	if err != nil {
		return SoldPlan{}, err
	}
	return plan, planOf(&plan.PricingPlan, lyceum.Some(q.Product))
}

// productThere fails with NotFound for a product that the school does not have.
func productThere(t *lyceum.Tables, from lyceum.Source, p lyceum.Product) error {
	found, err := lyceum.FindProducts(t, from, p)
	if err == nil && len(found) == 0 {
		err = lyceum.Errorf(lyceum.NotFound, "there is no %s", p)
	}
	return err
}

// planOf fails with NotFound for the plan of another product.
func planOf(plan *lyceum.PricingPlan, product lyceum.Opt[lyceum.Product]) error {
	if product.Present && plan.Product() != product {
		return lyceum.Errorf(lyceum.NotFound, "%s has no pricing plan %d", product.Value, plan.ID)
	}
	return nil
}

func withSeats(r lyceum.Reads, plans ...lyceum.PricingPlan) ([]SoldPlan, error) {
	ids, sold := make([]lyceum.PricingPlanID, len(plans)), make([]SoldPlan, len(plans))
	for i := range plans {
		ids[i] = plans[i].ID
	}
	taken, err := r.CountTaken(ids, nil)
	for i := range plans {
		sold[i] = SoldPlan{plans[i], taken.Seats[plans[i].ID]}
	}
	return sold, err
}

// PricingPlan returns a pricing plan. It fails with NotFound.
func (s *Service) PricingPlan(ctx context.Context, by lyceum.By, id lyceum.PricingPlanID) (SoldPlan, error) {
	v := s.store.In(ctx, by.School)
	plan, err := v.PricingPlans.Get(v, id)
	if err != nil {
		return SoldPlan{}, err
	}
	sold, err := withSeats(v, plan)
	return sold[0], err
}

// PricingPlanChange is a change to a pricing plan. Absent fields stay unchanged.
type PricingPlanChange struct {
	ID                   lyceum.PricingPlanID
	Of                   lyceum.Opt[lyceum.Product] // the product of the plan; plans of others are not found
	Product              lyceum.Opt[lyceum.Product]
	Name                 lyceum.Opt[string]
	Price                lyceum.Opt[lyceum.Minor]
	Currency             lyceum.Opt[lyceum.Currency]
	Frequency            lyceum.Opt[lyceum.Frequency]
	BillingInterval      lyceum.Opt[lyceum.Opt[string]]
	BillingIntervalCount lyceum.Opt[lyceum.Opt[int32]]
	Payments             lyceum.Opt[lyceum.Opt[int32]]
	FreeTrialLength      lyceum.Opt[lyceum.Opt[int32]]
	Description          lyceum.Opt[lyceum.Opt[string]]
	DetailedDescription  lyceum.Opt[lyceum.Opt[string]]
	StatementText        lyceum.Opt[lyceum.Opt[string]]
	AccessLimitDate      lyceum.Opt[lyceum.Opt[time.Time]]
	AccessLimitInterval  lyceum.Opt[lyceum.Opt[string]]
	AccessLimitDuration  lyceum.Opt[lyceum.Opt[int32]]
	EnrollmentCap        lyceum.Opt[lyceum.Opt[int32]]
	CapExpiresAt         lyceum.Opt[lyceum.Opt[time.Time]]
	CapPriority          lyceum.Opt[lyceum.Opt[string]]
	CapVisible           lyceum.Opt[bool]
	AuthorShare          lyceum.Opt[lyceum.Opt[float64]]
	Published            lyceum.Opt[bool]
	Position             lyceum.Opt[int32]
}

func (c *PricingPlanChange) apply(to *lyceum.PricingPlan) {
	to.Name, to.Price, to.Currency = c.Name.Else(to.Name), c.Price.Else(to.Price), c.Currency.Else(to.Currency)
	to.Frequency = c.Frequency.Else(to.Frequency)
	to.BillingInterval = c.BillingInterval.Else(to.BillingInterval)
	to.BillingIntervalCount = c.BillingIntervalCount.Else(to.BillingIntervalCount)
	to.Payments, to.FreeTrialLength = c.Payments.Else(to.Payments), c.FreeTrialLength.Else(to.FreeTrialLength)
	to.Description = c.Description.Else(to.Description)
	to.DetailedDescription = c.DetailedDescription.Else(to.DetailedDescription)
	to.StatementText = c.StatementText.Else(to.StatementText)
	to.AccessLimitDate = c.AccessLimitDate.Else(to.AccessLimitDate)
	to.AccessLimitInterval = c.AccessLimitInterval.Else(to.AccessLimitInterval)
	to.AccessLimitDuration = c.AccessLimitDuration.Else(to.AccessLimitDuration)
	to.EnrollmentCap, to.CapExpiresAt = c.EnrollmentCap.Else(to.EnrollmentCap), c.CapExpiresAt.Else(to.CapExpiresAt)
	to.CapPriority, to.AuthorShare = c.CapPriority.Else(to.CapPriority), c.AuthorShare.Else(to.AuthorShare)
	for _, part := range []struct{ to, from *lyceum.Opt[bool] }{
		{&to.CapVisible, &c.CapVisible}, {&to.Published, &c.Published},
	} {
		if part.from.Present {
			*part.to = *part.from
		}
	}
	if c.Position.Present {
		to.Position = c.Position
	}
}

// CreatePricingPlan creates a pricing plan of a product.
func (s *Service) CreatePricingPlan(ctx context.Context, by lyceum.By, params PricingPlanChange) (SoldPlan, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (SoldPlan, error) {
		if params.Of.Present {
			if err := productThere(tx.Tables, tx, params.Of.Value); err != nil {
				return SoldPlan{}, err
			}
		}
		plan := lyceum.PricingPlan{CreatedAt: now, UpdatedAt: now, Published: lyceum.Some(true)}
		params.apply(&plan)
		if plan.Frequency == "" {
			completeFrequency(&plan, lyceum.PricingPlan{})
		}
		if plan.Recurring() {
			plan.BillingIntervalCount = plan.BillingIntervalCount.Or(1)
		}
		if err := sell(tx, &plan, params.Product, plan.Problems()); err != nil {
			return SoldPlan{}, err
		}
		if !plan.Position.Present {
			siblings, err := tx.PricingPlans.List(
				tx, lyceum.PricingPlanFilter{Product: plan.Product()}, lyceum.Page{Number: 1, Size: 1},
			)
			if err != nil {
				return SoldPlan{}, err
			}
			plan.Position = lyceum.Some(int32(siblings.Total) + 1)
		}
		var err error
		if plan.ID, err = tx.PricingPlans.NextID(tx); err != nil {
			return SoldPlan{}, err
		}
		return SoldPlan{PricingPlan: plan}, tx.PricingPlans.Insert(tx, plan)
	})
}

// UpdatePricingPlan changes a pricing plan. It fails with NotFound, and with Conflict if the
// plan already sells another product.
func (s *Service) UpdatePricingPlan(ctx context.Context, by lyceum.By, params PricingPlanChange) (SoldPlan, error) {
	return s.changePlan(ctx, by, params.ID, func(tx lyceum.Tx, plan *lyceum.PricingPlan) error {
		if err := planOf(plan, params.Of); err != nil {
			return err
		}
		product := plan.Product()
		if params.Product.Present && product.Present && product != params.Product {
			return conflict("product_fixed", "pricing plan %d sells %s; create another plan for another product", plan.ID,
				product.Value)
		}
		before := plan.Problems()
		params.apply(plan)
		wrong := newProblems(plan.Problems(), before)
		if product.Present {
			return sell(tx, plan, lyceum.None[lyceum.Product](), wrong)
		}
		return sell(tx, plan, params.Product, wrong)
	})
}

// ArchivePricingPlan ends the sale of a pricing plan. It fails with NotFound.
func (s *Service) ArchivePricingPlan(ctx context.Context, by lyceum.By, id lyceum.PricingPlanID) (SoldPlan, error) {
	return s.changePlan(ctx, by, id, func(_ lyceum.Tx, plan *lyceum.PricingPlan) error {
		plan.Published = lyceum.Some(false)
		return nil
	})
}

func (s *Service) changePlan(
	ctx context.Context, by lyceum.By, id lyceum.PricingPlanID, change func(lyceum.Tx, *lyceum.PricingPlan) error,
) (SoldPlan, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (SoldPlan, error) {
		plan, err := tx.PricingPlans.Get(tx, id)
		if err != nil {
			return SoldPlan{}, err
		}
		before := plan
		if err := change(tx, &plan); err != nil {
			return SoldPlan{}, err
		}
		if plan != before {
			if err := plan.KeepTerms(&before, now); err != nil {
				return SoldPlan{}, err
			}
			plan.UpdatedAt = now
			if err := tx.PricingPlans.Update(tx, plan); err != nil {
				return SoldPlan{}, err
			}
		}
		if plan.Product() != before.Product() {
			if err := relinkBuyers(tx, []lyceum.PricingPlanID{id}); err != nil {
				return SoldPlan{}, err
			}
		}
		sold, err := withSeats(tx, plan)
		return sold[0], err
	})
}

// sell makes a plan sell a product, if one is given, and rejects problems with the product or
// the plan.
func sell(
	tx lyceum.Tx, plan *lyceum.PricingPlan, product lyceum.Opt[lyceum.Product], wrong []lyceum.FieldError,
) error {
	if product.Present {
		_, problem, err := lyceum.SellableProduct(tx.Tables, tx, product.Value)
		if err != nil {
			return err
		}
		if problem != "" {
			wrong = append(wrong, lyceum.FieldError{Field: "product_id", Message: problem})
		}
		if product.Value.Kind == lyceum.CourseKind {
			plan.CourseID = lyceum.Some(lyceum.CourseID(product.Value.ID))
		} else {
			plan.Other = product
		}
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// newProblems returns the problems that did not exist before a change, since imported rows may
// lack what a new row must have.
func newProblems(problems, before []lyceum.FieldError) []lyceum.FieldError {
	return slices.DeleteFunc(problems, func(p lyceum.FieldError) bool { return slices.Contains(before, p) })
}
