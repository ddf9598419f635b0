package clock

import (
	"context"
	"regexp"
	"time"

	"github.com/lyceum-school/lyceum"
)

// MaxSnapshots is how many snapshots a sandbox can have.
const MaxSnapshots = 10

// Snapshot is a saved state of a sandbox.
type Snapshot struct {
	Name  string
	Clock time.Time // what the clock showed
	Bytes int64
}

// States saves and restores states of a sandbox. After a restore, another Service serves the
// requests.
type States interface {
	// Reset and Restore return the time of the clock afterwards. They fail with NotFound if
	// there is no such state.
	Reset(ctx context.Context, by lyceum.By) (Time, error)
	Restore(ctx context.Context, by lyceum.By, name string) (Time, error)

	// Snapshots returns the snapshots, sorted by name.
	Snapshots() ([]Snapshot, error)
	Keep(ctx context.Context, name string) (Snapshot, error)
	Delete(name string) error
	// Forget erases a person, who is being erased and was created at the given time, from the
	// snapshots. Snapshots in which they cannot be erased are deleted.
	Forget(ctx context.Context, e *lyceum.SchoolErasure, created time.Time) error
}

// ForgetIn erases a person from the snapshots and then runs pass. No snapshot can be saved in
// between.
func (s *Service) ForgetIn(
	ctx context.Context, e *lyceum.SchoolErasure, created time.Time, pass func() error,
) error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if err := s.States.Forget(ctx, e, created); err != nil {
		return err
	}
	return pass()
}

// Reset restores the sandbox to its initial state.
func (s *Service) Reset(ctx context.Context, by lyceum.By, _ struct{}) (Time, error) {
	return s.States.Reset(ctx, by)
}

// Restore restores the sandbox to a snapshot.
func (s *Service) Restore(ctx context.Context, by lyceum.By, name string) (Time, error) {
	if err := s.known(name); err != nil {
		return Time{}, err
	}
	return s.States.Restore(ctx, by, name)
}

// Snapshots returns the snapshots, sorted by name.
func (s *Service) Snapshots(context.Context, lyceum.By, struct{}) ([]Snapshot, error) {
	return s.States.Snapshots()
}

// snapshotName matches valid names of snapshots.
var snapshotName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// KeepSnapshot saves the state of the sandbox under a name that is not in use.
func (s *Service) KeepSnapshot(ctx context.Context, _ lyceum.By, name string) (Snapshot, error) {
	if !snapshotName.MatchString(name) {
		return Snapshot{}, lyceum.InvalidFields(lyceum.FieldError{
			Field: "name", Message: "must be 1 to 40 lower-case letters, digits, - and _, and begin with a letter or a digit",
		})
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	kept, err := s.States.Snapshots()
	if err != nil {
		return Snapshot{}, err
	}
	for _, k := range kept {
		if k.Name == name {
			return Snapshot{}, &lyceum.Error{
				Kind: lyceum.Conflict, Code: "snapshot_exists",
				Detail: "there is a snapshot " + name + " already; delete it, or choose another name",
			}
		}
	}
	if len(kept) >= MaxSnapshots {
		return Snapshot{}, &lyceum.Error{
			Kind: lyceum.Conflict, Code: "too_many_snapshots", Detail: "a sandbox keeps 10 snapshots; delete one",
		}
	}
	if err := s.resting(); err != nil {
		return Snapshot{}, err
	}
	return s.States.Keep(ctx, name)
}

// DeleteSnapshot deletes a snapshot.
func (s *Service) DeleteSnapshot(_ context.Context, _ lyceum.By, name string) error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if err := s.known(name); err != nil {
		return err
	}
	return s.States.Delete(name)
}

// known fails if there is no snapshot with the name.
func (s *Service) known(name string) error {
	kept, err := s.States.Snapshots()
	if err != nil {
		return err
	}
	for _, k := range kept {
		if k.Name == name {
			return nil
		}
	}
	return lyceum.Errorf(lyceum.NotFound, "there is no snapshot with this name")
}

// resting fails while the clock is being moved.
func (s *Service) resting() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moving()
}

// moving fails while the clock is being moved. The caller must hold s.mu.
func (s *Service) moving() error {
	if s.move == nil {
		return nil
	}
	return &lyceum.Error{
		Kind: lyceum.Conflict, Code: "clock_moving",
		Detail: "the clock is being moved to " + s.move.To.UTC().Format(time.RFC3339) + "; wait until it is there",
	}
}

// Retire rejects moves from now on, because another service takes over. It fails while the
// clock is being moved.
func (s *Service) Retire() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.moving(); err != nil {
		return err
	}
	s.retired = true
	return nil
}
