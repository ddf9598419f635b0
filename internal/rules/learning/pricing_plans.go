package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// PricingPlans lists the pricing plans of courses.
func (s *Service) PricingPlans(
	ctx context.Context, by lyceum.By, p lyceum.Page,
) (lyceum.Listing[lyceum.PricingPlan], error) {
	v := s.store.In(ctx, by.School)
	return v.PricingPlans.List(v, lyceum.PricingPlanFilter{OfCourses: true}, p)
}

// PricingPlan shows the pricing plan of a course.
func (s *Service) PricingPlan(
	ctx context.Context, by lyceum.By, id lyceum.PricingPlanID,
) (lyceum.PricingPlan, error) {
	v := s.store.In(ctx, by.School)
	plan, err := v.PricingPlans.Get(v, id)
	if err == nil && !plan.CourseID.Present {
		return lyceum.PricingPlan{}, lyceum.Errorf(lyceum.NotFound, "there is no pricing plan %d", id)
	}
	return plan, err
}
