package lyceum

import (
	"context"
	"time"
)

// Store keeps schools. Every method that takes a SchoolID sees that school
// alone. Errors are *Error when the caller can do something about them:
// NotFound for a thing that is not there, Conflict for one that is there
// already, Unavailable when the database cannot be reached or is full.
//
// internal/storage/storetest defines what a store is; every store passes it.
type Store interface {
	Reader

	// In returns one school as it is when it is read: each read sees a moment of
	// its own.
	In(ctx context.Context, school SchoolID) View
	// AtOnce calls read with a school as it is at one moment, whatever is
	// changed meanwhile.
	AtOnce(ctx context.Context, school SchoolID, read func(View) error) error
	// SalesAtOnce is AtOnce for a read that lists transactions by what they have in
	// common, such as their author: what memory knows of that moment answers it, where
	// the database would read all that the school has sold.
	SalesAtOnce(ctx context.Context, school SchoolID, read func(View) error) error

	// CreateSchool keeps a new school. With ID 0 the store chooses one.
	CreateSchool(ctx context.Context, s School, actor string) (School, error)

	// Write runs change in a transaction of the school. The changes of a school
	// take turns, those of other processes too: what a change reads stays so
	// until it ends. The entries that its saves append are numbered and kept in
	// the same transaction. When Write
	// returns nil the change is on disk; when it returns an error nothing of
	// it is kept, unless the error has the code OutcomeUnknown. The function may
	// be run more than once, must touch nothing outside but its own results, and
	// is not run any more once Write has returned.
	Write(ctx context.Context, stamp Stamp, change func(Tx) error) error

	// Changed gives a channel that is closed once this process has kept a
	// change of the school after the call; school 0 stands for all. Of other
	// processes it tells nothing.
	Changed(school SchoolID) <-chan struct{}

	// Sweep deletes what has expired in a school, in small steps with pauses. It is
	// not a change of a school and appends no entry.
	Sweep(ctx context.Context, school SchoolID, e Expired) error
	// Compact gives the system the space back that a SQLite file has free, but for an
	// eighth of it and at least 16 MiB, in small steps with pauses. A file that an older
	// version made keeps it, and PostgreSQL manages its own.
	Compact(ctx context.Context) error

	// Bookkeep keeps what is known about the use of credentials. It is not a
	// change of a school and appends no entry.
	Bookkeep(ctx context.Context, b Bookkeeping) error

	// HoldLease reports whether a process holds a lease for d from now on, in the
	// database's time: it held it already, or nobody did. With d 0 it gives it back.
	// In a database that one process serves, that process always holds it.
	HoldLease(ctx context.Context, lease Lease, holder string, d time.Duration) (bool, error)

	// Tallies returns the counts that the processes of the database share; nil for a
	// database that one process serves.
	Tallies() Tallies

	Close() error
}

// ClaimLifetime is how long what a process claimed to send belongs to it, unless it renews
// the claim: then another one takes over.
const ClaimLifetime = 4 * time.Second

// Lease is what one process at a time does for all that serve a database.
type Lease string

// Leases.
const (
	// SchedulerLease is held by the process that does what comes with time alone.
	SchedulerLease Lease = "scheduler"
	// FilesLease is held by the process that keeps uploaded files in a folder of its own,
	// or by all that keep them in the same store.
	FilesLease Lease = "files"
)

// Revision is a state of a school in a store. Two of them are equal or not; nothing
// else is said by their numbers.
type Revision struct {
	Database int64 // of the database, whatever of it was changed
	Sales    int64 // of the school's sales, where they are read from elsewhere
}

// Reader is the part of a store that asks.
type Reader interface {
	// Ping tells whether the database answers and holds the schema this
	// program was built for.
	Ping(ctx context.Context) error

	// Revision numbers the state of a school: what is read from it between two calls
	// that return the same number is the same, the passing of time apart. It is unknown
	// where the store cannot tell that for little.
	Revision(school SchoolID) (r Revision, known bool)

	// Reach waits until what is read of a school shows an entry of its journal, and all
	// before it: after a second it fails with Unavailable.
	Reach(ctx context.Context, school SchoolID, entry int64) error

	FindSchools(ctx context.Context) ([]School, error)

	FindRateWindows(ctx context.Context, start time.Time) ([]RateWindow, error)

	// CountKept counts the rows of a school that are kept for a time, and those of
	// them that have expired.
	CountKept(ctx context.Context, school SchoolID, e Expired) (all, expired map[Kept]int64, err error)
	// FindSizes reads all of a SQLite file, while others use it.
	FindSizes(ctx context.Context) (Sizes, error)

	SalesReader
	WebhookReader
	EmailReader
	ErasureReads

	// Check looks for what must never be: counters that disagree with rows,
	// gaps in a journal, rows without their school. An empty list is health.
	Check(ctx context.Context) ([]Finding, error)
}

