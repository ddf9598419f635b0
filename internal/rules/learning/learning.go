// Package learning decides about a school's courses and the pricing plans they
// are sold by: which may be taken in and what becomes of those that are there
// already.
//
// It must not know HTTP, SQL or a file format.
package learning

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service takes courses and pricing plans in.
type Service struct {
	store lyceum.Store
	clock func() time.Time
}

// New makes the service over a store.
func New(store lyceum.Store, clock func() time.Time) *Service {
	return &Service{store: store, clock: clock}
}

// EachCourse visits the courses of a school by ascending id, all of one moment.
func (s *Service) EachCourse(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.Course) error) error {
	if _, err := s.store.GetSchool(ctx, school); err != nil {
		return err
	}
	return s.store.EachCourse(ctx, school, visit)
}

// EachPricingPlan visits the pricing plans of a school by ascending id, all of
// one moment.
func (s *Service) EachPricingPlan(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.PricingPlan) error) error {
	if _, err := s.store.GetSchool(ctx, school); err != nil {
		return err
	}
	return s.store.EachPricingPlan(ctx, school, visit)
}

// CourseImport takes courses of one school in, batch by batch. A course that
// is there already, by id, is brought up to date; the same batch twice changes
// nothing. What a row does not say (heading, description, image, creation time)
// stays as it is with a known course; a new one is created now.
type CourseImport struct {
	service *Service
	school  lyceum.SchoolID
	actor   string
}

// ImportCourses begins an import of courses into a school.
func (s *Service) ImportCourses(school lyceum.SchoolID, actor string) *CourseImport {
	return &CourseImport{service: s, school: school, actor: actor}
}

// Check finds no problem: a course names nothing else.
func (i *CourseImport) Check(context.Context, []lyceum.Course) ([]lyceum.RowProblem, error) {
	return nil, nil
}

// Save keeps a batch in one write.
func (i *CourseImport) Save(ctx context.Context, batch []lyceum.Course) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	now := i.service.clock()
	err := i.service.store.Write(ctx, lyceum.Stamp{School: i.school, At: now, Actor: i.actor}, func(tx lyceum.Tx) error {
		rows := append([]lyceum.Course(nil), batch...)
		ids := make([]lyceum.CourseID, len(rows))
		for n := range rows {
			ids[n] = rows[n].ID
		}
		kept, err := tx.FindCourses(ids)
		if err != nil {
			return err
		}
		for n := range rows {
			completeCourse(&rows[n], kept[rows[n].ID], now)
		}
		saved, err = tx.SaveCourses(rows)
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import courses: %w", err)
	}
	return saved, nil, nil
}

// completeCourse gives a row what it does not say. The zero Course stands for
// one that is not there yet.
func completeCourse(row *lyceum.Course, old lyceum.Course, now time.Time) {
	row.CreatedAt = firstTime(row.CreatedAt, old.CreatedAt, lyceum.Second(now))
	for _, text := range []struct{ to, from *lyceum.Opt[string] }{
		{&row.Heading, &old.Heading}, {&row.Description, &old.Description}, {&row.ImageURL, &old.ImageURL},
	} {
		if !text.to.Present {
			*text.to = *text.from
		}
	}
}

// PricingPlanImport takes pricing plans of one school in, batch by batch. A
// plan that is there already, by id, is brought up to date; the same batch
// twice changes nothing. Times and a frequency that a row does not give are a
// known plan's; a new plan is from now, and free or a one-time payment. A plan
// must name a course that the school has, or none.
type PricingPlanImport struct {
	service *Service
	school  lyceum.SchoolID
	missing lyceum.Missing
	actor   string
}

// ImportPricingPlans begins an import of pricing plans into a school.
func (s *Service) ImportPricingPlans(school lyceum.SchoolID, missing lyceum.Missing, actor string) *PricingPlanImport {
	return &PricingPlanImport{service: s, school: school, missing: missing, actor: actor}
}

// Check tells which rows of a batch cannot be kept, and keeps none.
func (i *PricingPlanImport) Check(ctx context.Context, batch []lyceum.PricingPlan) ([]lyceum.RowProblem, error) {
	if i.missing == lyceum.CreateMissing {
		return nil, nil
	}
	missing, err := unknownCourses(batch, func(ids []int32) ([]int32, error) {
		return i.service.store.Known(ctx, i.school, lyceum.CourseSequence, ids)
	})
	return courseProblems(batch, missing), err
}

