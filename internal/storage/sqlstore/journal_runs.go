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

// Entries of one moment that follow one another and say the same of many objects are kept
// as one row of journal_runs: an import would spend as much on its entries as on its rows.
// Each entry has its number, and readers see no difference. A run ends with its transaction
// at the latest, so the last entry of a journal is alone or ends one.
const (
	leastRun = 64   // entries of the shortest run
	mostRun  = 4096 // entries of the longest one
)

// runColumns are those of journal_runs after the school.
const runColumns = "number, last, at, actor, type, object_ids"

// runColumnsOf is the same behind an alias.
func runColumnsOf(alias string) string {
	return alias + "." + strings.ReplaceAll(runColumns, ", ", ", "+alias+".")
}

// entryRun is several entries with numbers from Number to last, which differ in their objects.
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

// foldable reports whether an entry may be part of a run: one that announces an event or
// has a detail is not, nor one that an index of the journal or a person's data finds.
func foldable(e *dated) bool {
	return !e.Event.Present && !e.Detail.Present && !strings.HasPrefix(e.stamp.Actor, "user:") &&
		nounOf(e.Type) != "user" && !scarce[e.Type]
}

// runLength returns how many of the first entries, of which there is one, say the same.
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

// rowsOfEntries adds the rows of entries that are numbered after a number to singles, and
// gives those of runs.
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

// packIDs writes the ids of objects, each as its difference to the one before.
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

// entries returns those of a run.
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

// entry returns one of those of a run, and none where there is none of that number.
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

// runSearch is a question for entries of runs, with numbers from low to high.
type runSearch struct {
	low, high int64
	down      bool // from the highest on
	limit     int
	narrow    func(*where)      // of which runs
	object    lyceum.Opt[int32] // the only one wanted
}

// inText is a limit of at least n for a subquery. It is part of the text, since SQLite
// plans a query again whenever such a limit is bound, and a power of two, so that there are
// few texts.
func inText(n int) string { return strconv.Itoa(1 << bits.Len(uint(n-1))) }

// text gives the query for the runs, of the arguments of w and of its own.
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
	if !s.object.Present { // the first and the last run may have a single entry between low and high
		order += " LIMIT " + inText(s.limit/leastRun+2)
	}
	w.args = own.args
	return "SELECT " + runColumns + " FROM journal_runs" + own.String() + order
}

// entries returns those entries of a run that the search is for, in its order.
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

// find returns the first entries of the search.
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

// checkRuns reads all runs of a school.
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