// LearningChanges are what a change does about enrollments and progress besides
// changing their rows.
type LearningChanges interface {
	// BeginEnrollment inserts an enrollment, and a record of progress if the user
	// has none of the course. It inserts nothing and returns false if the course
	// or the user does not exist, or if the user has an enrollment in the course
	// that nobody ended.
	BeginEnrollment(e Enrollment) (begun bool, err error)
	// MayBegin reports whether it would insert one, and whether the user has a record
	// of progress.
	MayBegin(user UserID, course CourseID) (may, studied bool, err error)
	// FindPublished returns the lectures of a course that learners see, in order:
	// those that are published in a section that is.
	FindPublished(course CourseID) ([]LectureID, error)
	// FindParent returns a comment that is replied to, and how many comments there are in
	// its thread, itself included. It fails with NotFound.
	FindParent(id CommentID) (parent Comment, inThread int64, err error)
	// FindRecounted returns the progress that is counted again next, by user.
	FindRecounted(r Recounting, limit int) ([]Progress, error)
	// CountLectureProgress returns, of everybody with progress in a course who comes
	// after a user and not after last, how many of the lectures that are published
	// now, in a section that is, they completed, and when the last.
	CountLectureProgress(r Recounting, last UserID) (map[UserID]LectureCount, error)
	// Reorder stores new positions by id of rows that a sequence numbers and that have an
	// order within their parent: sections, lectures or attachments. It appends an entry
	// for each.
	Reorder(seq Sequence, positions map[int32]int32) error
}

// View is one school as it is read outside of changes.
type View struct {
	*Tables
	Reads
}

// Reads are the questions to one school that are not about the rows of one
// noun.
type Reads interface {
	Source
	JournalReads
	NamesReads
	TagReads

	// GetSchool fails with NotFound when there is no such school.
	GetSchool() (School, error)
	// Known returns those of ids that exist in the sequence.
	Known(seq Sequence, ids []int32) ([]int32, error)

	// CountTaken returns what is taken of some pricing plans and coupons.
	CountTaken(plans []PricingPlanID, coupons []CouponID) (Taken, error)
	// CountProducts returns what there is at a moment of some products of a kind, by
	// their ids.
	CountProducts(kind ProductKind, ids []int32, at time.Time) (map[int32]ProductCounts, error)

	// FindBesides returns what is shown of some users besides their rows.
	FindBesides(users []UserID) (map[UserID]UserBesides, error)

	// FindScores returns the quizzes that a user responded to and whose courses want a
	// least score, with that score.
	FindScores(user UserID) (map[QuizID]float64, error)

	// FindAttempts returns the attempts of a delivery with a number above after,
	// in order. They end at AnswerBytes; more reports that there are others.
	FindAttempts(id WebhookEventID, after int32) (attempts []Attempt, more bool, err error)

	// FindTexts searches for a person in the next texts that may name them: orders,
	// comments, notes, reasons, the journal, kept answers, jobs, and last what webhooks
	// were sent and answered, a few hundred of the newest at a time. It returns up to 256,
	// where to go on, and whether there are more to search.
	FindTexts(user UserID, called Called, from Searched) (found FoundTexts, next Searched, more bool, err error)

	// EachPersonal calls visit with every row that the school holds about a user, as a
	// JSON object, noun by noun, until visit fails; without passwords, secrets and the
	// hashes of both. The bytes are valid only during the call.
	EachPersonal(user UserID, visit func(noun string, row []byte) error) error

	// FindEnrolled lists the active enrollments of a course, without their ids
	// and its name.
	FindEnrolled(f EnrolledFilter, p Page) (Listing[Enrolled], error)
	// FindEnrolledOf returns the enrollments of a user, past ones too, by id.
	FindEnrolledOf(user UserID) ([]Enrolled, error)
	// FindHeld lists what a user has access to, what they got last first: by since
	// when, then by kind and id.
	FindHeld(f HeldFilter, p Page) (Listing[Held], error)
	// FindNamed returns those of products that exist, and what a user has of them
	// at a moment.
	FindNamed(user UserID, at time.Time, products []Product) (map[Product]Held, error)
	// FindHoldings lists the holdings of a product. Outside of a moment it may see
	// what the product comes with at another one than the holdings.
	FindHoldings(f HoldingFilter, p Page) (Listing[Holding], error)
	// ListProducts lists products of all kinds; ties are broken by kind and id.
	ListProducts(f AnyProductFilter, p Page) (Listing[AnyProduct], error)
}

