package main

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// timePause is how late an expired enrollment, the end of a paid period or an abandoned order
// is noticed at most.
const timePause = 10 * time.Second

// leaseTime is how long a stopped process keeps others from the scheduler at most, and
// leasePause how often a process requests the lease: together less than 5 s.
const (
	leaseTime  = 3 * time.Second
	leasePause = time.Second
)

// runScheduler does the work that only depends on time. Of the processes that serve the
// database, one at a time does it.
func (s *service) runScheduler(ctx context.Context) {
	holder, holds, failing := rand.Text(), false, false
	stop := func() {}
	for pause := time.NewTicker(leasePause); ; {
		held, err := holdLease(ctx, s.store, lyceum.SchedulerLease, holder, leaseTime)
		switch {
		case held && !holds:
			endFiles, endSweep := begin(ctx, s.maintainFiles), begin(ctx, s.sweep)
			endErasures, endSchedule := begin(ctx, s.runErasures), begin(ctx, s.schedule)
			stop = func() { endFiles(); endSweep(); endErasures(); endSchedule() }
		case !held && holds && ctx.Err() == nil:
			stop()
			s.log.WarnContext(ctx, "this server no longer holds the scheduler's lease", "err", err)
		case err != nil && !failing && ctx.Err() == nil:
			s.log.WarnContext(ctx, "the scheduler's lease could not be requested, so this server does no scheduled work; "+
				"it will try again", "err", err)
		}
		holds, failing = held, err != nil
		select {
		case <-pause.C:
		case <-ctx.Done():
			stop()
			if _, err := holdLease(context.WithoutCancel(ctx), s.store, lyceum.SchedulerLease, holder, 0); err != nil {
				s.log.WarnContext(ctx, "the scheduler's lease could not be released; other servers wait until it expires",
					"err", err)
			}
			return
		}
	}
}

// holdLease requests a lease. It does not wait for the database longer than a lease lasts.
func holdLease(
	ctx context.Context, store lyceum.Store, lease lyceum.Lease, holder string, d time.Duration,
) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	return store.HoldLease(ctx, lease, holder, d)
}

// schedule does what is overdue, again and again.
func (s *service) schedule(ctx context.Context) {
	for {
		s.turn.RLock()
		overdue, err := s.store.FindOverdue(ctx, s.clock())
		for _, school := range overdue {
			err = errors.Join(err, s.learning.Expire(ctx, school), s.learning.Settle(ctx, school),
				s.sales.EndPeriods(ctx, school), s.sales.Lapse(ctx, school), s.sales.Abandon(ctx, school),
				s.people.EraseDue(ctx, school, s.leaving()))
		}
		s.turn.RUnlock()
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "overdue enrollments, products, sales, orders and erasures could not be processed",
				"err", err)
		}
		select {
		case <-time.After(timePause):
		case <-ctx.Done():
			return
		}
	}
}

// runErasures finishes erasures. They take longer the more text there is to search, so the
// other scheduled work does not wait for them.
func (s *service) runErasures(ctx context.Context) {
	for {
		s.turn.RLock()
		more, err := s.people.FinishErasures(ctx)
		s.turn.RUnlock()
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "some people could not be erased completely; the server will try again",
				"err", err)
		}
		if more && ctx.Err() == nil {
			continue
		}
		select {
		case <-time.After(timePause):
		case <-ctx.Done():
			return
		}
	}
}

// filesPause is the time between two runs of maintainFiles. It is the most by which an unused file
// outlives the day for which it is kept.
const filesPause = time.Hour

// maintainFiles makes the addresses of files lead to this server, and removes files that nothing
// refers to.
func (s *service) maintainFiles(ctx context.Context) {
	for {
		schools, err := s.store.FindSchools(ctx)
		for _, school := range schools {
			s.turn.RLock()
			err = errors.Join(err, s.learning.Readdress(ctx, school.ID), s.learning.SweepFiles(ctx, school.ID))
			s.turn.RUnlock()
		}
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "addresses of files could not be updated, or unused files not removed; the server will try "+
				"again in an hour", "err", err)
		}
		select {
		case <-time.After(filesPause):
		case <-ctx.Done():
			return
		}
	}
}

