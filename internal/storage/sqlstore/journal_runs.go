package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// Consecutive entries of one moment that say the same about many objects are stored as one row
// of journal_runs: otherwise an import would spend as much on its entries as on its rows. Each
// entry has its number, and readers see no difference. A run ends with its transaction at the
// latest, so the last entry of a journal is single or ends a run.
const (
	leastRun = 64   // entries of the shortest run
	mostRun  = 4096 // entries of the longest one
)

// runColumns are the columns of journal_runs after the school.
const runColumns = "number, last, at, actor, type, object_ids"

// runColumnsOf returns runColumns qualified with an alias.
func runColumnsOf(alias string) string {
	return alias + "." + strings.ReplaceAll(runColumns, ", ", ", "+alias+".")
}

// entryRun is a run of entries with the numbers from Number to last, which differ only in
// their objects.
type entryRun struct {
	lyceum.Entry // the first; its object is not set

	last int64
	ids  []byte
}

func scanRun(r *entryRun) []any {
	return []any{
		scanInt(&r.Number), scanInt(&r.last), scanTime(&r.At), scanText(&r.Actor), scanText(&r.Type),
		scanBytes(&r.ids),
	}
}

func scanBytes(p *[]byte) sql.Scanner {
	return scanFunc(func(src any) error {
		b, ok := src.([]byte)
		if !ok {
			return wrong(src, "bytes")
		}
		*p = slices.Clone(b)
		return nil
	})
}

// foldable reports whether an entry may be part of a run. It may not if it announces an event
// or has a detail, nor if an index of the journal or a query for a person's data has to find
// it.
func foldable(e *dated) bool {
	return !e.Event.Present && !e.Detail.Present && !strings.HasPrefix(e.stamp.Actor, "user:") &&
		nounOf(e.Type) != "user" && !scarce[e.Type]
}

// runLength returns how many of the first entries say the same. There must be at least one
// entry.
func runLength(entries []dated) int {
	first := &entries[0]
	n := 1
	for n < min(len(entries), mostRun) && !first.Event.Present && !first.Detail.Present {
		e := &entries[n]
		if e.Type != first.Type || e.stamp.Actor != first.stamp.Actor || !e.stamp.At.Equal(first.stamp.At) ||
			e.Event.Present || e.Detail.Present {
			break
		}
		n++
	}
	return n
}

// rowsOfEntries appends the rows of single entries to singles, and returns it and the rows of
// runs. The entries are numbered after number.
func rowsOfEntries(singles [][]any, school lyceum.SchoolID, number int64, entries []dated) (rows, runs [][]any) {
	for len(entries) > 0 {
		single, n := 0, 0
		for single < len(entries) {
			if n = runLength(entries[single:]); n >= leastRun && foldable(&entries[single]) {
				break
			}
			single, n = single+n, 0
		}
		for _, e := range entries[:single] {
			number++
			singles = append(singles, []any{
				int64(school), number, micros(e.stamp.At), e.stamp.Actor, string(e.Type), int64(e.ObjectID), optText(e.Event),
				optText(e.Detail), markOf(e.Type),
			})
		}
		if entries = entries[single:]; n == 0 {
			continue
		}
		first := &entries[0]
		runs = append(runs, []any{
			int64(school), number + 1, number + int64(n), micros(first.stamp.At), first.stamp.Actor, string(first.Type),
			packIDs(entries[:n]),
		})
		number, entries = number+int64(n), entries[n:]
	}
	return singles, runs
}

// packIDs encodes the ids of the entries' objects, each as the difference from the one before.
func packIDs(entries []dated) []byte {
	return packDeltas(func(yield func(int64) bool) {
		for i := range entries {
			if !yield(int64(entries[i].ObjectID)) {
				return
			}
		}
	})
}

var errRun = errors.New("a run of journal entries is damaged")

