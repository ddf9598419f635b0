package lyceum

import "time"

// UserID names a person known to a school, whatever their role.
type UserID int32

// UserSequence numbers a school's users.
const UserSequence Sequence = "user_id"

// Role is what a user is in a school. Besides the four below a school may
// name roles of its own.
type Role string

// The roles every school has.
const (
	Student   Role = "student"
	Owner     Role = "owner"
	Author    Role = "author"
	Affiliate Role = "affiliate"
)

// Custom reports whether a school named the role itself.
func (r Role) Custom() bool { return r != Student && r != Owner && r != Author && r != Affiliate }

// User is a person known to a school.
type User struct {
	ID           UserID
	Email        string // as written by the person; unique in the school whatever its case
	Name         Opt[string]
	Role         Role
	Src          Opt[string] // where the person signed up
	PasswordHash Opt[string] // PHC string; absent: cannot sign in with a password
	CreatedAt    time.Time
	DisabledAt   Opt[time.Time] // present: cannot sign in, and apps cannot act for them
	LastSignInAt Opt[time.Time]
	LastSignInIP Opt[string]
	// MustChangePassword: the password lets them choose another one and nothing
	// else.
	MustChangePassword bool
	PhoneNumber        Opt[string]
	Marketing          Opt[bool]   // whether the school may send them marketing emails; absent: they were not asked
	Notes              Opt[string] // of the school about them
	UpdatedAt          time.Time   // when something of the row changed, other than a sign-in
	ErasedAt           Opt[time.Time]
}

// UserBesides is what lists show of a user that other rows have.
type UserBesides struct {
	FirstEnrolled Opt[time.Time] // in a course
	Author        Opt[AuthorID]  // the first profile that is not archived
}

// Erased reports whether the person was erased: what is left is that there was one.
func (u *User) Erased() bool { return u.ErasedAt.Present }

// Bounds of the texts about a user, in characters.
const (
	MaxUserNotes   = 5000
	MaxPhoneNumber = 50
)

// CustomRole stands in a filter for the roles that a school named itself.
const CustomRole Role = "custom"

// UserSummary is what a list shows of a user. It is read by itself because
// lists of users are long.
type UserSummary struct {
	ID    UserID
	Email string
	Name  Opt[string]
}

// UserFilter narrows users; an absent part holds always.
type UserFilter struct {
	Email  Opt[string] // whatever its case
	Emails []string    // any of these, whatever their case; empty: all
	After  Opt[UserID] // ids above this one
	Except Opt[UserID]
	// Answered: only those who answered this quiz.
	Answered Opt[QuizID]
	Tag      Opt[string]  // only those who have it
	Product  Opt[Product] // only those who may use it at AccessAt
	AccessAt time.Time
	Owners   bool        // only those with the role owner
	Enabled  bool        // only those who are not switched off
	IDs      []UserID    // one of these, at most MaxUsers; nil: all
	Name     Opt[string] // a part of it, whatever its case
	// Begins: only those whose address or name begins with this text, whatever its
	// case, or whose id it is. Of addresses and of names, the first MaxBeginning each
	// are looked at.
	Begins Opt[string]
	// NeverBegan: only those with a course that a sale opened, which they may use at
	// AccessAt, and of which they have completed no lecture and answered no quiz. Only
	// the newest NamesSearched users are looked at.
	NeverBegan bool
	Role       Opt[Role] // CustomRole: all that a school named itself; any other word: nobody
	Created    Period
	Order      UserOrder
	Erased     bool // those who were erased, too
}

// MaxBeginning is how many addresses, and how many names, that begin with a text are
// looked at, so that a search takes no longer in a school of millions.
const MaxBeginning = 2_000

// UserOrder is the order of a list of users. Ties are broken by id, in the same
// direction.
type UserOrder struct {
	By         UserKey
	Descending bool
}

// UserKey is what users are ordered by.
type UserKey uint8

// The keys of users.
const (
	UserByID UserKey = iota
	UserByName
	UserByEmail
	UserByCreated
	UserByUpdated
	UserBySignIn
)
