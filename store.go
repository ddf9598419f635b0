package lyceum

import (
	"context"
	"time"
)

// Store stores schools. Every method that takes a SchoolID sees only that school. Errors are
// *Error if the caller can do something about them: NotFound for an object that does not exist,
// Conflict for one that already exists, Unavailable if the database cannot be reached or is
// full.
//
// Every store passes the tests in internal/storage/storetest, which define what a store is.
type Store interface {
	Reader

	// In returns a view of one school. Each of its reads sees the school as it is at that
	// moment, independently of the others.
	In(ctx context.Context, school SchoolID) View
	// AtOnce calls read with a snapshot of the school, so that all reads see the same state.
	AtOnce(ctx context.Context, school SchoolID, read func(View) error) error
	// SalesAtOnce is AtOnce for reads that list transactions by what they have in common, such
	// as their author. They are answered from the snapshot's sales in memory, where the
	// database would have to read everything that the school has sold.
	SalesAtOnce(ctx context.Context, school SchoolID, read func(View) error) error

	// CreateSchool stores a new school. If its ID is 0, the store chooses one.
	CreateSchool(ctx context.Context, s School, actor string) (School, error)

	// Write runs change in a transaction of the school. The changes of a school take turns,
	// across all processes: what a change reads stays the same until it ends. The entries that
	// its saves append are numbered and stored in the same transaction. When Write returns nil,
	// the change is on disk; when it returns an error, nothing of it is stored, unless the
	// error has the code OutcomeUnknown. Change may be run more than once and must have no
	// side effects, except that it sets its own results. It is not run again after Write has
	// returned.
	Write(ctx context.Context, stamp Stamp, change func(Tx) error) error

	// Changed returns a channel that is closed once this process has stored a change of the
	// school made after the call; school 0 means all schools. It does not notice changes by
	// other processes.
	Changed(school SchoolID) <-chan struct{}

	// Sweep deletes expired data of a school, in small steps with pauses. It is not a change of
	// the school and appends no entries.
	Sweep(ctx context.Context, school SchoolID, e Expired) error
	// Compact returns free space in a SQLite file to the operating system, in small steps with
	// pauses. It leaves an eighth of the file free, and at least 16 MiB. Files created by older
	// versions cannot be compacted, and PostgreSQL manages its own space.
	Compact(ctx context.Context) error

	// Bookkeep stores usage data of credentials. It is not a change of a school and appends no
	// entries.
	Bookkeep(ctx context.Context, b Bookkeeping) error

	// HoldLease reports whether holder has the lease for d from now, by the database's clock:
	// it already had it, or nobody else did. If d is 0, it gives the lease back. In a database
	// that only one process uses, that process always has every lease.
	HoldLease(ctx context.Context, lease Lease, holder string, d time.Duration) (bool, error)

	// Tallies returns the counts that the processes of the database share, or nil for a
	// database that only one process uses.
	Tallies() Tallies

	Close() error
}

// ClaimLifetime is how long a process owns what it claimed to send, unless it renews the claim.
// After that, another process takes over.
const ClaimLifetime = 4 * time.Second

// Lease is a task that one process at a time does for all processes of a database.
type Lease string

// The leases.
const (
	// SchedulerLease is held by the process that does what is triggered only by time.
	SchedulerLease Lease = "scheduler"
	// FilesLease is held by the process that stores uploaded files in its own folder, or by all
	// processes that store them in the same store.
	FilesLease Lease = "files"
)

// Revision is a state of a school in a store. Revisions can only be compared for equality;
// their order has no meaning.
type Revision struct {
	Database int64 // of the whole database
	Sales    int64 // of the school's sales, if they are read from elsewhere
}

// Reader is the part of a store that reads.
type Reader interface {
	// Ping reports whether the database responds and has the schema that this program was built
	// for.
	Ping(ctx context.Context) error

	// Revision returns the revision of a school: apart from the passing of time, everything
	// read from the school between two calls that return the same revision is the same. It is
	// unknown if the store cannot determine it cheaply.
	Revision(school SchoolID) (r Revision, known bool)

	// Reach waits until reads of the school reflect the given journal entry and all entries
	// before it. After a second, it fails with Unavailable.
	Reach(ctx context.Context, school SchoolID, entry int64) error

	FindSchools(ctx context.Context) ([]School, error)

	FindRateWindows(ctx context.Context, start time.Time) ([]RateWindow, error)

	// CountKept counts the rows of a school that are kept for a limited time, and those of them
	// that have expired.
	CountKept(ctx context.Context, school SchoolID, e Expired) (all, expired map[Kept]int64, err error)
	// FindSizes reads a whole SQLite file, while others can use it.
	FindSizes(ctx context.Context) (Sizes, error)

	SalesReader
	WebhookReader
	EmailReader
	ErasureReads

	// Check looks for violated invariants: counters that disagree with rows, gaps in a journal,
	// rows without their school. If the database is sound, the result is empty.
	Check(ctx context.Context) ([]Finding, error)
}