// sweepPause is how long data that a school no longer keeps remains at most.
const sweepPause = 10 * time.Minute

// sweep deletes what schools no longer keep.
func (s *service) sweep(ctx context.Context) {
	for {
		select {
		case <-time.After(sweepPause):
		case <-ctx.Done():
			return
		}
		err := access.Sweep(ctx, s.store, s.clock())
		if shared := s.store.Tallies(); shared != nil {
			err = errors.Join(err, shared.Sweep(ctx, s.clock()))
		}
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "expired rows could not be deleted; the server will try again", "err", err)
		}
	}
}

// finishErasures completes all erasures in progress while nothing else writes.
func (s *service) finishErasures(ctx context.Context) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	done, err := s.people.EraseAll(ctx)
	if err == nil && !done {
		err = lyceum.Errorf(lyceum.Unavailable, "a person is still being erased; try again in a minute")
	}
	return err
}

// begin runs work in the background until the returned function is called, which waits for it
// to end.
func begin(ctx context.Context, work func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); work(ctx) }()
	return func() { cancel(); <-done }
}

// bulkPause is how late this process continues at most a bulk job that another one prepared or
// started, and may have left behind.
const bulkPause = 3 * time.Second

// runBulkJobs works on bulk jobs, a little for each school at a time. All processes do; each
// skips what another has done in the meantime.
func (s *service) runBulkJobs(ctx context.Context) {
	for {
		s.turn.RLock()
		more, err := s.continueBulkJobs(ctx)
		s.turn.RUnlock()
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "bulk jobs could not be processed", "err", err)
		}
		if more && ctx.Err() == nil {
			continue
		}
		select {
		case <-time.After(bulkPause):
		case <-s.bulk.Woken():
		case <-ctx.Done():
			return
		}
	}
}

// continueBulkJobs works a little on the bulk jobs of each school, and reports whether there is
// more to do right away.
func (s *service) continueBulkJobs(ctx context.Context) (more bool, err error) {
	schools, err := s.bulk.Busy(ctx)
	for _, school := range schools {
		again, failed := s.bulk.Continue(ctx, school)
		more, err = more || again, errors.Join(err, failed)
	}
	return more, err
}

// run does the background work while serve runs.
func (s *service) run(ctx context.Context, serve func(context.Context) error) error {
	end, err := s.background(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	err = serve(ctx)
	end()
	s.log.Info("stopped", "after", time.Since(begin).Round(time.Second).String())
	return err
}

// background does the background work until end is called, which runs the bookkeeping a last
// time.
func (s *service) background(ctx context.Context) (end func(), err error) {
	books := &access.Bookkeeper{
		Store: s.store, Keys: s.keys, OAuth: s.oauth, Limiter: s.limiter, Failures: s.failures, Log: s.log,
	}
	if err := books.Resume(ctx); err != nil {
		return nil, err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() { books.Run(background) })
	group.Go(func() { s.runScheduler(background) })
	if s.leased != nil {
		group.Go(func() { s.leased.run(background, s.store, s.log) })
	}
	group.Go(func() { s.runBulkJobs(background) })
	if len(s.events.Ring.Keys()) > 0 {
		s.metrics.Count("lyceum_webhook_attempts_delivered_total", "Attempts to deliver an event that got a 2xx "+
			"status.", s.courier.Delivered)
		s.metrics.Count("lyceum_webhook_attempts_failed_total", "Attempts to deliver an event that failed or got "+
			"another status.", s.courier.Failed)
		group.Go(func() { s.courier.Run(background) })
		group.Go(func() { s.warnOfMissingKeys(background) })
	} else {
		s.log.Info("this process has no secret key: it sends no webhooks, and its file links and upload addresses work " +
			"only with this process, until it stops; set a key with --secret-key-file")
	}
	if s.emails.Sends() {
		s.metrics.Count("lyceum_email_attempts_sent_total", "Attempts to send an email that the mail server accepted.",
			s.postman.Sent)
		s.metrics.Count("lyceum_email_attempts_failed_total", "Attempts to send an email that failed.", s.postman.Failed)
		group.Go(func() { s.postman.Run(background) })
	}
	return func() { stop(); group.Wait() }, nil
}