// Save keeps the rows of a batch that have no problem, all in one write, and
// gives the problems of the others.
func (i *PricingPlanImport) Save(ctx context.Context, batch []lyceum.PricingPlan) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	var problems []lyceum.RowProblem
	now := i.service.clock()
	err := i.service.store.Write(ctx, lyceum.Stamp{School: i.school, At: now, Actor: i.actor}, func(tx lyceum.Tx) error {
		missing, err := unknownCourses(batch, func(ids []int32) ([]int32, error) { return tx.Known(lyceum.CourseSequence, ids) })
		if err != nil {
			return err
		}
		problems = nil
		if i.missing == lyceum.CreateMissing {
			if err := createCourses(tx, missing, now); err != nil {
				return err
			}
		} else {
			problems = courseProblems(batch, missing)
		}
		rows := append([]lyceum.PricingPlan(nil), lyceum.WithoutProblems(batch, problems)...)
		if err := completePlans(tx, rows, now); err != nil {
			return err
		}
		saved, err = tx.SavePricingPlans(rows)
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import pricing plans: %w", err)
	}
	return saved, problems, nil
}

func unknownCourses(batch []lyceum.PricingPlan, known func([]int32) ([]int32, error)) (map[lyceum.CourseID]bool, error) {
	missing := map[lyceum.CourseID]bool{}
	var ids []int32
	for n := range batch {
		if id := batch[n].CourseID; id.Present && !missing[id.Value] {
			missing[id.Value] = true
			ids = append(ids, int32(id.Value))
		}
	}
	found, err := known(ids)
	for _, id := range found {
		delete(missing, lyceum.CourseID(id))
	}
	return missing, err
}

func courseProblems(batch []lyceum.PricingPlan, missing map[lyceum.CourseID]bool) []lyceum.RowProblem {
	var problems []lyceum.RowProblem
	for n := range batch {
		if id := batch[n].CourseID; id.Present && missing[id.Value] {
			problems = append(problems, lyceum.RowProblem{Index: n, FieldError: lyceum.FieldError{
				Field: "course_id", Message: fmt.Sprintf("%d is no course of this school; import the courses first, or allow missing ones to be created", id.Value),
			}})
		}
	}
	return problems
}

func createCourses(tx lyceum.Tx, missing map[lyceum.CourseID]bool, now time.Time) error {
	var rows []lyceum.Course
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		rows = append(rows, lyceum.Course{ID: id, Name: fmt.Sprintf("Course %d", id), CreatedAt: lyceum.Second(now)})
	}
	_, err := tx.SaveCourses(rows)
	return err
}

func completePlans(tx lyceum.Tx, rows []lyceum.PricingPlan, now time.Time) error {
	ids := make([]lyceum.PricingPlanID, len(rows))
	for n := range rows {
		ids[n] = rows[n].ID
	}
	kept, err := tx.FindPricingPlans(ids)
	if err != nil {
		return err
	}
	for n := range rows {
		old := kept[rows[n].ID]
		rows[n].CreatedAt = firstTime(rows[n].CreatedAt, old.CreatedAt, lyceum.Second(now))
		rows[n].UpdatedAt = firstTime(rows[n].UpdatedAt, old.UpdatedAt, rows[n].CreatedAt)
		if rows[n].Frequency == "" {
			completeFrequency(&rows[n], old)
		}
	}
	return nil
}

// completeFrequency gives a plan whose row does not say how often it charges
// what a known plan has. A new one is free or charges once, by its price.
func completeFrequency(row *lyceum.PricingPlan, old lyceum.PricingPlan) {
	switch {
	case old.ID != 0:
		row.Frequency, row.BillingInterval, row.BillingIntervalCount = old.Frequency, old.BillingInterval, old.BillingIntervalCount
	case row.Price == 0:
		row.Frequency = lyceum.Free
	default:
		row.Frequency = lyceum.OneTimePayment
	}
}

// firstTime gives the first time that is set.
func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
