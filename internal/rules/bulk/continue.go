package bulk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// DraftsKept is how long bulk jobs are kept that are not started, and othersKept how long those
// that have ended.
const (
	DraftsKept = 24 * time.Hour
	othersKept = 30 * 24 * time.Hour
)

// Busy returns the schools that have work for Continue.
func (s *Service) Busy(ctx context.Context) ([]lyceum.SchoolID, error) {
	now := s.clock()
	return s.store.FindBulkSchools(ctx, now.Add(-DraftsKept), now.Add(-othersKept))
}

// Continue does a little of each job of a school that is being prepared or running, resuming
// where it stopped, and deletes a little of those that have been kept long enough. It reports
// whether there is more to do now. A job that fails does not stop the others: it waits for
// RetryPause, or ends if trying again would not help.
func (s *Service) Continue(ctx context.Context, school lyceum.SchoolID) (more bool, err error) {
	v := s.store.In(ctx, school)
	active, err := lyceum.All(v.BulkJobs, v, lyceum.BulkJobFilter{
		States: []lyceum.BulkState{lyceum.BulkPreparing, lyceum.BulkRunning},
	})
	if err != nil {
		return false, err
	}
	for i := range active {
		job := active[i]
		if s.waits(place{school, job.ID}) {
			continue
		}
		failed := s.step(ctx, school, &active[i])
		if s.final(place{school, job.ID}, failed) {
			failed = errors.Join(failed, s.fail(ctx, school, &job, failed))
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("continue bulk job %d of school %d: %w", job.ID, school, failed))
			continue
		}
		more = true
	}
	forgot, failed := s.forget(ctx, school)
	return more || forgot && failed == nil, errors.Join(err, failed)
}

// step processes the next rows of a job.
func (s *Service) step(ctx context.Context, school lyceum.SchoolID, job *lyceum.BulkJob) error {
	now := s.clock()
	stamp := lyceum.Stamp{School: school, At: now, Actor: job.Actor}
	if job.State == lyceum.BulkPreparing {
		return s.prepareNext(ctx, stamp, job)
	}
	return s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		job, err := tx.BulkJobs.Get(tx, job.ID)
		if err != nil || job.State != lyceum.BulkRunning { // another process was faster
			return err
		}
		if err := s.right(tx, job.Actor); err != nil {
			return err
		}
		return s.advance(tx, now, &job)
	})
}

// prepareNext determines what a job would do to the next rows, and saves that.
func (s *Service) prepareNext(ctx context.Context, stamp lyceum.Stamp, job *lyceum.BulkJob) error {
	v := s.store.In(ctx, stamp.School)
	before := job.Expected
	part, rows, err := s.nextRows(v.Tables, v, job, before.Total())
	if err != nil {
		return err
	}
	if err := s.foresee(ctx, stamp, job, rows); err != nil {
		return err
	}
	return s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		kept, err := tx.BulkJobs.Get(tx, job.ID)
		if err != nil || kept.State != lyceum.BulkPreparing || kept.Expected != before { // another process was faster
			return err
		}
		kept.Expected, kept.Access, kept.State = job.Expected, job.Access, job.State
		if err := tx.BulkParts.Update(tx, part); err != nil {
			return err
		}
		return tx.BulkJobs.Update(tx, kept)
	})
}

