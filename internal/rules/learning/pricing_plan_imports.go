package learning

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// PricingPlanImport imports the pricing plans of one school, batch by batch. A plan that exists
// already, by id, is updated; importing the same batch twice changes nothing. What a row leaves
// out stays unchanged for a known plan; a new plan is created now, and is free or a one-time
// payment. The product of a plan must exist in the school, but a plan may have none.
type PricingPlanImport struct {
	service *Service
	by      lyceum.By
	missing lyceum.Missing
}

// ImportPricingPlans begins an import of pricing plans into a school.
func (s *Service) ImportPricingPlans(by lyceum.By, missing lyceum.Missing) *PricingPlanImport {
	return &PricingPlanImport{service: s, by: by, missing: missing}
}

// Check returns the problems of the rows of a batch that cannot be imported, and saves nothing.
func (i *PricingPlanImport) Check(ctx context.Context, batch []lyceum.PricingPlan) ([]lyceum.RowProblem, error) {
	v := i.service.store.In(ctx, i.by.School)
	_, problems, err := i.look(v.Tables, v, slices.Clone(batch))
	return problems, err
}

// Save saves the rows of a batch that have no problem, all in one write, and returns the
// problems of the others.
func (i *PricingPlanImport) Save(
	ctx context.Context, batch []lyceum.PricingPlan,
) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	var problems []lyceum.RowProblem
	now := i.service.clock()
	err := i.service.store.Write(ctx, i.by.Stamp(now), func(tx lyceum.Tx) error {
		rows := slices.Clone(batch)
		missing, found, err := i.look(tx.Tables, tx, rows)
		if err != nil {
			return err
		}
		if i.missing == lyceum.CreateMissing {
			if err := createCourses(tx, missing, now); err != nil {
				return err
			}
		}
		problems = found
		rows = slices.Clone(lyceum.WithoutProblems(rows, problems))
		moved, err := completePlans(tx, rows, now)
		if err != nil {
			return err
		}
		if saved, err = tx.PricingPlans.Save(tx, rows...); err != nil {
			return err
		}
		return relinkBuyers(tx, moved)
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import pricing plans: %w", err)
	}
	return saved, problems, nil
}

// look normalizes what each row sells, and returns the rows that cannot be imported and the
// courses that the school lacks.
func (i *PricingPlanImport) look(
	t *lyceum.Tables, from lyceum.Reads, rows []lyceum.PricingPlan,
) (missing map[lyceum.CourseID]bool, problems []lyceum.RowProblem, err error) {
	problems = oneProduct(rows)
	if missing, err = unknownCourses(from, rows); err != nil {
		return nil, nil, err
	}
	if i.missing != lyceum.CreateMissing {
		problems = append(problems, courseProblems(rows, missing)...)
	}
	unknown, err := unknownProducts(t, from, rows, func(p *lyceum.PricingPlan) lyceum.Opt[lyceum.Product] {
		return p.Other
	})
	return missing, append(problems, unknown...), err
}

// oneProduct turns a course that is given as a product into one that is given as a course, and
// returns a problem for each row that does not name exactly one product.
func oneProduct(rows []lyceum.PricingPlan) (problems []lyceum.RowProblem) {
	for n := range rows {
		p, other := &rows[n], rows[n].Other
		if !other.Present {
			continue
		}
		switch {
		case !other.Value.Kind.Known() || other.Value.ID == 0:
			problems = append(problems, problem(n, "product_type", "must be used together with product_id"))
		case other.Value.Kind == lyceum.CourseKind && (!p.CourseID.Present || int32(p.CourseID.Value) == other.Value.ID):
			p.CourseID = lyceum.Some(lyceum.CourseID(other.Value.ID))
			p.Other = lyceum.None[lyceum.Product]()
			continue
		case p.CourseID.Present:
			problems = append(problems, problem(n, "product_id", "must be the same as course_id, or course_id must be empty"))
		default:
			continue
		}
		p.Other = lyceum.None[lyceum.Product]()
	}
	return problems
}

func unknownCourses(from lyceum.Reads, batch []lyceum.PricingPlan) (map[lyceum.CourseID]bool, error) {
	missing := map[lyceum.CourseID]bool{}
	var ids []int32
	for n := range batch {
		if id := batch[n].CourseID; id.Present && !missing[id.Value] {
			missing[id.Value] = true
			ids = append(ids, int32(id.Value))
		}
	}
	found, err := from.Known(lyceum.CourseSequence, ids)
	for _, id := range found {
		delete(missing, lyceum.CourseID(id))
	}
	return missing, err
}

