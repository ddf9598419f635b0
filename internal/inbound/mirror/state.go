package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// State is the progress of a copy. It is kept between runs.
type State struct {
	From   string `json:"from"`
	School int32  `json:"school"`
	// Journal identifies the school's journal up to Entry, its last entry when the state
	// was saved. A database with a different journal lacks what was copied.
	Journal string `json:"journal"`
	Entry   int64  `json:"entry"`
	Phase   string `json:"phase"`
	// Cursor is where the phase resumes: after the last id that was copied, or at a time in
	// seconds. See userPages for users.
	Cursor int64 `json:"cursor"`
}

// ReadState parses a saved state. An empty text is the zero State.
func ReadState(text []byte) (State, error) {
	var s State
	if len(text) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, errors.Join(lyceum.Invalidf("the state file is damaged; delete it to start over"), err)
	}
	return s, nil
}

// resume checks the state from which the copy is to resume.
func (m *mirror) resume(ctx context.Context) error {
	fresh := State{From: m.From, School: int32(m.School)}
	kept := m.State
	m.State = fresh
	if kept == (State{}) {
		return nil
	}
	if kept.From != fresh.From || kept.School != fresh.School {
		return lyceum.Invalidf("the state file belongs to a copy of %s into school %d; use another --state "+
			"file, or delete it to start over", kept.From, kept.School)
	}
	known := false
	for _, phase := range m.phases() {
		known = known || phase.name == kept.Phase
	}
	if !known {
		return lyceum.Invalidf("unknown phase %q in the state file; delete the file to start over", kept.Phase)
	}
	journal, err := m.journal(ctx, kept.Entry)
	if err != nil {
		return err
	}
	if journal == kept.Journal {
		m.State = kept
	}
	m.Resume(m.State)
	return nil
}

// reached saves where the phase resumes.
func (m *mirror) reached(ctx context.Context, cursor int64) (err error) {
	m.State.Cursor = cursor
	if m.State.Entry, err = m.Store.In(ctx, m.School).LastEntry(); err != nil {
		return err
	}
	if m.State.Journal, err = m.journal(ctx, m.State.Entry); err != nil {
		return err
	}
	if err := m.Keep(m.State); err != nil {
		return fmt.Errorf("keep the state of the copy: %w", err)
	}
	return nil
}

// journal identifies the school's journal up to an entry. It differs for another database,
// and for a backup of this one that lacks the entry or has a different one under its
// number.
func (m *mirror) journal(ctx context.Context, entry int64) (string, error) {
	v := m.Store.In(ctx, m.School)
	school, err := v.GetSchool()
	if err != nil {
		return "", err
	}
	listing, err := v.FindChanges(lyceum.ChangeFilter{After: entry, Limit: 1})
	last := listing.Before
	return fmt.Sprintf("%d %s %d %d %s %d", school.CreatedAt.UnixMicro(), listing.Origin, last.Number,
		last.At.UnixMicro(), last.Type, last.ObjectID), err
}
