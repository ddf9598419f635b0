// Package bulk has the rules for bulk jobs: which users a list names, what an action would do to
// each of them, and how it is done part by part.
//
// It must not know HTTP, SQL or a file format, nor what an action does: it runs the rules of
// learning and of people.
package bulk

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Learning has the actions about products.
type Learning interface {
	EnrollIn(tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product) (bool, error)
	UnenrollFrom(
		tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product,
	) (bool, []lyceum.SaleID, error)
	GiveIn(
		tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product, end lyceum.Opt[time.Time],
	) (lyceum.Entitlement, error)
	CheckGift(
		t *lyceum.Tables, from lyceum.Source, now time.Time, p lyceum.Product, end lyceum.Opt[time.Time],
	) ([]lyceum.FieldError, error)
	Reached(t *lyceum.Tables, from lyceum.Source, p lyceum.Product) (int, error)
	Preview(
		ctx context.Context, by lyceum.By, p lyceum.Page,
		of func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error), act func(lyceum.Tx, time.Time) error,
	) (lyceum.AccessPreview, error)
}

// People has the actions about tags.
type People interface {
	AddTags(tx lyceum.Tx, user lyceum.UserID, tags []string) (bool, error)
	RemoveTags(tx lyceum.Tx, user lyceum.UserID, tags []string) (bool, error)
	CheckTags(tags []string) error
}

// Right fails with Forbidden if an actor who started a bulk job may no longer start one.
type Right func(tx lyceum.Tx, actor string) error

// Service has the rules for bulk jobs.
type Service struct {
	store    lyceum.Store
	clock    func() time.Time
	learning Learning
	people   People
	right    Right
	woken    chan struct{}

	// RetryPause is how long a job waits after a failed step, while other jobs continue. It is
	// measured in real time, since the school's clock may stand still.
	RetryPause time.Duration

	mu     sync.Mutex
	failed map[place]failures // jobs whose last step failed
}

// New returns a service that uses a store and the rules that it runs.
func New(store lyceum.Store, clock func() time.Time, learning Learning, people People, right Right) *Service {
	return &Service{
		store: store, clock: clock, learning: learning, people: people, right: right, woken: make(chan struct{}, 1),
		RetryPause: retryPause, failed: map[place]failures{},
	}
}

// Woken returns a channel that receives when this service has prepared or started a job, so that
// Continue has more to do.
func (s *Service) Woken() <-chan struct{} { return s.woken }

func (s *Service) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// List lists bulk jobs, newest first.
func (s *Service) List(
	ctx context.Context, by lyceum.By, _ struct{}, p lyceum.Page,
) (lyceum.Listing[lyceum.BulkJob], error) {
	v := s.store.In(ctx, by.School)
	return v.BulkJobs.List(v, lyceum.BulkJobFilter{Newest: true}, p)
}

// Show returns a bulk job. It fails with NotFound.
func (s *Service) Show(ctx context.Context, by lyceum.By, id lyceum.BulkJobID) (lyceum.BulkJob, error) {
	v := s.store.In(ctx, by.School)
	return v.BulkJobs.Get(v, id)
}

// RowFilter selects rows of a bulk job.
type RowFilter struct {
	Job    lyceum.BulkJobID
	Result lyceum.Opt[lyceum.BulkResult] // of unprocessed rows: the expected result

	Processed bool // leave out unprocessed rows
}

// Row is a row with its position in the list, from 1.
type Row struct {
	lyceum.BulkRow

	Number int32
}

// Rows lists rows of a bulk job in the order in which their users were named. It fails with
// NotFound.
func (s *Service) Rows(
	ctx context.Context, by lyceum.By, f RowFilter, p lyceum.Page,
) (listing lyceum.Listing[Row], err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if _, err := v.BulkJobs.Get(v, f.Job); err != nil {
			return err
		}
		listing = lyceum.Listing[Row]{Page: p}
		skip := p.Offset()
		return v.BulkParts.Each(v, lyceum.BulkPartFilter{Job: f.Job}, func(part *lyceum.BulkPart) error {
			for i := range part.Rows {
				row := &part.Rows[i]
				if f.Result.Present && row.Now() != f.Result.Value || f.Processed && row.Result == "" {
					continue
				}
				if listing.Total++; listing.Total > skip && len(listing.Rows) < int(p.Size) {
					listing.Rows = append(listing.Rows, Row{*row, part.Number*lyceum.BulkPartRows + int32(i) + 1})
				}
			}
			return nil
		})
	})
	listing.More = p.Offset()+int64(len(listing.Rows)) < listing.Total
	return listing, err
}

