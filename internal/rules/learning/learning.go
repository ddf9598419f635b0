// Package learning decides about a school's courses, its other products and the
// pricing plans they are sold by: who sees them, what enrolling, completing and expiring mean, and
// which rows may be taken in.
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

// Service decides about products, pricing plans and what learners do.
type Service struct {
	store lyceum.Store
	clock func() time.Time
}

// New makes the service over a store.
func New(store lyceum.Store, clock func() time.Time) *Service {
	return &Service{store: store, clock: clock}
}

// EachCourse visits the courses of a school by ascending id, all of one moment.
func (s *Service) EachCourse(ctx context.Context, by lyceum.By, visit func(*lyceum.Course) error) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	return v.Courses.Each(v, lyceum.CourseFilter{}, visit)
}

// EachPricingPlan visits the pricing plans of a school by ascending id, all of
// one moment.
func (s *Service) EachPricingPlan(
	ctx context.Context, by lyceum.By, visit func(*lyceum.PricingPlan) error,
) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	return v.PricingPlans.Each(v, lyceum.PricingPlanFilter{}, visit)
}

// ImportCourses begins an import of courses. What a row does not say (heading,
// description, image, author, certificate, times, whether the course is listed,
// archived or wants its lectures in order) stays as it is with a known course; a new one
// is created now, listed and in no order.
func (s *Service) ImportCourses(by lyceum.By) *Rows[lyceum.CourseRow] {
	type row = lyceum.CourseRow
	return &Rows[row]{s, by, shape[row]{
		what: "courses",
		names: []reference[row]{
			{"author_bio_id", "author", lyceum.AuthorSequence, func(c *row) int32 { return int32(c.AuthorID.Value) }},
		},
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			ids := make([]lyceum.CourseID, len(rows))
			for n := range rows {
				ids[n] = rows[n].ID
			}
			kept, err := tx.Courses.Find(tx, ids...)
			if err != nil {
				return lyceum.Saved{}, err
			}
			courses := make([]lyceum.Course, len(rows))
			for n := range rows {
				old, there := kept[rows[n].ID]
				if !there {
					old = lyceum.Course{IsListed: true}
				}
				courses[n] = completeCourse(&rows[n], &old, now)
			}
			return tx.Courses.Save(tx, courses...)
		},
	}}
}

// completeCourse gives a row what it does not say.
func completeCourse(row *lyceum.CourseRow, old *lyceum.Course, now time.Time) lyceum.Course {
	c := row.Course
	c.CreatedAt = firstTime(c.CreatedAt, old.CreatedAt, lyceum.Second(now))
	c.UpdatedAt = firstTime(c.UpdatedAt, old.UpdatedAt, c.CreatedAt)
	keep(&c.Heading, old.Heading)
	keep(&c.Description, old.Description)
	keep(&c.ImageURL, old.ImageURL)
	keep(&c.AuthorID, old.AuthorID)
	keep(&c.Certificate, old.Certificate)
	keep(&c.ArchivedAt, old.ArchivedAt)
	c.IsListed, c.LectureOrder = old.IsListed, old.LectureOrder
	if row.Listed.Present {
		c.IsListed = row.Listed.Value
	}
	if row.Ordered.Present {
		c.LectureOrder = row.Ordered.Value
	}
	return c
}

// PricingPlanImport takes pricing plans of one school in, batch by batch. A
// plan that is there already, by id, is brought up to date; the same batch
// twice changes nothing. What a row does not give is a known plan's; a new plan
// is from now, and free or a one-time payment. A plan must name a course that
// the school has, or none.
type PricingPlanImport struct {
	service *Service
	by      lyceum.By
	missing lyceum.Missing
}

// ImportPricingPlans begins an import of pricing plans into a school.
func (s *Service) ImportPricingPlans(by lyceum.By, missing lyceum.Missing) *PricingPlanImport {
	return &PricingPlanImport{service: s, by: by, missing: missing}
}

// Check tells which rows of a batch cannot be kept, and keeps none.
func (i *PricingPlanImport) Check(ctx context.Context, batch []lyceum.PricingPlan) ([]lyceum.RowProblem, error) {
	if i.missing == lyceum.CreateMissing {
		return nil, nil
	}
	missing, err := unknownCourses(batch, func(ids []int32) ([]int32, error) {
		return i.service.store.In(ctx, i.by.School).Known(lyceum.CourseSequence, ids)
	})
	return courseProblems(batch, missing), err
}

// Save keeps the rows of a batch that have no problem, all in one write, and
// gives the problems of the others.
func (i *PricingPlanImport) Save(
	ctx context.Context, batch []lyceum.PricingPlan,
) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	var problems []lyceum.RowProblem
	now := i.service.clock()
	err := i.service.store.Write(ctx, i.by.Stamp(now), func(tx lyceum.Tx) error {
		missing, err := unknownCourses(
			batch, func(ids []int32) ([]int32, error) { return tx.Known(lyceum.CourseSequence, ids) },
		)
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
		saved, err = tx.PricingPlans.Save(tx, rows...)
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import pricing plans: %w", err)
	}
	return saved, problems, nil
}

func unknownCourses(
	batch []lyceum.PricingPlan, known func([]int32) ([]int32, error),
) (map[lyceum.CourseID]bool, error) {
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
				Field: "course_id",
				Message: fmt.Sprintf(
					"%d matches no course of this school; import the courses first, or use --create-missing", id.Value,
				),
			}})
		}
	}
	return problems
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

func completePlans(tx lyceum.Tx, rows []lyceum.PricingPlan, now time.Time) error {
	ids := make([]lyceum.PricingPlanID, len(rows))
	for n := range rows {
		ids[n] = rows[n].ID
	}
	kept, err := tx.PricingPlans.Find(tx, ids...)
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
		keep(&rows[n].Description, old.Description)
		keep(&rows[n].FreeTrialLength, old.FreeTrialLength)
		keep(&rows[n].EnrollmentCap, old.EnrollmentCap)
		keep(&rows[n].AccessLimitDate, old.AccessLimitDate)
		keep(&rows[n].AccessLimitInterval, old.AccessLimitInterval)
		keep(&rows[n].AccessLimitDuration, old.AccessLimitDuration)
	}
	return nil
}

// completeFrequency gives a plan whose row does not say how often it charges
// what a known plan has. A new one is free or charges once, by its price.
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

// keep gives a value that a row does not say what it was.
func keep[T comparable](to *lyceum.Opt[T], old lyceum.Opt[T]) {
	if !to.Present {
		*to = old
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
