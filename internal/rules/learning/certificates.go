package learning

import (
	"context"
	"errors"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// HeldCertificate is a learner's certificate with its course.
type HeldCertificate struct {
	lyceum.Certificate

	Course lyceum.Course
}

// mostCertificates is the maximum number of a learner's certificates that are listed.
const mostCertificates = 1000

// Certificates lists the certificates of a learner, the latest first. They remain, whatever
// happens to the course and the enrollment.
func (s *Service) Certificates(
	ctx context.Context, by lyceum.By, learner lyceum.UserID,
) (held []HeldCertificate, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		held = nil
		var courses []lyceum.CourseID
		of := lyceum.ProgressFilter{User: lyceum.Some(learner)}
		err := v.Progress.Each(v, of, func(p *lyceum.Progress) error {
			if len(held) == mostCertificates {
				return errEnough
			}
			if p.Certificate.Present {
				held = append(held, HeldCertificate{p.Certificate.Value, lyceum.Course{ID: p.Course}})
				courses = append(courses, p.Course)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		found, err := v.Courses.Find(v, courses...)
		for i := range held {
			held[i].Course = found[held[i].Course.ID]
		}
		return err
	})
	slices.SortStableFunc(held, func(a, b HeldCertificate) int { return b.IssuedAt.Compare(a.IssuedAt) })
	return held, err
}