// LearningChanges are the operations on enrollments and progress in a transaction, other than
// saving rows.
type LearningChanges interface {
	// BeginEnrollment inserts an enrollment, and a progress record if the user has none for the
	// course. It inserts nothing and returns false if the course or the user does not exist, or
	// if the user has an enrollment in the course that was not ended.
	BeginEnrollment(e Enrollment) (begun bool, err error)
	// MayBegin reports whether BeginEnrollment would insert an enrollment, and whether the user
	// has a progress record.
	MayBegin(user UserID, course CourseID) (may, studied bool, err error)
	// FindPublished returns the lectures of a course that learners see, in order: published
	// lectures in published sections.
	FindPublished(course CourseID) ([]LectureID, error)
	// FindParent returns the comment being replied to, and the number of comments in its
	// thread, including itself. It fails with NotFound.
	FindParent(id CommentID) (parent Comment, inThread int64, err error)
	// FindRecounted returns the next progress records to be recounted, by user.
	FindRecounted(r Recounting, limit int) ([]Progress, error)
	// CountLectureProgress returns how many of the lectures that are now published, in a
	// published section, each learner completed, and when the last one. It covers the learners
	// with progress in the course who come after r.After, up to last.
	CountLectureProgress(r Recounting, last UserID) (map[UserID]LectureCount, error)
	// Reorder stores new positions, by id, of rows that are numbered by seq and ordered within
	// their parent: sections, lectures or attachments. It appends an entry for each.
	Reorder(seq Sequence, positions map[int32]int32) error
}

// View is one school as it is read outside of a transaction.
type View struct {
	*Tables
	Reads
}

// Reads are the queries to one school that do not concern the rows of a single noun.
type Reads interface {
	Source
	JournalReads
	NamesReads
	TagReads

	// GetSchool fails with NotFound if there is no such school.
	GetSchool() (School, error)
	// Known returns those of ids that exist in the sequence.
	Known(seq Sequence, ids []int32) ([]int32, error)

	// CountTaken returns how much of the given pricing plans and coupons is taken.
	CountTaken(plans []PricingPlanID, coupons []CouponID) (Taken, error)
	// CountProducts returns the counts of products of one kind at the given time, by id.
	CountProducts(kind ProductKind, ids []int32, at time.Time) (map[int32]ProductCounts, error)

	// FindBesides returns what is shown about users in addition to their rows.
	FindBesides(users []UserID) (map[UserID]UserBesides, error)

	// FindScores returns the quizzes that a user responded to whose courses require a minimum
	// score, with that score.
	FindScores(user UserID) (map[QuizID]float64, error)

	// FindAttempts returns the attempts of a delivery with numbers greater than after, in
	// order. The list ends at ResponseBytes; more reports whether there are further attempts.
	FindAttempts(id WebhookEventID, after int32) (attempts []Attempt, more bool, err error)

	// FindTexts searches the next texts that may mention a person: orders, comments, notes,
	// reasons, the journal, stored responses, jobs, and last what was sent to webhooks and what
	// they responded, a few hundred of the newest at a time. It returns a limited number of them,
	// where to continue, and whether there is more to search.
	FindTexts(user UserID, called Called, from Searched) (found FoundTexts, next Searched, more bool, err error)

	// EachPersonal calls visit with every row that the school stores about a user, as a JSON
	// object, noun by noun, until visit fails. Passwords, secrets and their hashes are left
	// out. The bytes are valid only during the call.
	EachPersonal(user UserID, visit func(noun string, row []byte) error) error

	// FindEnrolled lists the active enrollments in a course, without their ids and the course's
	// name.
	FindEnrolled(f EnrolledFilter, p Page) (Listing[Enrolled], error)
	// FindEnrolledOf returns the enrollments of a user, including past ones, by id.
	FindEnrolledOf(user UserID) ([]Enrolled, error)
	// FindHeld lists what a user has access to, by when the access began, latest first, then by
	// kind and id.
	FindHeld(f HeldFilter, p Page) (Listing[Held], error)
	// FindNamed returns those of the products that exist, and what access a user has to them at
	// the given time.
	FindNamed(user UserID, at time.Time, products []Product) (map[Product]Held, error)
	// FindHoldings lists the holdings of a product. Outside AtOnce, what the product comes with
	// may be read at a different moment than the holdings.
	FindHoldings(f HoldingFilter, p Page) (Listing[Holding], error)
	// ListProducts lists products of all kinds; ties are broken by kind and id.
	ListProducts(f AnyProductFilter, p Page) (Listing[AnyProduct], error)
}

