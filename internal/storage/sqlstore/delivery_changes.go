package sqlstore

import (
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The journal does not record the outcome of deliveries. For the indexes of their lists, the
// table delivery_changes records which deliveries the latest changes were about: one row per
// group of changes, and no more of them than an index reads to catch up.
const (
	keptChanges = 1024 // rows of a school that are kept
	trimEvery   = 64   // one in this many groups with a school deletes older rows of it
)

// fate is what was done to a delivery.
type fate int64

const (
	deliveryMade    fate = iota
	deliveryMoved        // or deleted
	deliverySettled      // its place is the same, but its outcome has changed
)

// fates is greater than any fate.
const fates = 4

// touched records which deliveries of a school a group changes: each note is an id times
// fates, plus what was done.
type touched struct {
	at    time.Time
	notes []int64
}

// touch records that a group changes a delivery. Recording one that does not change after all
// does no harm.
func (g *group) touch(school lyceum.SchoolID, at time.Time, id lyceum.WebhookEventID, what fate) {
	if g.touched == nil {
		g.touched = map[lyceum.SchoolID]*touched{}
	}
	t := g.touched[school]
	if t == nil {
		t = &touched{}
		g.touched[school] = t
	}
	t.at, t.notes = at, append(t.notes, int64(id)*fates+int64(what))
}

// noted counts the groups that recorded which deliveries of a school they change.
type noted struct {
	mu sync.Mutex
	of map[lyceum.SchoolID]int64
}

func (n *noted) add(school lyceum.SchoolID) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[lyceum.SchoolID]int64{}
	}
	n.of[school]++
	return n.of[school]
}

const (
	insertChange = "INSERT INTO delivery_changes (school_id, number, at, notes) VALUES ($1, " +
		"(SELECT COALESCE(max(d.number), 0) + 1 FROM delivery_changes d WHERE d.school_id = $1), $2, $3)"
	trimChanges = "DELETE FROM delivery_changes WHERE school_id = $1 AND number <= " +
		"(SELECT max(d.number) FROM delivery_changes d WHERE d.school_id = $1) - $2"
)

// keepTouched writes which deliveries were changed.
func (g *group) keepTouched() error {
	for _, school := range slices.Sorted(maps.Keys(g.touched)) {
		t := g.touched[school]
		err := g.later(insertChange, int64(school), micros(t.at), packDeltas(slices.Values(t.notes)))
		if err == nil && g.session.pool.noted.add(school)%trimEvery == 0 {
			err = g.later(trimChanges, int64(school), int64(keptChanges))
		}
		if err != nil {
			return fmt.Errorf("keep which deliveries were changed: %w", err)
		}
	}
	g.touched = nil
	return nil
}

// packDeltas encodes numbers, each as the difference from the one before.
func packDeltas(numbers iter.Seq[int64]) []byte {
	var packed []byte
	last := int64(0)
	for n := range numbers {
		packed = binary.AppendVarint(packed, n-last)
		last = n
	}
	return packed
}

// deltas decodes what packDeltas wrote. At invalid data it yields false and ends.
func deltas(packed []byte) iter.Seq2[int64, bool] {
	return func(yield func(int64, bool) bool) {
		n := int64(0)
		for len(packed) > 0 {
			by, size := binary.Varint(packed)
			if size <= 0 {
				yield(0, false)
				return
			}
			if n += by; !yield(n, true) {
				return
			}
			packed = packed[size:]
		}
	}
}

// deliveryLog returns the log from which lists of deliveries are updated: lists that depend on
// the outcome of deliveries if states is true, and other lists otherwise.
func deliveryLog(states bool) *changeLog {
	return &changeLog{
		mark: "COALESCE((SELECT max(d.number) FROM delivery_changes d WHERE d.school_id = $1), 0), COALESCE((" +
			"SELECT d.at FROM delivery_changes d WHERE d.school_id = $1 ORDER BY d.number DESC LIMIT 1), 0)",
		touched: func(q *session, school lyceum.SchoolID, from, to mark) ([]int32, bool, bool, error) {
			return touchedDeliveries(q, school, from, to, states)
		},
	}
}

// touchedDeliveries implements changeLog.touched.
func touchedDeliveries(
	q *session, school lyceum.SchoolID, from, to mark, states bool,
) (ids []int32, moved, ok bool, err error) {
	next := from
	if from.number == 0 { // before the first change
		next.number = 1
	}
	var row mark
	var packed []byte
	damaged := false
	err = q.each("SELECT number, at, notes FROM delivery_changes WHERE school_id = $1 AND number >= $2 AND "+
		"number <= $3 ORDER BY number", []any{int64(school), from.number, to.number},
		append(row.scan(), scanBytes(&packed)), func() error {
			switch {
			case row.number != next.number || row.number == from.number && row != from || len(ids) > maxBehind:
				return errFull
			case row.number == from.number:
				next.number++
				return nil
			}
			for note, well := range deltas(packed) {
				if !well {
					damaged = true
					return errFull
				}
				if what := fate(note % fates); what != deliverySettled || states {
					ids = append(ids, int32(note/fates))
					moved = moved || what != deliveryMade
				}
			}
			next.number++
			return nil
		})
	return ids, moved, !damaged && next.number == to.number+1, unlessFull(err)
}
