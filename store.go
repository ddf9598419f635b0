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

	// Sweep deletes what of a school's codes, tokens, sessions and links has
	// expired. It is not a change of a school and appends no entry.
	Sweep(ctx context.Context, school SchoolID, e Expired) error

	// Bookkeep keeps what is known about the use of credentials. It is not a
	// change of a school and appends no entry.
	Bookkeep(ctx context.Context, b Bookkeeping) error

	Close() error
}

// Reader is the part of a store that asks.
type Reader interface {
	// Ping tells whether the database answers and holds the schema this
	// program was built for.
	Ping(ctx context.Context) error

	FindSchools(ctx context.Context) ([]School, error)
	GetSchool(ctx context.Context, id SchoolID) (School, error)

	FindAPIKeys(ctx context.Context, school SchoolID) ([]APIKey, error)
	// GetAPIKeyByHash also finds revoked keys.
	GetAPIKeyByHash(ctx context.Context, school SchoolID, hash KeyHash) (APIKey, error)
	FindOAuthApps(ctx context.Context, school SchoolID) ([]OAuthApp, error)
	FindRateWindows(ctx context.Context, start time.Time) ([]RateWindow, error)

	// GetOAuthAppByClientID does not find a deleted app.
	GetOAuthAppByClientID(ctx context.Context, school SchoolID, clientID string) (OAuthApp, error)
	GetUser(ctx context.Context, school SchoolID, id UserID) (User, error)
	// GetUserByEmail finds the address whatever its case.
	GetUserByEmail(ctx context.Context, school SchoolID, email string) (User, error)
	GetSession(ctx context.Context, school SchoolID, hash KeyHash) (Session, error)
	GetLink(ctx context.Context, school SchoolID, hash KeyHash) (Link, error)
	GetCode(ctx context.Context, school SchoolID, hash KeyHash) (AuthorizationCode, error)
	GetAccessToken(ctx context.Context, school SchoolID, hash KeyHash) (AccessToken, error)
	GetRefreshToken(ctx context.Context, school SchoolID, hash KeyHash) (RefreshToken, error)
	// GetStanding gives a grant with its app and its user, whatever their state.
	GetStanding(ctx context.Context, school SchoolID, grant GrantID) (Standing, error)
	// FindSessions gives the sessions of a user, also those that are over by
	// time.
	FindSessions(ctx context.Context, school SchoolID, user UserID) ([]Session, error)
	// CountGrants counts by app the grants that are not revoked.
	CountGrants(ctx context.Context, school SchoolID) (map[OAuthAppID]int, error)
	// FindGrants gives the grants of a user that are not revoked.
	FindGrants(ctx context.Context, school SchoolID, user UserID) ([]Grant, error)

	// EachUser visits all users of one moment by ascending id.
	EachUser(ctx context.Context, school SchoolID, visit func(*User) error) error

	LearningReader
	SalesReader
	WebhookReader

	// Known gives those of ids that exist in the sequence.
	Known(ctx context.Context, school SchoolID, seq Sequence, ids []int32) ([]int32, error)
	// FindUsers gives those of ids that exist.
	FindUsers(ctx context.Context, school SchoolID, ids []UserID) (map[UserID]User, error)
	// FindUserIDsByEmail gives the users that have one of the addresses,
	// whatever its case, keyed by the address in lower case.
	FindUserIDsByEmail(ctx context.Context, school SchoolID, emails []string) (map[string]UserID, error)

	// FindEntries gives up to limit entries with a number above after, in order.
	FindEntries(ctx context.Context, school SchoolID, after int64, limit int) ([]Entry, error)

	// Check looks for what must never be: counters that disagree with rows,
	// gaps in a journal, rows without their school. An empty list is health.
	Check(ctx context.Context) ([]Finding, error)
}

// LearningReader is the part of a reader that knows users' tags.
// Single things that are not in the school are NotFound.
type LearningReader interface {
	// FindUserPage tells the id, the address and the name of each user alone.
	FindUserPage(ctx context.Context, school SchoolID, f UserFilter, p Page) (UserListing, error)
	// FindTags gives the tags of a user by name.
	FindTags(ctx context.Context, school SchoolID, user UserID) ([]string, error)

	// EachTag visits by user, then name.
	EachTag(ctx context.Context, school SchoolID, visit func(UserID, string) error) error
}