// Tx is one change of one school, open while the function passed to Store.Write runs. Its reads
// see its own changes.
type Tx struct {
	*Tables
	Changes
}

// View returns a view of the school that includes the changes of tx.
func (tx Tx) View() View { return View{Tables: tx.Tables, Reads: tx.Changes} }

// Silent returns the same transaction, but without announcing events.
func (tx Tx) Silent() Tx { return Tx{Tables: tx.Tables, Changes: silent{tx.Changes}} }

type silent struct{ Changes }

// Announce does nothing.
func (silent) Announce(EntryType, int32, EventName, string) {}

// Changes are the operations of a transaction on one school that do not concern the rows of a
// single noun. Its reads see its own changes.
type Changes interface {
	Reads

	// At returns the time of the change.
	At() time.Time

	// Entries returns the entries that the change has appended so far, without their numbers.
	Entries() []Entry

	// Ahead prefetches what the change is about to read, in one statement as far as possible,
	// so that reading it takes no further round trips. It does not affect what is read.
	Ahead(wanted ...Wanted) error

	// Reserve makes sure that the next n ids of each sequence are reserved, all in one step;
	// NextID of their tables returns them. Each sequence may be given only once.
	Reserve(n int, seqs ...Sequence) error
	// NextQuiz returns the id for a new quiz, which is contained in an attachment.
	NextQuiz() (QuizID, error)

	// ChangeSchool changes the settings of the school, and appends an entry if they differ
	// afterwards.
	ChangeSchool(change func(*School)) error

	LearningChanges
	SalesChanges
	JournalChanges
	WebhookChanges
	EmailChanges

	// RevokeGrants revokes up to most of the grants that match, or all of them if most is 0,
	// and returns how many. It is one statement, because an app may have a great many grants.
	RevokeGrants(f GrantFilter, most int, at time.Time) (int, error)
	// SpendCode reports whether the code existed and was unused, and marks it as used. However
	// often it is called for a code, it returns true exactly once. A used code is remembered
	// until the given time.
	SpendCode(hash KeyHash, at, remember time.Time) (bool, error)
	// SignedIn records where and when a user signed in. It appends no entry.
	SignedIn(user UserID, from string, at time.Time) error
	// FindCalled returns the names and addresses that a user had, as far as events recorded
	// changes of them, and of many only the newest.
	FindCalled(user UserID) (Called, error)
	// EraseTraces erases what a person wrote and answered, their tags, and what events recorded
	// about changes of their names and addresses.
	EraseTraces(user UserID) error
	// EraseTexts erases a person from the texts that FindTexts found.
	EraseTexts(user UserID, called Called, found FoundTexts) error
	// SetTags replaces all tags of a user, and reports whether that changed anything.
	SetTags(user UserID, tags []string) (changed bool, err error)
}

// Saved counts the results of a save.
type Saved struct{ Created, Updated, Unchanged int }

// Add adds the counts of other.
func (s *Saved) Add(other Saved) {
	s.Created += other.Created
	s.Updated += other.Updated
	s.Unchanged += other.Unchanged
}

// Total returns the number of rows that were passed to the save.
func (s Saved) Total() int { return s.Created + s.Updated + s.Unchanged }

// RateWindow is how many requests a school made in the minute that begins at Start.
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

// AppUse is when an app last sent its credentials.
type AppUse struct {
	School SchoolID
	App    OAuthAppID
	At     time.Time
}

// Bookkeeping is the usage data of credentials since the last call.
type Bookkeeping struct {
	KeyUses     []KeyUse
	GrantUses   []GrantUse
	AppUses     []AppUse
	RateWindows []RateWindow
}

// Finding is one thing that Check found to be wrong.
type Finding struct {
	School SchoolID
	What   string
}