// Start starts a bulk job; Continue processes its rows. It fails with NotFound, and with
// Conflict for a job that is not a draft or that is no longer possible for any user.
func (s *Service) Start(ctx context.Context, by lyceum.By, id lyceum.BulkJobID) (lyceum.BulkJob, error) {
	now := s.clock()
	job, err := lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.BulkJob, error) {
		job, err := tx.BulkJobs.Get(tx, id)
		if err != nil {
			return job, err
		}
		if err := s.startable(tx, now, &job); err != nil {
			return job, err
		}
		job.State, job.Actor, job.StartedAt = lyceum.BulkRunning, by.Actor, lyceum.Some(lyceum.Second(now))
		return job, tx.BulkJobs.Update(tx, job)
	})
	if err == nil {
		s.wake()
	}
	return job, err
}

// startable fails with Conflict if a job cannot be started.
func (s *Service) startable(tx lyceum.Tx, now time.Time, job *lyceum.BulkJob) error {
	if job.State != lyceum.BulkDraft {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: "not_draft", Detail: fmt.Sprintf("bulk job %d is %s", job.ID, job.State),
		}
	}
	wrong, err := s.wrongProduct(tx.Tables, tx, now, job)
	if err == nil && len(wrong) > 0 {
		err = &lyceum.Error{
			Kind: lyceum.Conflict, Code: "not_possible",
			Detail: strings.Join(lyceum.InvalidFields(wrong...).Sentences(), "; "),
		}
	}
	return err
}

// Cancel discards a draft or a job that is being prepared, or stops a running job. Canceling it
// again changes nothing. It fails with NotFound, and with Conflict for a job that has finished
// or failed.
func (s *Service) Cancel(ctx context.Context, by lyceum.By, id lyceum.BulkJobID) (lyceum.BulkJob, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.BulkJob, error) {
		job, err := tx.BulkJobs.Get(tx, id)
		switch {
		case err != nil || job.State == lyceum.BulkCanceled:
			return job, err
		case job.State == lyceum.BulkFinished || job.State == lyceum.BulkBroken:
			return job, &lyceum.Error{
				Kind: lyceum.Conflict, Code: "finished", Detail: fmt.Sprintf("bulk job %d has %s", id, job.State),
			}
		}
		job.State, job.EndedAt = lyceum.BulkCanceled, lyceum.Some(lyceum.Second(now))
		return job, tx.BulkJobs.Update(tx, job)
	})
}

// advance processes the next rows of a running job, as many as it has time for, and saves them
// together with the progress of the job.
func (s *Service) advance(tx lyceum.Tx, now time.Time, job *lyceum.BulkJob) error {
	part, rows, err := s.nextRows(tx.Tables, tx, job, job.Results.Total())
	if err != nil {
		return err
	}
	done, err := s.process(tx, now, job, rows)
	if err != nil {
		return err
	}
	for i := range rows[:done] {
		job.Results.Add(&rows[i], rows[i].Result)
	}
	if job.Results.Total() == job.Rows {
		job.State, job.EndedAt = lyceum.BulkFinished, lyceum.Some(lyceum.Second(now))
	}
	if err := tx.BulkParts.Update(tx, part); err != nil {
		return err
	}
	return tx.BulkJobs.Update(tx, *job)
}

// stepProducts is the maximum number of users' products that one change handles, unless a single
// user has more. A collection is as much work as everything in it.
const stepProducts = 50

// nextRows returns the part in which a job continues after done rows, and the next rows of that
// part, as many as fit into one change.
func (s *Service) nextRows(
	t *lyceum.Tables, from lyceum.Source, job *lyceum.BulkJob, done int32,
) (part lyceum.BulkPart, rows []lyceum.BulkRow, err error) {
	part, found, err := t.BulkParts.First(from, lyceum.BulkPartFilter{Job: job.ID, From: done / lyceum.BulkPartRows})
	if err != nil {
		return part, nil, err
	}
	after := int(done % lyceum.BulkPartRows)
	if !found || part.Number != done/lyceum.BulkPartRows || after >= len(part.Rows) {
		return part, nil, fmt.Errorf("bulk job %d has no row %d: %w", job.ID, done+1, errIncomplete)
	}
	rows, err = s.room(t, from, job, part.Rows[after:])
	return part, rows, err
}

