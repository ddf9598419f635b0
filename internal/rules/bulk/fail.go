package bulk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// place identifies a job of a school.
type place struct {
	school lyceum.SchoolID
	job    lyceum.BulkJobID
}

// rowError is an error that ends the change in which a row was processed.
type rowError struct {
	row lyceum.BulkRow
	err error
}

func (e *rowError) Error() string { return fmt.Sprintf("%s: %v", named(&e.row), e.err) }

func (e *rowError) Unwrap() error { return e.err }

// named identifies a row in an error message.
func named(row *lyceum.BulkRow) string {
	if row.Email == "" {
		return fmt.Sprintf("user %d", row.User)
	}
	return row.Email
}

// maxTries is the number of consecutive unexpected errors after which a job fails.
const maxTries = 5

// retryPause is how long a job waits after a failed step.
const retryPause = 10 * time.Second

// failures records that the last steps of a job failed.
type failures struct {
	tries int // consecutive unexpected errors
	until time.Time
}

// waits reports whether it is too early to try a job again.
func (s *Service) waits(at place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.failed[at].until)
}

// final records the outcome of a job's step, and reports whether the job has failed permanently.
// An unavailable store is waited for.
func (s *Service) final(at place, failed error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.failed[at]
	known.until = time.Now().Add(s.RetryPause)
	switch kind := lyceum.KindOf(failed); {
	case failed == nil:
		delete(s.failed, at)
		return false
	case errors.Is(failed, context.Canceled) || kind == lyceum.Unavailable:
	case kind == lyceum.Internal && known.tries < maxTries-1:
		known.tries++
	default:
		delete(s.failed, at)
		return true
	}
	s.failed[at] = known
	return false
}

// fail ends a job that has failed permanently, unless another process has continued it. What is
// done stays done.
func (s *Service) fail(ctx context.Context, school lyceum.SchoolID, job *lyceum.BulkJob, failed error) error {
	now := s.clock()
	stamp := lyceum.Stamp{School: school, At: now, Actor: job.Actor}
	return s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		found, err := tx.BulkJobs.Find(tx, job.ID)
		kept := found[job.ID]
		if err != nil || kept.State != job.State || kept.Results != job.Results || kept.Expected != job.Expected {
			return err
		}
		kept.State, kept.EndedAt = lyceum.BulkBroken, lyceum.Some(lyceum.Second(now))
		kept.Problem = lyceum.Some(problemOf(failed))
		return tx.BulkJobs.Update(tx, kept)
	})
}

// errIncomplete is the error of a job that lacks some of its parts, because the process was
// stopped while storing them.
var errIncomplete = errors.New("its list is incomplete")

// problemOf describes why a job failed.
func problemOf(failed error) string {
	e := lyceum.Public(failed)
	said := strings.Join(e.Sentences(), "; ")
	if e.Kind == lyceum.Internal {
		said = "an internal error, which is in the log of the server"
	}
	if errors.Is(failed, errIncomplete) {
		said = "its list was not stored completely; create the bulk job again"
	}
	if row, ok := errors.AsType[*rowError](failed); ok {
		return named(&row.row) + ": " + said
	}
	return said
}
