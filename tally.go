package lyceum

import (
	"context"
	"time"
)

// TallyName is the digest of what is counted, because what strangers type may be long and
// private.
type TallyName [16]byte

// Tally is a count within a time window that all processes of a database share.
type Tally struct {
	School SchoolID // 0: no school
	Topic  TallyName
	Name   TallyName     // within the topic
	Length time.Duration // of the window
	// Begin is when the window begins, unless one of the same length is already running.
	Begin time.Time

	Add  int64 // is always counted
	Want int64 // is counted in addition, as far as the limit allows
}

// Tallied is the result of a Tally.
type Tallied struct {
	Begin time.Time // of the running window
	Used  int64     // in that window, by all processes
	Given int64     // part of Want that was granted
}

// Tallies are kept by a database that several processes use. They are not changes of a school,
// and a crash of the database may lose those of the last second. Every call is one statement
// and returns within two seconds.
type Tallies interface {
	// Count counts, and returns the result of each tally; all tallies must differ. Of Want, it
	// grants up to an eighth of what is left below most, and at least one while anything is
	// left.
	Count(ctx context.Context, most int64, tallies []Tally) ([]Tallied, error)
	// Look returns the counts in the windows that are running at each Begin.
	Look(ctx context.Context, tallies []Tally) ([]Tallied, error)
	// GiveBack subtracts Add from the windows that begin at Begin.
	GiveBack(ctx context.Context, tallies []Tally) error
	// Forget deletes all counts of a topic.
	Forget(ctx context.Context, school SchoolID, topic TallyName) error
	// Sweep deletes the windows that were over at the given time.
	Sweep(ctx context.Context, at time.Time) error
}