func courseProblems(batch []lyceum.PricingPlan, missing map[lyceum.CourseID]bool) []lyceum.RowProblem {
	var problems []lyceum.RowProblem
	for n := range batch {
		if id := batch[n].CourseID; id.Present && missing[id.Value] {
			problems = append(problems, problem(
				n, "course_id", "%d matches no course of this school; import the courses first, or use --create-missing", id.Value,
			))
		}
	}
	return problems
}

// unknownProducts returns a problem for each row that refers to a product the school does not
// have.
func unknownProducts[T any](
	t *lyceum.Tables, from lyceum.Source, rows []T, of func(*T) lyceum.Opt[lyceum.Product],
) (problems []lyceum.RowProblem, err error) {
	var named []lyceum.Product
	for i := range rows {
		if p := of(&rows[i]); p.Present {
			named = append(named, p.Value)
		}
	}
	found, err := lyceum.FindProducts(t, from, named...)
	for i := range rows {
		p := of(&rows[i])
		if _, there := found[p.Value]; p.Present && !there {
			problems = append(problems, problem(
				i, "product_id", "%d matches no %s of this school; import the %s first", p.Value.ID, p.Value.Kind.Name(),
				p.Value.Kind.Path(),
			))
		}
	}
	return problems, err
}

func createCourses(tx lyceum.Tx, missing map[lyceum.CourseID]bool, now time.Time) error {
	var rows []lyceum.Course
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		rows = append(rows, lyceum.Course{
			ID: id, Name: fmt.Sprintf("Course %d", id), CreatedAt: lyceum.Second(now), UpdatedAt: lyceum.Second(now),
			IsListed: true,
		})
	}
	_, err := tx.Courses.Save(tx, rows...)
	return err
}

// completePlans fills in what rows leave out, and returns the known plans that now sell another
// product.
func completePlans(tx lyceum.Tx, rows []lyceum.PricingPlan, now time.Time) (moved []lyceum.PricingPlanID, err error) {
	ids := make([]lyceum.PricingPlanID, len(rows))
	for n := range rows {
		ids[n] = rows[n].ID
	}
	kept, err := tx.PricingPlans.Find(tx, ids...)
	if err != nil {
		return nil, err
	}
	for n := range rows {
		row, old := &rows[n], kept[rows[n].ID]
		row.CreatedAt = firstTime(row.CreatedAt, old.CreatedAt, lyceum.Second(now))
		row.UpdatedAt = firstTime(row.UpdatedAt, old.UpdatedAt, row.CreatedAt)
		if row.Frequency == "" {
			completeFrequency(row, old)
		}
		if !row.CourseID.Present {
			keep(&row.Other, old.Other)
		}
		keepTerms(row, &old)
		if old.ID != 0 && row.Product() != old.Product() {
			moved = append(moved, row.ID)
		}
	}
	return moved, nil
}

// keepTerms keeps the stored terms of a plan that a row leaves out.
func keepTerms(row, old *lyceum.PricingPlan) {
	keep(&row.Description, old.Description)
	keep(&row.FreeTrialLength, old.FreeTrialLength)
	keep(&row.EnrollmentCap, old.EnrollmentCap)
	keep(&row.AccessLimitDate, old.AccessLimitDate)
	keep(&row.AccessLimitInterval, old.AccessLimitInterval)
	keep(&row.AccessLimitDuration, old.AccessLimitDuration)
	keep(&row.Payments, old.Payments)
	keep(&row.Published, old.Published)
	keep(&row.Position, old.Position)
	keep(&row.DetailedDescription, old.DetailedDescription)
	keep(&row.StatementText, old.StatementText)
	keep(&row.CapExpiresAt, old.CapExpiresAt)
	keep(&row.CapPriority, old.CapPriority)
	keep(&row.CapVisible, old.CapVisible)
	keep(&row.AuthorShare, old.AuthorShare)
	keep(&row.EarlierTerms, old.EarlierTerms)
}

// completeFrequency sets the frequency of a plan whose row leaves it out: that of the known
// plan, or for a new one free or a one-time payment, by its price.
func completeFrequency(row *lyceum.PricingPlan, old lyceum.PricingPlan) {
	switch {
	case old.ID != 0:
		row.Frequency = old.Frequency
		row.BillingInterval, row.BillingIntervalCount = old.BillingInterval, old.BillingIntervalCount
	case row.Price == 0:
		row.Frequency = lyceum.Free
	default:
		row.Frequency = lyceum.OneTimePayment
	}
}
