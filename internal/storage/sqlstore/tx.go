package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// schoolSequence numbers the schools of a server. Its counter is stored under school 0, which
// does not exist.
const schoolSequence lyceum.Sequence = "school_id"

// journalCounter is the counter with the number of a school's last entry.
const journalCounter = "journal"

// tx is one change of one school before it is written.
type tx struct {
	view

	stamp    lyceum.Stamp
	entries  []lyceum.Entry
	plain    int                       // how many of the entries announce nothing
	counts   map[string]int64          // what the change adds to counters
	given    map[lyceum.Sequence]int32 // the last id that nextID returned
	unused   map[ticket]bool           // ids that nextID returned and that no row has yet
	reserved map[lyceum.Sequence]span  // ids that nextID can return without a query
}

// span is a range of ids, both ends included.
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

func (t *tx) At() time.Time { return t.stamp.At }

func (t *tx) Entries() []lyceum.Entry { return t.entries }

func (t *tx) Note(kind lyceum.EntryType, id int32) {
	if kind == "" { // the noun is not in the journal
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

// finish hands the entries and counts of the change to the group. By the end of the group, last
// is set to the number of the change's last entry; 0 if it has none. It must be called last, so
// that a change that fails leaves nothing.
func (t *tx) finish(last *int64) error {
	*last = 0
	err := t.q.group.keep(t.stamp, t.counts, t.entries, last)
	t.counts, t.entries, t.plain = map[string]int64{}, nil, 0
	return err
}

// counter returns the value of a counter as this change sees it.
func (t *tx) counter(name string) (int64, error) {
	n, err := t.q.group.counter(t.stamp.School, name)
	return n + t.counts[name], err
}

func (t *tx) LastEntry() (int64, error) {
	last, err := t.q.group.counter(t.stamp.School, journalCounter)
	return last, t.public(err)
}

// raise makes sure that id and all lower ids are never assigned again.
func (t *tx) raise(seq lyceum.Sequence, id int32) error {
	if id <= t.given[seq] {
		return nil
	}
	last, err := t.counter(string(seq))
	if err != nil {
		return fmt.Errorf("raise %s: %w", seq, err)
	}
	if above := int64(id) - last; above > 0 {
		t.count(string(seq), above)
	}
	delete(t.reserved, seq) // the next ids would not follow them
	return nil
}

func (t *tx) Reserve(n int, seqs ...lyceum.Sequence) error {
	names := make([]string, len(seqs))
	for i, seq := range seqs {
		names[i] = string(seq)
	}
	if err := t.q.group.know(t.stamp.School, names...); err != nil {
		return err
	}
	for _, seq := range seqs {
		missing := n - t.reserved[seq].len()
		if missing <= 0 {
			continue
		}
		last, err := t.take(seq, missing)
		if err != nil {
			return err
		}
		t.reserved[seq] = span{last - int32(n) + 1, last} // includes the rest of the last span, because no one else took ids
	}
	return nil
}

// take adds n to a sequence and returns the last id that is now taken.
func (t *tx) take(seq lyceum.Sequence, n int) (int32, error) {
	last, err := t.counter(string(seq))
	if err != nil {
		return 0, fmt.Errorf("take next %s: %w", seq, err)
	}
	if last += int64(n); last > lyceum.MaxID {
		return 0, noneLeft(seq)
	}
	t.count(string(seq), int64(n))
	return int32(last), nil
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
	id, err := t.take(seq, 1)
	if err != nil {
		return 0, err
	}
	return t.give(seq, id), nil
}

func (t *tx) give(seq lyceum.Sequence, id int32) int32 {
	t.given[seq] = max(t.given[seq], id)
	t.unused[ticket{seq, id}] = true
	return id
}
