package lyceum

import (
	"context"
	"time"
)

// TallyName is the digest of what is counted: what strangers type may be long, and
// is nobody's business.
type TallyName [16]byte

// Tally is a count in a window of time that all processes of a database share.
type Tally struct {
	School SchoolID // 0: of no school
	Topic  TallyName
	Name   TallyName     // within the topic
	Length time.Duration // of the window
	// Begin is when the window begins, unless one of the same length is running.
	Begin time.Time

	Add  int64 // is counted in any case
	Want int64 // is counted besides, as far as there is room
}

// Tallied is what has become of a Tally.
type Tallied struct {
	Begin time.Time // of the window that is running
	Used  int64     // in it, by all processes
	Given int64     // of what was wanted
}

// Tallies are kept by a database that several processes serve. They are not
// changes of a school, and a crash of the database may lose those of its last
// second. Every call is one statement and returns within two seconds.
type Tallies interface {
	// Count counts, and returns what has become of each tally, which must differ. Of
	// what is wanted it gives up to an eighth of what is left below most, and at least
	// one while anything is left.
	Count(ctx context.Context, most int64, tallies []Tally) ([]Tallied, error)
	// Look returns what is counted in the windows that are running at each Begin.
	Look(ctx context.Context, tallies []Tally) ([]Tallied, error)
	// GiveBack takes back what Add says from the windows that begin at Begin.
	GiveBack(ctx context.Context, tallies []Tally) error
	// Forget drops all counts of a topic.
	Forget(ctx context.Context, school SchoolID, topic TallyName) error
	// Sweep drops what was over at a moment.
	Sweep(ctx context.Context, at time.Time) error
}