// LearningTx is the part of a transaction that knows what learners do in
// courses.
type LearningTx interface {
	// SetTags gives a user these tags and no others, and tells whether that
	// changed anything.
	SetTags(user UserID, tags []string) (changed bool, err error)
	FindTags(user UserID) ([]string, error)
	// SwitchV2 switches the second version of the interface on or off.
	SwitchV2(off bool) error
	// SignedIn notes where and when a user signed in. It appends no entry.
	SignedIn(user UserID, from string, at time.Time) error

	// BeginEnrollment inserts an enrollment, and a record of progress if the user
	// has none of the course. It inserts nothing and returns false if the course
	// or the user does not exist, or if the user has an enrollment in the course
	// that nobody ended.
	BeginEnrollment(e Enrollment) (begun bool, err error)
	// UpdateProgress changes a record of progress that exists and differs.
	UpdateProgress(p Progress) error
	// FindPublished returns the lectures of a course that learners see, in order:
	// those that are published in a section that is.
	FindPublished(course CourseID) ([]LectureID, error)
	// CountLectureProgress returns, of everybody with progress in a course, how
	// many of the lectures that are published now, in a section that is, they
	// completed, and when the last.
	CountLectureProgress(course CourseID) (map[UserID]LectureCount, error)

	// These are Reader's inside the transaction.
	GetUser(id UserID) (User, error)
	GetUserByEmail(email string) (User, error)
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

	// FindAttempts returns the attempts of a delivery with a number above after,
	// in order. They end at AnswerBytes; more reports that there are others.
	FindAttempts(id WebhookEventID, after int32) (attempts []Attempt, more bool, err error)

	// FindEnrolled lists the active enrollments of a course, without their ids
	// and its name.
	FindEnrolled(f EnrolledFilter, p Page) (Listing[Enrolled], error)
	// FindEnrolledOf returns the enrollments of a user, past ones too, by id.
	FindEnrolledOf(user UserID) ([]Enrolled, error)
}

// Tx is one change of one school, open while the function given to Store.Write
// runs. Its reads see what it has changed.
type Tx struct {
	*Tables
	Changes
}

// Changes are what a change of one school does besides changing the rows of one
// noun. Its reads see what it has changed.
//
// The Save methods insert what is new, update what differs and leave alone
// what is the same, by id; each insert and update appends one entry, and a
// saved id is never given out by NextID again.
type Changes interface {
	Reads

	// Entries returns what the change has appended so far, without numbers.
	Entries() []Entry

	// NextID gives a new id. When the contract's int32 is used up it fails
	// with Conflict.
	NextID(seq Sequence) (int32, error)
	// Reserve takes the next id of each sequence in one go; NextID gives them
	// out. No sequence may stand twice.
	Reserve(seqs ...Sequence) error

	LearningTx
	SalesChanges
	JournalChanges
	WebhookChanges

	SaveUsers(users []User) (Saved, error)
	SaveOAuthApps(apps []OAuthApp) (Saved, error)

	CreateAPIKey(key APIKey) error
	// RevokeAPIKey fails with NotFound for an unknown key and changes nothing
	// when the key is revoked already.
	RevokeAPIKey(id APIKeyID, at time.Time) error

	GetOAuthApp(id OAuthAppID) (OAuthApp, error)
	CreateGrant(g Grant) error
	// RevokeGrants revokes the grants that pass the filter and tells how many.
	RevokeGrants(which GrantFilter, at time.Time) (int, error)
	GetStanding(grant GrantID) (Standing, error)
	CreateCode(c AuthorizationCode) error
	// SpendCode tells whether the code was there unspent; of any number of
	// calls for one code exactly one is told so. A spent code is remembered
	// until the time given.
	SpendCode(hash KeyHash, at, remember time.Time) (bool, error)
	CreateAccessToken(a AccessToken) error
	RevokeAccessToken(hash KeyHash, at time.Time) error
	CreateRefreshToken(r RefreshToken) error
	GetRefreshToken(hash KeyHash) (RefreshToken, error)
	// ReplaceRefreshToken tells whether old was not replaced before.
	ReplaceRefreshToken(old, by KeyHash, at time.Time) (bool, error)
	UseRefreshToken(hash KeyHash, at time.Time) error
	// EndSiblings ends the refresh tokens with the same parent that nobody has
	// used.
	EndSiblings(of RefreshToken, at time.Time) error
	CreateSession(s Session) error
	SeeSession(hash KeyHash, at time.Time) error
	EndSession(hash KeyHash) error
	EndSessions(user UserID) error
	// EndAllStays ends the sessions of all users, and the links and codes that
	// are not spent.
	EndAllStays() error
	// HasOtherOwner tells whether there is an owner besides a user who is not
	// switched off.
	HasOtherOwner(than UserID) (bool, error)
	// CreateLink appends an entry about the user: a link lets its bearer in.
	CreateLink(l Link) error
	// SpendLink tells whether the link was there unspent.
	SpendLink(hash KeyHash, at time.Time) (bool, error)
	// EndLinks ends all links of a user that are not spent.
	EndLinks(user UserID) error
	// TrimLinks ends the links of a user for one purpose that are not spent,
	// except the newest.
	TrimLinks(user UserID, purpose LinkPurpose, newest int) error

	// Known is Reader.Known inside the transaction.
	Known(seq Sequence, ids []int32) ([]int32, error)
	// FindUserIDsByEmail is Reader.FindUserIDsByEmail inside the transaction.
	FindUserIDsByEmail(emails []string) (map[string]UserID, error)
	// FindUsers and FindSales give those of ids that exist.
	FindUsers(ids []UserID) (map[UserID]User, error)
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

// Expired says what Sweep may delete.
type Expired struct {
	Until       time.Time // codes, access tokens and links that expired before it
	SeenUntil   time.Time // sessions not seen since
	BegunUntil  time.Time // sessions that began before it
	UsedUntil   time.Time // refresh tokens not used since
	FamilyUntil time.Time // refresh tokens whose line began before it
	AnswerUntil time.Time // kept answers of changes that happened before it
}

// Finding is one thing that Check found wrong.
type Finding struct {
	School SchoolID
	What   string
}
