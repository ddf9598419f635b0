package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Mine is a product that a learner has access to, and their progress.
type Mine struct {
	lyceum.Held

	PercentComplete lyceum.Opt[int32] // 0 to 100; only of a course
}

// Mine lists the published products that a learner has access to, the latest first.
func (s *Service) Mine(ctx context.Context, by lyceum.By, p lyceum.Page) (l lyceum.Listing[Mine], err error) {
	learner := by.Learner.Value
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		held, err := v.FindHeld(lyceum.HeldFilter{User: learner, At: s.clock()}, p)
		if err != nil {
			return err
		}
		percent := map[lyceum.CourseID]int32{}
		err = v.Progress.Each(v, lyceum.ProgressFilter{User: lyceum.Some(learner)}, func(p *lyceum.Progress) error {
			percent[p.Course] = p.PercentComplete
			return nil
		})
		l = lyceum.Listing[Mine]{Page: held.Page, Total: held.Total, More: held.More}
		for i := range held.Rows {
			one := Mine{Held: held.Rows[i]}
			if of := one.Product; of.Kind == lyceum.CourseKind {
				one.PercentComplete = lyceum.Some(percent[lyceum.CourseID(of.ID)])
			}
			l.Rows = append(l.Rows, one)
		}
		return err
	})
	return l, err
}
