package sqlstore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// schoolSequence numbers the schools of a server. Its counter stands under
// school 0, which is no school.
const schoolSequence lyceum.Sequence = "school_id"

// journalCounter holds the number of a school's last entry.
const journalCounter = "journal"

// tx is one change of one school on its way into the database.
type tx struct {
	view

	stamp    lyceum.Stamp
	entries  []lyceum.Entry
	plain    int                       // how many of the entries announce nothing
	counts   map[string]int64          // what the change adds to counters of rows
	given    map[lyceum.Sequence]int32 // the last id that nextID gave
	unused   map[ticket]bool           // ids that nextID gave and no row has yet
	reserved map[lyceum.Sequence]span  // ids that nextID gives without asking
}

// span is ids from the first to the last.
type span struct{ first, last int32 }

func (s span) len() int {
	if s.last == 0 {
		return 0
	}
	return int(s.last - s.first + 1)
}

// ticket is one id of a sequence.
type ticket struct {
	seq lyceum.Sequence
	id  int32
}

func (s *Store) newTx(q *session, stamp lyceum.Stamp) *tx {
	v := view{ctx: q.ctx, store: s, q: q, school: stamp.School, moment: true}
	return &tx{
		view: v, stamp: stamp, counts: map[string]int64{}, given: map[lyceum.Sequence]int32{},
		unused: map[ticket]bool{}, reserved: map[lyceum.Sequence]span{},
	}
}

func (t *tx) Session() any { return t }

func (t *tx) Entries() []lyceum.Entry { return t.entries }

func (t *tx) Note(kind lyceum.EntryType, id int32) {
	if kind == "" { // the journal does not have the noun
		return
	}
	t.entries = append(t.entries, lyceum.Entry{Type: kind, ObjectID: id})
	t.plain++
}

func (t *tx) NoteDetail(kind lyceum.EntryType, id int32, detail string) {
	t.entries = append(t.entries, lyceum.Entry{
		Type: kind, ObjectID: id, Detail: lyceum.Opt[string]{Value: detail, Present: detail != ""},
	})
	t.plain++
}

// finish numbers the change's entries and keeps them and what it counted, and returns
// the last number; 0 without entries. It comes last, so that the counters' rows are
// locked as shortly as can be.
func (t *tx) finish() (last int64, err error) {
	if last, err = t.advanceCounters(); err != nil {
		return 0, fmt.Errorf("advance counters: %w", err)
	}
	if err := appendEntries(t.q, t.stamp, last-int64(len(t.entries)), t.entries); err != nil {
		return 0, err
	}
	t.entries, t.plain = nil, 0
	return last, nil
}

// advanceCounters adds to all counters in one statement and gives the number
// of the last journal entry.
func (t *tx) advanceCounters() (int64, error) {
	if len(t.entries) > 0 {
		t.counts[journalCounter] = int64(len(t.entries))
	}
	if len(t.counts) == 0 {
		return 0, nil
	}
	var args []any
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		args = append(args, int64(t.stamp.School), name, t.counts[name])
	}
	var name string
	var value, last int64
	err := t.q.each(insertText("counters", "name, value", 3, len(t.counts))+
		` ON CONFLICT (school_id, name) DO UPDATE SET value = counters.value + excluded.value RETURNING name, value`,
		args, []any{scanText(&name), scanInt(&value)}, func() error {
			if name == journalCounter {
				last = value
			}
			return nil
		})
	return last, err
}

// raise makes sure that id and all below it are never given out again.
func (t *tx) raise(seq lyceum.Sequence, id int32) error {
	if id <= t.given[seq] {
		return nil
	}
	err := t.q.exec(`INSERT INTO counters (school_id, name, value) VALUES ($1, $2, $3)
		ON CONFLICT (school_id, name) DO UPDATE SET value = excluded.value WHERE counters.value < excluded.value`,
		int64(t.stamp.School), string(seq), int64(id))
	if err != nil {
		return fmt.Errorf("raise %s: %w", seq, err)
	}
	delete(t.reserved, seq) // the next ones would not follow them
	return nil
}

func (t *tx) Reserve(n int, seqs ...lyceum.Sequence) error {
	var args []any
	rows := 0
	for _, seq := range seqs {
		if missing := n - t.reserved[seq].len(); missing > 0 {
			args = append(args, int64(t.stamp.School), string(seq), int64(missing))
			rows++
		}
	}
	if rows == 0 {
		return nil
	}
	var seq lyceum.Sequence
	var last int64
	return t.q.each(insertText("counters", "name, value", 3, rows)+
		` ON CONFLICT (school_id, name) DO UPDATE SET value = counters.value + excluded.value RETURNING name, value`,
		args, []any{scanText(&seq), scanInt(&last)}, func() error {
			if last > lyceum.MaxID {
				return noneLeft(seq)
			}
			t.reserved[seq] = span{int32(last) - int32(n) + 1, int32(last)} // with what was left: nobody else took any
			return nil
		})
}

func noneLeft(seq lyceum.Sequence) error {
	return lyceum.Errorf(lyceum.Conflict, "no %s is left: ids end at %d, and that one is in use", seq, lyceum.MaxID)
}

func (t *tx) NextQuiz() (lyceum.QuizID, error) {
	id, err := t.nextID(lyceum.QuizSequence)
	return lyceum.QuizID(id), err
}

func (t *tx) nextID(seq lyceum.Sequence) (int32, error) {
	if ids, ok := t.reserved[seq]; ok {
		id := ids.first
		if ids.first++; ids.first > ids.last {
			delete(t.reserved, seq)
		} else {
			t.reserved[seq] = ids
		}
		return t.give(seq, id), nil
	}
	var id int64
	_, err := t.q.one(`INSERT INTO counters (school_id, name, value) VALUES ($1, $2, 1)
		ON CONFLICT (school_id, name) DO UPDATE SET value = counters.value + 1 RETURNING value`,
		[]any{int64(t.stamp.School), string(seq)}, scanInt(&id))
	if err != nil {
		return 0, fmt.Errorf("take next %s: %w", seq, err)
	}
	if id > lyceum.MaxID {
		return 0, noneLeft(seq)
	}
	return t.give(seq, int32(id)), nil
}

func (t *tx) give(seq lyceum.Sequence, id int32) int32 {
	t.given[seq] = max(t.given[seq], id)
	t.unused[ticket{seq, id}] = true
	return id
}