// entries returns the entries of a run.
func (r *entryRun) entries() ([]lyceum.Entry, error) {
	if r.last < r.Number || r.last-r.Number >= mostRun {
		return nil, errRun
	}
	entries := make([]lyceum.Entry, 0, r.last-r.Number+1)
	for id, well := range deltas(r.ids) {
		if !well || id < 0 || id > lyceum.MaxID {
			return nil, errRun
		}
		e := r.Entry
		e.Number += int64(len(entries))
		e.ObjectID = int32(id)
		entries = append(entries, e)
	}
	if int64(len(entries)) != r.last-r.Number+1 {
		return nil, errRun
	}
	return entries, nil
}

// entry returns the entry of a run with the given number, or a zero Entry if the run has none.
func (r *entryRun) entry(number int64) (lyceum.Entry, error) {
	if r.Number == 0 || number < r.Number || number > r.last {
		return lyceum.Entry{}, nil
	}
	entries, err := r.entries()
	if err != nil {
		return lyceum.Entry{}, err
	}
	return entries[number-r.Number], nil
}

// runSearch is a search for entries in runs, with numbers from low to high.
type runSearch struct {
	low, high int64
	down      bool // starting with the highest
	limit     int
	narrow    func(*where)      // narrows to the runs that may match
	object    lyceum.Opt[int32] // if present, only entries about it match
}

// inText returns a limit of at least n for a subquery. It becomes part of the text, because
// SQLite plans a query again whenever such a limit is bound, and is a power of two, so that
// there are few texts.
func inText(n int) string { return strconv.Itoa(1 << bits.Len(uint(n-1))) }

// text returns the query for the runs, and adds its arguments to those of w.
func (s *runSearch) text(w *where, school lyceum.SchoolID) string {
	own := &where{args: w.args}
	own.and("school_id = ?", int64(school))
	own.and("last >= ?", s.low)
	own.and("number <= ?", s.high)
	s.narrow(own)
	order := " ORDER BY last"
	if s.down {
		order += " DESC"
	}
	if !s.object.Present { // the first and the last run may have just one entry between low and high
		order += " LIMIT " + inText(s.limit/leastRun+2)
	}
	w.args = own.args
	return "SELECT " + runColumns + " FROM journal_runs" + own.String() + order
}

// entries returns the entries of a run that match the search, in its order.
func (s *runSearch) entries(r *entryRun) ([]lyceum.Entry, error) {
	entries, err := r.entries()
	if err != nil {
		return nil, err
	}
	if s.down {
		slices.Reverse(entries)
	}
	return slices.DeleteFunc(entries, func(e lyceum.Entry) bool {
		return e.Number < s.low || e.Number > s.high || s.object.Present && e.ObjectID != s.object.Value
	}), nil
}

// find returns the first entries that match the search.
func (s *runSearch) find(q *session, school lyceum.SchoolID) (found []lyceum.Entry, err error) {
	w := &where{}
	var r entryRun
	text := s.text(w, school)
	err = q.each(text, w.args, scanRun(&r), func() error {
		entries, err := s.entries(&r)
		if err != nil {
			return err
		}
		found = append(found, entries[:min(len(entries), s.limit-len(found))]...)
		if len(found) == s.limit {
			return errFull
		}
		return nil
	})
	return found, unlessFull(err)
}

// checkRuns reads all runs of a school and reports those that are damaged.
func checkRuns(q *session, school lyceum.SchoolID) (findings []lyceum.Finding, err error) {
	broken := 0
	var r entryRun
	err = q.each("SELECT "+runColumns+" FROM journal_runs WHERE school_id = $1", []any{int64(school)}, scanRun(&r),
		func() error {
			if _, err := r.entries(); err != nil {
				broken++
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("check runs of journal entries: %w", err)
	}
	if broken > 0 {
		findings = append(findings, lyceum.Finding{
			School: school, What: fmt.Sprintf("%d runs of journal entries cannot be read", broken),
		})
	}
	return findings, nil
}
