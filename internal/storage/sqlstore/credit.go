package sqlstore

import (
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// credit records how well the queries of a school's changes were guessed so far.
type credit struct {
	streaks  map[*statement]int // how many times in a row each query found what was guessed
	counters int                // how many times in a row counters were guessed right
	shared   bool               // another process changes the school, too
	changes  int                // rises when everything was guessed right, up to maxCredit, and falls otherwise
}

const (
	leastStreak = 2 // after this many, the next guess is presumed right
	// leastStreakAhead is the same for a group that goes ahead: it gains a tenth if its
	// guesses are right, and runs twice if one is wrong.
	leastStreakAhead = 16
	maxStreaks       = 64 // queries of a school whose streaks are kept
	maxCredit        = 8
	leastCredit      = 4 // from which on a single change is worth a rehearsal
)

// trust is how far guesses are relied on.
type trust int

const (
	queryFirst  trust = iota
	butCounters       // everything except counters is presumed to be guessed right
	entirely
)

// counts reports whether a query reads counters.
func (l *lookup) counts() bool { return strings.HasPrefix(l.text, counterValues) }

// school returns the school that a query is about.
func (l *lookup) school() (lyceum.SchoolID, bool) {
	if len(l.args) == 0 {
		return 0, false
	}
	id, is := l.args[0].(int64)
	return lyceum.SchoolID(id), is
}

func (k *guesses) creditOf(school lyceum.SchoolID) *credit {
	if k.schools == nil || len(k.schools) > maxGuesses {
		k.schools = map[lyceum.SchoolID]*credit{}
	}
	c := k.schools[school]
	if c == nil {
		c = &credit{}
		k.schools[school] = c
	}
	if c.streaks == nil || len(c.streaks) > maxStreaks {
		c.streaks = map[*statement]int{}
	}
	return c
}

// judge records how well the queries of changes were guessed, by school.
func (k *guesses) judge(members []*change, r *rehearsal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	counted, right := map[lyceum.SchoolID]bool{}, map[lyceum.SchoolID]bool{}
	for _, school := range schoolsOf(members) {
		right[school] = !r.ended && len(r.missing) > 0
	}
	blindly := slices.ContainsFunc(r.missing, func(l *lookup) bool { return l.blind })
	for _, l := range r.missing {
		school, is := l.school()
		if !is {
			continue
		}
		c, of := k.creditOf(school), statementOf(l.text)
		switch rightly := l.guessedRight(); {
		case l.counts():
			before, known := counted[school]
			counted[school] = rightly && (before || !known)
			c.shared = c.shared || !rightly && len(l.guess) > 0
		case blindly: // changes that continue from there may run queries that they otherwise would not
			right[school] = right[school] && rightly
		case rightly:
			c.streaks[of]++
		default:
			c.streaks[of], right[school] = 0, false
		}
	}
	for school, rightly := range counted {
		c := k.creditOf(school)
		if c.counters++; !rightly {
			c.counters = 0
		}
		c.shared = c.shared && c.counters < leastStreak
	}
	for school, rightly := range right {
		c := k.creditOf(school)
		if rightly {
			c.changes = min(c.changes+2, maxCredit)
		} else {
			c.changes = max(c.changes-1, 0)
		}
	}
}

// distrust records that what was presumed to be guessed right was not.
func (k *guesses) distrust(r *rehearsal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range r.missing {
		school, is := l.school()
		if !is {
			continue
		}
		c := k.creditOf(school)
		c.counters = 0
		c.streaks[statementOf(l.text)] = 0
	}
}

// trusts returns how far the guesses of a rehearsal are relied on: those of a query are if at
// least the last least ones were right.
func (k *guesses) trusts(r *rehearsal, least int) trust {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := entirely
	for _, l := range r.missing {
		school, is := l.school()
		if !is {
			return queryFirst
		}
		switch c := k.creditOf(school); {
		case l.blind:
			return queryFirst
		case !l.counts() && c.streaks[statementOf(l.text)] < least:
			return queryFirst
		case l.counts() && c.counters < least:
			of = butCounters
		}
	}
	return of
}

// promises reports whether all queries of a change are likely to be guessed right.
func (k *guesses) promises(c *change) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.schools[c.school]
	return of != nil && of.changes >= leastCredit && !c.many
}

// shared reports whether another process also changes a school.
func (k *guesses) shared(school lyceum.SchoolID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.schools[school]
	return of != nil && of.shared
}

// guessedRight reports whether a query found what was guessed.
func (l *lookup) guessedRight() bool {
	return l.known && !l.huge && slices.EqualFunc(l.rows, l.guess, same)
}

// guessedRight reports whether all queries found what was guessed.
func (r *rehearsal) guessedRight() bool {
	return !r.ended && !slices.ContainsFunc(r.missing, func(l *lookup) bool { return !l.guessedRight() })
}