// foresee records what a job would do to rows, as many as one change has time for. Once all rows
// have been examined, the job becomes a draft.
func (s *Service) foresee(ctx context.Context, stamp lyceum.Stamp, job *lyceum.BulkJob, rows []lyceum.BulkRow) error {
	done := 0
	of := func(lyceum.Tx) (users []lyceum.UserID, products []lyceum.Product, err error) {
		for i := range rows {
			if job.Product.Present && !rows[i].Settled {
				users = append(users, rows[i].User)
			}
		}
		if job.Action == lyceum.BulkUnenroll { // a sale that ends may have given other products, too
			return users, nil, nil
		}
		return users, []lyceum.Product{job.Product.Value}, nil
	}
	by := lyceum.By{School: stamp.School, Actor: stamp.Actor}
	preview, err := s.learning.Preview(ctx, by, lyceum.Page{Number: 1, Size: maxEffects}, of,
		func(tx lyceum.Tx, now time.Time) (err error) {
			done, err = s.process(tx, now, job, rows)
			return err
		})
	if err != nil {
		return err
	}
	job.Access = job.Access.Plus(preview.People)
	effects := effectsOf(&preview)
	for i := range rows {
		row := &rows[i]
		if i < done {
			row.Expected = row.Result
			job.Expected.Add(row, row.Expected)
			if row.Expected == lyceum.BulkDone {
				row.Message = effects[row.User]
			}
		}
		row.Result = ""
	}
	if job.Expected.Total() == job.Rows {
		job.State = lyceum.BulkDraft
	}
	return nil
}

const (
	maxEffects = 2000 // changes of access that are examined for the rows of one change
	maxNamed   = 5    // changes that the message of a row lists
)

// effectWords describe how access changes, followed by the name of the product.
var effectWords = map[lyceum.AccessEffect]string{
	lyceum.AccessEnds: "ends access to ", lyceum.AccessEndsEarlier: "ends access earlier to ",
	lyceum.AccessOpens: "opens access to ", lyceum.AccessEndsLater: "extends access to ",
}

// effectsOf describes the changes of access, by user.
func effectsOf(p *lyceum.AccessPreview) map[lyceum.UserID]string {
	texts, counts := map[lyceum.UserID]string{}, map[lyceum.UserID]int{}
	for i := range p.Changes.Rows {
		c := &p.Changes.Rows[i]
		word, changes := effectWords[c.Effect()]
		if !changes {
			continue
		}
		switch counts[c.User]++; {
		case counts[c.User] == 1:
			texts[c.User] = word + p.Names[c.Product].Name
		case counts[c.User] <= maxNamed:
			texts[c.User] += "; " + word + p.Names[c.Product].Name
		case counts[c.User] == maxNamed+1:
			texts[c.User] += "; and more"
		}
	}
	return texts
}

// forgetParts is the maximum number of parts that one change deletes.
const forgetParts = 10

// forget deletes a little of a job that has been kept long enough, and reports whether there was
// one.
func (s *Service) forget(ctx context.Context, school lyceum.SchoolID) (forgot bool, err error) {
	now := s.clock()
	unstarted := lyceum.BulkJobFilter{
		States: []lyceum.BulkState{lyceum.BulkPreparing, lyceum.BulkDraft}, Before: lyceum.Some(now.Add(-DraftsKept)),
	}
	others := lyceum.BulkJobFilter{
		States: []lyceum.BulkState{lyceum.BulkFinished, lyceum.BulkCanceled, lyceum.BulkBroken},
		Before: lyceum.Some(now.Add(-othersKept)),
	}
	v := s.store.In(ctx, school)
	job, found, err := v.BulkJobs.First(v, unstarted)
	if err == nil && !found {
		job, found, err = v.BulkJobs.First(v, others)
	}
	if err != nil || !found {
		return false, err
	}
	return true, s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "clock"}, func(tx lyceum.Tx) error {
		kept, err := tx.BulkJobs.Find(tx, job.ID)
		if err != nil || len(kept) == 0 || kept[job.ID].State == lyceum.BulkRunning {
			return err
		}
		parts, err := tx.BulkParts.List(tx, lyceum.BulkPartFilter{Job: job.ID}, lyceum.Page{Number: 1, Size: forgetParts})
		if err != nil {
			return err
		}
		for i := range parts.Rows {
			if err := tx.BulkParts.Delete(tx, parts.Rows[i].ID); err != nil {
				return err
			}
		}
		if parts.More {
			return nil
		}
		return tx.BulkJobs.Delete(tx, job.ID)
	})
}
