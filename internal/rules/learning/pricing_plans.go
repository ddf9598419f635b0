package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// PricingPlans lists the pricing plans of courses.
func (s *Service) PricingPlans(ctx context.Context, school lyceum.SchoolID, p lyceum.Page) (lyceum.PricingPlanListing, error) {
	return s.store.FindPricingPlanPage(ctx, school, p)
}

// PricingPlan shows the pricing plan of a course.
func (s *Service) PricingPlan(ctx context.Context, school lyceum.SchoolID, id lyceum.PricingPlanID) (lyceum.PricingPlan, error) {
	plan, err := s.store.GetPricingPlan(ctx, school, id)
	if err == nil && !plan.CourseID.Present {
		return lyceum.PricingPlan{}, lyceum.Errorf(lyceum.NotFound, "there is no pricing plan %d", id)
	}
	return plan, err
}
