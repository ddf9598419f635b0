package sqlstore

import (
	"slices"
	"sync"
)

// guesses are what queries of earlier groups found. A rehearsal goes on with them until
// the database has answered. If the answers are the same, what the changes did counts;
// if not, they run again with the answers.
type guesses struct {
	mu         sync.Mutex
	young, old map[asked][][]any
}

// maxGuesses is how many guesses are kept at least, and maxGuessed how many rows of each.
const maxGuesses, maxGuessed = 4096, 16

// find gives the rows that a query is guessed to find.
func (k *guesses) find(of *statement, in likely) [][]any {
	if in.by == nil {
		return in.rows
	}
	key := askedOf(of, in.by)
	k.mu.Lock()
	defer k.mu.Unlock()
	rows, known := k.young[key]
	if !known {
		if rows, known = k.old[key]; !known {
			return in.rows
		}
		k.keep(key, rows)
	}
	return rows
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

// learn keeps what the queries of a group found, and the counters as it leaves them.
func (k *guesses) learn(g *group) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range g.answers {
		if a.by == nil || !a.known || a.huge || len(a.rows) > maxGuessed {
			continue
		}
		of := statementOf(a.text)
		rows := a.rows
		if of.words["counters"] {
			rows = g.countersAfter(a)
		}
		k.keep(askedOf(of, a.by), rows)
	}
}

// guessedRight reports whether all that was asked was guessed.
func (r *rehearsal) guessedRight() bool {
	for _, a := range r.missing {
		right := a.known && !a.huge && slices.EqualFunc(a.rows, a.guess, same)
		if !right {
			return false
		}
	}
	return !r.ended
}
