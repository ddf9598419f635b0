package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Sweep deletes from every school what it no longer keeps, and returns the space to the
// operating system.
func Sweep(ctx context.Context, store lyceum.Store, now time.Time) error {
	schools, err := store.FindSchools(ctx)
	if err != nil {
		return err
	}
	for i := range schools {
		if failed := store.Sweep(ctx, schools[i].ID, Expired(schools[i].Retention, now)); failed != nil {
			err = errors.Join(err, fmt.Errorf("school %d: %w", schools[i].ID, failed))
		}
	}
	return errors.Join(err, store.Compact(ctx))
}

// Expired returns what a school no longer keeps at a given time.
func Expired(r lyceum.Retention, now time.Time) lyceum.Expired {
	before := func(days int32) time.Time { return now.Add(-time.Duration(days) * 24 * time.Hour) }
	over := before(r.Sessions)
	e := lyceum.Expired{
		Until: over, SeenUntil: over.Add(-SessionIdle), BegunUntil: over.Add(-SessionAbsolute),
		UsedUntil: over.Add(-RefreshIdle), FamilyUntil: over.Add(-RefreshAbsolute),
		LinkUntil: before(r.Links), EmailUntil: before(r.Emails), AnswerUntil: before(r.Answers),
		RequestUntil: now.Add(-lyceum.FailedRequestsKept),
	}
	if r.Events > 0 {
		e.EventUntil = before(r.Events)
	}
	if r.Attempts > 0 {
		e.AttemptUntil = before(r.Attempts)
	}
	if days := r.Deliveries(); days > 0 {
		e.DeliveryUntil = before(days)
	}
	return e
}

// Usage is the size of a database and the data that its schools keep for a limited time.
type Usage struct {
	lyceum.Sizes

	Schools []SchoolUsage
}

// SchoolUsage is the data that a school keeps for a limited time.
type SchoolUsage struct {
	lyceum.School

	Rows    map[lyceum.Kept]int64
	Expired map[lyceum.Kept]int64 // rows that the next sweep deletes
}

// UsageOf counts that data, and what Sweep would delete if the schools' retention were what
// keep returns.
func UsageOf(
	ctx context.Context, store lyceum.Store, schools []lyceum.School, now time.Time,
	keep func(lyceum.Retention) lyceum.Retention,
) (Usage, error) {
	var u Usage
	var err error
	if u.Sizes, err = store.FindSizes(ctx); err != nil {
		return u, err
	}
	for _, school := range schools {
		school.Retention = keep(school.Retention)
		of := SchoolUsage{School: school}
		if of.Rows, of.Expired, err = store.CountKept(ctx, school.ID, Expired(school.Retention, now)); err != nil {
			return u, err
		}
		u.Schools = append(u.Schools, of)
	}
	return u, nil
}