// room returns the first of some rows, as many as fit into one change.
func (s *Service) room(
	t *lyceum.Tables, from lyceum.Source, job *lyceum.BulkJob, rows []lyceum.BulkRow,
) ([]lyceum.BulkRow, error) {
	if job.Action.Tags() {
		return rows, nil
	}
	n, err := s.learning.Reached(t, from, job.Product.Value)
	return rows[:min(len(rows), max(1, stepProducts/max(1, n)))], err
}

// stepTime is how long a change processes rows before it ends, so that other changes need not
// wait. A row that takes longer is finished.
const stepTime = 10 * time.Millisecond

// process applies the action of a job to rows until its time is up, sets the result of each, and
// returns how many it processed, at least one.
func (s *Service) process(
	tx lyceum.Tx, now time.Time, job *lyceum.BulkJob, rows []lyceum.BulkRow,
) (done int, err error) {
	begin, longest := time.Now(), time.Duration(0)
	wrong, err := s.wrongProduct(tx.Tables, tx, now, job)
	if err != nil {
		return 0, err
	}
	impossible := error(nil)
	if len(wrong) > 0 {
		impossible = lyceum.InvalidFields(wrong...)
	}
	for i := range rows {
		started := time.Since(begin)
		if i > 0 && started+longest > stepTime {
			return i, nil
		}
		row := &rows[i]
		if row.Settled {
			row.Result = row.Expected
			continue
		}
		changed, err := false, impossible
		if row.Ends = nil; err == nil {
			changed, row.Ends, err = s.act(tx, now, job, row.User)
		}
		switch e := lyceum.Public(err); {
		case err == nil && changed:
			row.Result, row.Message = lyceum.BulkDone, ""
		case err == nil:
			row.Result, row.Message = lyceum.BulkUnchanged, nothing[job.Action]
		case e.Kind == lyceum.NotFound || e.Kind == lyceum.Invalid:
			row.Result, row.Message = lyceum.BulkFailed, strings.Join(e.Sentences(), "; ")
		default:
			return 0, &rowError{row: *row, err: err}
		}
		longest = max(longest, time.Since(begin)-started)
	}
	return len(rows), nil
}

// wrongProduct returns why the action of a job is not possible for any user.
func (s *Service) wrongProduct(
	t *lyceum.Tables, from lyceum.Source, now time.Time, job *lyceum.BulkJob,
) ([]lyceum.FieldError, error) {
	switch {
	case job.Action.Tags():
		return nil, nil
	case job.Action != lyceum.BulkUnenroll:
		return s.learning.CheckGift(t, from, now, job.Product.Value, job.EndsAt)
	}
	found, err := lyceum.FindProducts(t, from, job.Product.Value)
	if err != nil || len(found) > 0 {
		return nil, err
	}
	return []lyceum.FieldError{{
		Field:   "product_id",
		Message: fmt.Sprintf("%d matches no %s of this school", job.Product.Value.ID, job.Product.Value.Kind.Name()),
	}}, nil
}

// nothing maps each action to the reason why there was nothing to do.
var nothing = map[lyceum.BulkAction]string{
	lyceum.BulkEnroll:     "the user has access already",
	lyceum.BulkUnenroll:   "the user no longer has access",
	lyceum.BulkAddTags:    "the user has these tags already",
	lyceum.BulkRemoveTags: "the user has none of these tags",
}

// act applies the action of a job to a user. It reports whether that changed anything, and
// returns the sales that it ended.
func (s *Service) act(
	tx lyceum.Tx, now time.Time, job *lyceum.BulkJob, user lyceum.UserID,
) (changed bool, ended []lyceum.SaleID, err error) {
	product := job.Product.Value
	switch job.Action {
	case lyceum.BulkEnroll:
		changed, err = s.learning.EnrollIn(tx, now, user, product)
	case lyceum.BulkUnenroll:
		return s.learning.UnenrollFrom(tx, now, user, product)
	case lyceum.BulkGiveAccess:
		_, err = s.learning.GiveIn(tx, now, user, product, job.EndsAt)
		changed = true
	case lyceum.BulkAddTags:
		changed, err = s.people.AddTags(tx, user, job.Tags)
	case lyceum.BulkRemoveTags:
		changed, err = s.people.RemoveTags(tx, user, job.Tags)
	default:
		err = fmt.Errorf("unknown action %q", job.Action)
	}
	return changed, nil, err
}
