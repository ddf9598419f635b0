package sqlstore

import (
	"sync"

	"github.com/lyceum-school/lyceum"
)

// guesses has what queries of earlier groups found, including one that is being committed. A
// rehearsal continues with these results until the database has responded. If the results are
// the same, what the changes did counts; if not, they run again with the results.
type guesses struct {
	mu         sync.Mutex
	young, old map[queryKey][][]any
	counters   map[lyceum.SchoolID]map[string]int64 // as the last group left them
	schools    map[lyceum.SchoolID]*credit
}

// maxGuesses is how many guesses are kept at least, maxGuessed how many rows each has at most,
// and maxGuessedBytes how many bytes.
const maxGuesses, maxGuessed, maxGuessedBytes = 4096, 16, 4 << 10

// guessable reports whether a result is small enough to be kept.
func guessable(rows [][]any) bool { return len(rows) <= maxGuessed && bytesOf(rows) <= maxGuessedBytes }

// find returns the rows that a query is guessed to find. The guess is blind if the query is
// likely to find what it found before, but that is not known.
func (k *guesses) find(of *statement, in likely) (rows [][]any, blindly bool) {
	if in.by == nil {
		return in.rows, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if in.counters {
		return rowsOfCounters(in.by, k.counters), false
	}
	key := queryKeyOf(of, in.by)
	rows, known := k.young[key]
	if !known {
		if rows, known = k.old[key]; !known {
			return in.rows, true
		}
		k.keep(key, rows)
	}
	return rows, false
}

func (k *guesses) keep(key queryKey, rows [][]any) {
	if len(k.young) >= maxGuesses {
		k.young, k.old = nil, k.young
	}
	if k.young == nil {
		k.young = map[queryKey][][]any{}
	}
	k.young[key] = rows
}

// learn keeps what the queries of a group found, and the counters as the group leaves them.
func (k *guesses) learn(g *group) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range g.lookups {
		by := l.in.likely.by
		if by == nil || !l.known || l.counts() {
			continue
		}
		key, rows, ok := queryKeyOf(statementOf(l.text), by), l.rows, !l.huge
		if ok && g.met(key.of, l.in, l.args, l.since) {
			if ok = l.in.derivable() && l.in.through == nil; ok { // a view could need queries
				rows, ok, _ = g.catchUp(key.of, l.in, l.args, rows, l.since)
			}
		}
		if !ok || !guessable(rows) {
			delete(k.young, key)
			delete(k.old, key)
			continue
		}
		k.keep(key, rows)
	}
	if k.counters == nil || len(k.counters) > maxGuesses {
		k.counters = map[lyceum.SchoolID]map[string]int64{}
	}
	for school, b := range g.schools {
		if k.counters[school] == nil {
			k.counters[school] = map[string]int64{}
		}
		for name, n := range b.kept {
			k.counters[school][name] = n
		}
	}
}

// look keeps what queries found, if they can be guessed.
func (k *guesses) look(found []*lookup) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range found {
		if l.known && !l.huge && guessable(l.rows) {
			k.keep(queryKeyOf(statementOf(l.text), l.in.likely.by), l.rows)
		}
	}
}

// forget forgets the counters of a school whose last group was not committed. Otherwise it
// would look as if another process had changed them.
func (k *guesses) forget(school lyceum.SchoolID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.counters, school)
}
