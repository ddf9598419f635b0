package lyceum

import "time"

// UserID identifies a user of a school, whatever their role.
type UserID int32

// UserSequence numbers a school's users.
const UserSequence Sequence = "user_id"

// Role is a user's role in a school. In addition to the four below, a school can define its own
// roles.
type Role string

// The roles that every school has.
const (
	Student   Role = "student"
	Owner     Role = "owner"
	Author    Role = "author"
	Affiliate Role = "affiliate"
)

// Custom reports whether the role was defined by a school.
func (r Role) Custom() bool { return r != Student && r != Owner && r != Author && r != Affiliate }

// User is a person with an account in a school.
type User struct {
	ID           UserID
	Email        string // as the person wrote it; unique in the school, ignoring case
	Name         Opt[string]
	Role         Role
	Src          Opt[string] // where the person signed up
	PasswordHash Opt[string] // PHC string; absent: they cannot sign in with a password
	CreatedAt    time.Time
	DisabledAt   Opt[time.Time] // present: they cannot sign in, and apps cannot act for them
	LastSignInAt Opt[time.Time]
	LastSignInIP Opt[string]
	// MustChangePassword means that the password can be used only to choose another one.
	MustChangePassword bool
	PhoneNumber        Opt[string]
	Marketing          Opt[bool]   // whether the school may send them marketing emails; absent: they were not asked
	Notes              Opt[string] // the school's notes about them
	UpdatedAt          time.Time   // when any field of the row was changed, except by signing in
	ErasedAt           Opt[time.Time]
}

// UserBesides is what lists show about a user that is stored in other rows.
type UserBesides struct {
	FirstEnrolled Opt[time.Time] // in a course
	Author        Opt[AuthorID]  // the first profile that is not archived
}

// Erased reports whether the person was erased, so that only the fact that they existed is
// left.
func (u *User) Erased() bool { return u.ErasedAt.Present }

// The maximum lengths of texts about a user, in characters.
const (
	MaxUserNotes   = 5000
	MaxPhoneNumber = 50
)

// CustomRole matches, in a filter, all roles that a school defined itself.
const CustomRole Role = "custom"

// UserSummary is what a list shows about a user. It is read separately because lists of users
// are long.
type UserSummary struct {
	ID    UserID
	Email string
	Name  Opt[string]
}

// UserFilter narrows users; absent fields match everything.
type UserFilter struct {
	Email  Opt[string] // case-insensitive
	Emails []string    // any of these, case-insensitive; empty: all
	After  Opt[UserID] // only ids greater than this one
	Except Opt[UserID]
	// Answered selects only users who responded to this quiz.
	Answered Opt[QuizID]
	Tag      Opt[string]  // only users with this tag
	Product  Opt[Product] // only users who may use it at AccessAt
	AccessAt time.Time
	Owners   bool        // only users with the role owner
	Enabled  bool        // only users who are not disabled
	IDs      []UserID    // any of these, at most MaxUsers; nil: all
	Name     Opt[string] // part of the name, case-insensitive
	// Begins selects only users whose email address or name begins with this text,
	// case-insensitive, or whose id it is. Only the first MaxBeginning addresses and the first
	// MaxBeginning names are examined.
	Begins Opt[string]
	// NeverBegan selects only users with a course that a sale opened, which they may use at
	// AccessAt, and in which they have completed no lecture and responded to no quiz. Only the
	// newest NamesSearched users are examined.
	NeverBegan bool
	Role       Opt[Role] // CustomRole: all roles that the school defined; any other unknown role: nobody
	Created    Period
	Order      UserOrder
	Erased     bool // also users who were erased
}

// MaxBeginning is how many email addresses, and how many names, that begin with a text are
// examined, so that a search takes no longer in a school with millions of users.
const MaxBeginning = 2_000

// UserOrder is the order of a list of users. Ties are broken by id, in the same direction.
type UserOrder struct {
	By         UserKey
	Descending bool
}

// UserKey is what users are ordered by.
type UserKey uint8

// The sort keys of users.
const (
	UserByID UserKey = iota
	UserByName
	UserByEmail
	UserByCreated
	UserByUpdated
	UserBySignIn
)
