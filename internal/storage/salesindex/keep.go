package salesindex

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// minSave is the smallest number of new entries that is worth a new snapshot.
const minSave = 10_000

// saveIfMuch saves a snapshot of an index that has changed a lot since the last one.
func (s *Store) saveIfMuch(k *school) {
	k.mu.Lock()
	much := k.index != nil && (k.tried == unsaved || k.state.last.Number-k.tried > max(minSave, int64(k.index.Len())/50))
	k.mu.Unlock()
	if much {
		s.save(k)
	}
}

// Resume loads the indexes that have snapshots, the most recently saved first.
func (s *Store) Resume() {
	kept := map[lyceum.SchoolID]time.Time{}
	entries, _ := os.ReadDir(s.Folder) // without a folder there are no snapshots
	for _, e := range entries {
		var id lyceum.SchoolID
		if _, err := fmt.Sscanf(e.Name(), snapshotName, &id); err != nil || e.Name() != fmt.Sprintf(snapshotName, id) {
			continue
		}
		if info, err := e.Info(); err == nil {
			kept[id] = info.ModTime()
		}
	}
	ids := slices.SortedFunc(maps.Keys(kept), func(a, b lyceum.SchoolID) int { return kept[b].Compare(kept[a]) })
	s.work.Go(func() {
		for _, id := range ids {
			if k := s.of(id); s.claim(k) {
				k.lastQuery.Store(time.Now().UnixNano()) // so that later ones do not evict it
				s.run(k)
			}
		}
	})
}

// save saves a snapshot of an index that has changed since the last one. It contains the sales as
// of one entry and nothing newer, because a restored backup may continue differently from that
// entry on. It does not query the database, which may have been replaced by now.
func (s *Store) save(k *school) {
	k.saving.Lock()
	defer k.saving.Unlock()
	k.mu.Lock()
	if k.index == nil || k.state.last.Number == k.saved || s.Folder == "" || s.ReadOnly {
		k.mu.Unlock()
		return
	}
	view, of := k.index.View(), k.state
	k.tried = of.last.Number
	k.mu.Unlock()
	if err := s.write(k.id, view, &of); err != nil {
		s.Log.Warn("sales index snapshot could not be saved", "school", k.id, "err", err)
		return
	}
	k.mu.Lock()
	k.saved = of.last.Number
	k.mu.Unlock()
}

func (s *Store) write(id lyceum.SchoolID, v View, of *state) error {
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return err
	}
	return SaveSnapshot(s.path(id), v, SnapshotHeader{School: id, Identity: of.identity(id), Number: of.last.Number})
}

const snapshotName = "sales-%d.snapshot"

// Discard removes the snapshot of a school whose database is about to be replaced. No store may
// be using the folder.
func Discard(folder string, id lyceum.SchoolID) error {
	err := os.Remove(filepath.Join(folder, fmt.Sprintf(snapshotName, id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) path(id lyceum.SchoolID) string {
	return filepath.Join(s.Folder, fmt.Sprintf(snapshotName, id))
}

// entry returns an entry of a school's journal. For number 0 and for a missing entry, the result
// has no number.
func (s *Store) entry(ctx context.Context, id lyceum.SchoolID, number int64) (lyceum.Entry, error) {
	if number == 0 {
		return lyceum.Entry{}, nil
	}
	listing, err := s.Store.In(ctx, id).FindChanges(lyceum.ChangeFilter{After: number, Limit: 1})
	return listing.Before, err
}

func versionOf(e lyceum.Entry) lyceum.Version { return lyceum.Version{Number: e.Number, At: e.At} }

// identity returns a hash that distinguishes a state of a school from those of all other schools
// and databases, and from a restored backup of this one that has continued differently.
func (s *state) identity(id lyceum.SchoolID) [32]byte {
	text := fmt.Appendf(nil, "%d %d %q", id, s.born.UnixMicro(), s.origin)
	if e := s.last; e.Number > 0 {
		text = fmt.Appendf(text, " %d %d %q %q %d %q %q", e.Number, e.At.UnixMicro(), e.Actor, e.Type, e.ObjectID,
			e.Event.Value, e.Detail.Value)
	}
	return sha256.Sum256(text)
}

// snapshot returns the index from a school's snapshot, and its state. It fails if the snapshot is
// damaged or belongs to another journal.
func (s *Store) snapshot(id lyceum.SchoolID) (*Index, state, error) {
	file, size, err := s.open(id)
	if err != nil {
		return nil, state{}, err
	}
	defer file.Close()
	x, h, err := ReadSnapshot(file, size)
	if err != nil {
		return nil, state{}, err
	}
	of, err := s.check(s.ctx, id, h)
	if err != nil {
		return nil, state{}, err
	}
	return x, of, x.Update(versionOf(of.last), nil, nil)
}

var errNoSnapshot = errors.New("there is no snapshot")

func (s *Store) open(id lyceum.SchoolID) (*os.File, int64, error) {
	if s.Folder == "" {
		return nil, 0, errNoSnapshot
	}
	file, err := os.Open(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, errNoSnapshot
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// check returns the state to which a snapshot belongs. It fails if the snapshot is of another
// school or of another history of this one.
func (s *Store) check(ctx context.Context, id lyceum.SchoolID, h SnapshotHeader) (state, error) {
	of, err := s.now(ctx, id)
	if err != nil {
		return state{}, err
	}
	behind := of.last.Number - h.Number
	if of.last, err = s.entry(ctx, id, h.Number); err != nil {
		return state{}, err
	}
	if h.School != id || h.Number != of.last.Number || h.Identity != of.identity(id) {
		return state{}, errors.New("the snapshot is of another school, or of another time of this one")
	}
	if behind > int64(maxBacklog) {
		return state{}, fmt.Errorf("the snapshot is %d entries behind the journal, more than an index takes in", behind)
	}
	return of, nil
}

// Kept describes the snapshot of an index.
type Kept struct {
	Sales  int64
	Behind int64 // number of journal entries that it lacks
	Bytes  int64 // size of its file
}

// Kept describes the snapshot of a school. It returns false if there is none. The error says why
// an existing one cannot be used.
func (s *Store) Kept(ctx context.Context, id lyceum.SchoolID) (Kept, bool, error) {
	file, size, err := s.open(id)
	if err != nil {
		return Kept{}, !errors.Is(err, errNoSnapshot), err
	}
	defer file.Close()
	h, err := ReadSnapshotHeader(file, size)
	if err != nil {
		return Kept{}, true, err
	}
	if _, err := s.check(ctx, id, h); err != nil {
		return Kept{}, true, err
	}
	last, err := s.Store.In(ctx, id).LastEntry()
	return Kept{Sales: h.Sales, Behind: last - h.Number, Bytes: size}, true, err
}