// Tx is one change of one school, open while the function given to Store.Write
// runs. Its reads see what it has changed.
type Tx struct {
	*Tables
	Changes
}

// View returns what a change reads, and sees what it has changed.
func (tx Tx) View() View { return View{Tables: tx.Tables, Reads: tx.Changes} }

// Silent returns the same change, but what is done with it is not announced.
func (tx Tx) Silent() Tx { return Tx{Tables: tx.Tables, Changes: silent{tx.Changes}} }

type silent struct{ Changes }

// Announce announces nothing.
func (silent) Announce(EntryType, int32, EventName, string) {}

// Changes are what a change of one school does besides changing the rows of one
// noun. Its reads see what it has changed.
type Changes interface {
	Reads

	// At is when the change is made.
	At() time.Time

	// Entries returns what the change has appended so far, without numbers.
	Entries() []Entry

	// Ahead asks, in one statement as far as it can, what the change is going to ask: it
	// then has the answer. It changes none.
	Ahead(wanted ...Wanted) error

	// Reserve makes sure that the next n ids of each sequence are taken, at once for
	// all; the NextID of their tables returns them. Each sequence is named once.
	Reserve(n int, seqs ...Sequence) error
	// NextQuiz gives out the id of a new quiz, which is in an attachment.
	NextQuiz() (QuizID, error)

	// ChangeSchool changes the settings of the school, and appends an entry if
	// they differ then.
	ChangeSchool(change func(*School)) error

	LearningChanges
	SalesChanges
	JournalChanges
	WebhookChanges
	EmailChanges

	// RevokeGrants revokes up to most of the grants that pass, 0 for all of
	// them, and returns how many. It is one statement, because an app may have
	// a great many.
	RevokeGrants(f GrantFilter, most int, at time.Time) (int, error)
	// SpendCode reports whether the code was there unspent; of any number of
	// calls for one code exactly one hears that it was. A spent code is
	// remembered until the given time.
	SpendCode(hash KeyHash, at, remember time.Time) (bool, error)
	// SignedIn notes where and when a user signed in. It appends no entry.
	SignedIn(user UserID, from string, at time.Time) error
	// FindCalled returns what a user was called, as far as events told of changes.
	FindCalled(user UserID) (Called, error)
	// EraseTraces erases what a person wrote, answered and was tagged with.
	EraseTraces(user UserID) error
	// EraseTexts erases a person from texts that FindTexts found.
	EraseTexts(user UserID, called Called, found FoundTexts) error
	// SetTags sets all tags of a user, and reports whether that changed any.
	SetTags(user UserID, tags []string) (changed bool, err error)
}

// Saved counts what a save did.
type Saved struct{ Created, Updated, Unchanged int }

// Add adds the counts of other.
func (s *Saved) Add(other Saved) {
	s.Created += other.Created
	s.Updated += other.Updated
	s.Unchanged += other.Unchanged
}

// Total is the number of rows the save was given.
func (s Saved) Total() int { return s.Created + s.Updated + s.Unchanged }

// RateWindow is how many requests a school made in the minute beginning at
// Start.
type RateWindow struct {
	School SchoolID
	Start  time.Time
	Used   int64
}

// KeyUse is when an API key was last used.
type KeyUse struct {
	School SchoolID
	Key    APIKeyID
	At     time.Time
}

// GrantUse is when an app last acted on a grant.
type GrantUse struct {
	School SchoolID
	Grant  GrantID
	At     time.Time
}

// AppUse is when an app last showed its credentials.
type AppUse struct {
	School SchoolID
	App    OAuthAppID
	At     time.Time
}

// Bookkeeping is what is known about the use of credentials since last time.
type Bookkeeping struct {
	KeyUses     []KeyUse
	GrantUses   []GrantUse
	AppUses     []AppUse
	RateWindows []RateWindow
}

// Finding is one thing that Check found wrong.
type Finding struct {
	School SchoolID
	What   string
}
