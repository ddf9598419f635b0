package sqlstore

import (
	"sync"

	"github.com/lyceum-school/lyceum"
)

// guesses are what queries of earlier groups found, or of one that is being committed. A rehearsal
// goes on with them until the database has answered. If the answers are the same, what the
// changes did counts; if not, they run again with the answers.
type guesses struct {
	mu         sync.Mutex
	young, old map[asked][][]any
	counters   map[lyceum.SchoolID]map[string]int64 // as the last group left them
	schools    map[lyceum.SchoolID]*credit
}

// maxGuesses is how many guesses are kept at least, and maxGuessed how many rows of each, of so
// many bytes at most.
const maxGuesses, maxGuessed, maxGuessedBytes = 4096, 16, 4 << 10

// find gives the rows that a query is guessed to find, and whether blindly: what it found before is
// likely, and nobody knows that.
func (k *guesses) find(of *statement, in likely) (rows [][]any, blindly bool) {
	if in.by == nil {
		return in.rows, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if in.counters {
		return rowsOfCounters(in.by, k.counters), false
	}
	key := askedOf(of, in.by)
	rows, known := k.young[key]
	if !known {
		if rows, known = k.old[key]; !known {
			return in.rows, true
		}
		k.keep(key, rows)
	}
	return rows, false
}

func (k *guesses) keep(key asked, rows [][]any) {
	if len(k.young) >= maxGuesses {
		k.young, k.old = nil, k.young
	}
	if k.young == nil {
		k.young = map[asked][][]any{}
	}
	k.young[key] = rows
}

// learn keeps what the queries of a group found, and the counters, as it leaves them.
func (k *guesses) learn(g *group) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range g.answers {
		by := a.in.likely.by
		if by == nil || !a.known || a.counts() {
			continue
		}
		key, rows, told := askedOf(statementOf(a.text), by), a.rows, !a.huge
		if told && g.met(key.of, a.in, a.args, a.since) {
			if told = a.in.told() && a.in.through == nil; told { // so that nothing is asked
				rows, told, _ = g.catchUp(key.of, a.in, a.args, rows, a.since)
			}
		}
		if !told || len(rows) > maxGuessed || bytesOf(rows) > maxGuessedBytes {
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

// forget forgets the counters of a school whose last group was not committed: they would look as if
// another process had counted.
func (k *guesses) forget(school lyceum.SchoolID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.counters, school)
}
