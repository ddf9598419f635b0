package access

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
	"golang.org/x/crypto/argon2"
)

// A session ends when the person was away for SessionIdle, and in any case after
// SessionAbsolute.
const (
	SessionIdle     = 12 * time.Hour
	SessionAbsolute = 14 * 24 * time.Hour
	// LinkLifetime is how long a one-time link is valid.
	LinkLifetime = 48 * time.Hour
	// seenPause is the minimum time between two updates of when a session was last seen.
	seenPause = time.Minute
)

// Accounts signs people in: passwords, sessions and one-time links. It is safe for concurrent
// use.
type Accounts struct {
	// Keys are evicted when what staff may do changes. They are nil in a process that checks none.
	Keys *Keys

	store   lyceum.Store
	clock   func() time.Time
	entropy func() Entropy
	oauth   *OAuth
	guard   *guard
	devices devices
	ring    *lyceum.Keyring // seals the secrets of second factors

	forgotten *Tries
	codes     *Tries // codes and passkeys, by user
	passkeys  *Tries // passkeys of people who are not signed in, by address

	hashing  *slots // for requests by people
	programs *slots // for API requests that contain a password
	nobody   string // a hash that no password matches, for accounts that do not exist
}

// NewAccounts returns an Accounts for a store. Changing a password revokes the grants of
// oauth's apps. The ring signs what browsers store about a sign-in; if it is nil, one is
// created for this process.
func NewAccounts(store lyceum.Store, clock func() time.Time, oauth *OAuth, ring *lyceum.Keyring) *Accounts {
	salt, hash := NewEntropy(), NewEntropy()
	return &Accounts{
		store: store, clock: clock, entropy: NewEntropy, oauth: oauth,
		guard: newGuard(store, clock), devices: newDevices(clock, ring), ring: ring,
		forgotten: sharedTries(store, clock, "forgotten", forgottenBounds),
		codes:     sharedTries(store, clock, "code", codeBounds),
		passkeys:  sharedTries(store, clock, "passkey", addressBounds),
		hashing:   newSlots(runtime.NumCPU()), programs: newSlots(max(1, runtime.NumCPU()/2)),
		nobody: hashText([16]byte(salt[:16]), hash[:]),
	}
}

var errSignIn = &lyceum.Error{Kind: lyceum.Unauthenticated, Detail: "Wrong email address or password."}

// Attempt is what somebody who wants to sign in presents.
type Attempt struct {
	School          lyceum.SchoolID
	Email, Password string
	From            netip.Addr
	Device          string           // what the browser stored about earlier sign-ins
	Browser         string           // its family and system, as shown to its owner; may be empty
	Passkey         *PasskeyResponse // instead of a code, or of everything; nil for none
}

// Admission is the result of a sign-in. Session and Link are secrets.
type Admission struct {
	User    lyceum.User
	Session string // empty if Link is set
	Device  string // to be stored by the browser
	// Link is for a person who must choose a new password before a session begins.
	Link string
	// Step is for a person who must present their second factor before a session begins.
	Step string
}

// errChanged rejects a password that was right when its check began, because the account has
// changed since.
var errChanged = errors.New("the account changed while its password was being checked")

// SignIn signs a person in by email and password. Unknown accounts, wrong passwords and
// disabled users fail alike and after the same amount of work.
func (a *Accounts) SignIn(ctx context.Context, t Attempt) (Admission, error) {
	for {
		in, err := a.signIn(ctx, t)
		if !errors.Is(err, errChanged) {
			return in, err
		}
	}
}

func (a *Accounts) signIn(ctx context.Context, t Attempt) (Admission, error) {
	v := a.store.In(ctx, t.School)
	user, _, err := v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some(t.Email)})
	if err != nil {
		return Admission{}, err
	}
	c := claim{
		school: t.School, name: strings.ToLower(t.Email), from: BucketOf(t.From).From,
		device: a.devices.known(t.Device, t.School, user),
	}
	if err := a.guard.allowed(ctx, &c); err != nil {
		a.traceLock(ctx, t, user, err)
		return Admission{}, err
	}
	kept := a.nobody
	if user.PasswordHash.Present {
		kept = user.PasswordHash.Value
	}
	good, err := a.verify(ctx, &c, t.Password, kept)
	if err != nil {
		a.traceLock(ctx, t, user, err)
		return Admission{}, err
	}
	if !good || user.ID == 0 || user.DisabledAt.Present {
		wrong := lyceum.WrongPassword
		if good {
			wrong = lyceum.DisabledAccount
		}
		a.traceFailure(ctx, &t, user.ID, wrong)
		return Admission{}, errSignIn
	}
	if err := a.guard.succeeded(ctx, &c); err != nil {
		return Admission{}, err
	}
	in := Admission{User: user}
	second, err := a.HasSecondFactor(ctx, t.School, user.ID)
	switch {
	case err != nil:
	case user.MustChangePassword:
		in.Link, err = a.changeLink(ctx, t.School, user, lyceum.SetPassword)
	case second:
		in.Step, err = a.changeLink(ctx, t.School, user, lyceum.SecondStep)
		return in, err
	default:
		in.Session, in.User, err = a.begin(ctx, t, user)
	}
	if err != nil {
		return Admission{}, err
	}
	in.Device = a.devices.mark(t.Device, t.School, in.User)
	return in, nil
}

// traceLock records that a sign-in was rejected because of too many attempts.
func (a *Accounts) traceLock(ctx context.Context, t Attempt, user lyceum.User, refused error) {
	trace := Trace{Kind: AddressLocked, School: t.School, Object: int32(t.School), From: t.From.String()}
	switch refused { //nolint:errorlint // compared unwrapped on purpose
	case errAddressTries:
	case errAccountTries:
		trace.Kind, trace.User, trace.Object = AccountLocked, user.ID, int32(user.ID)
	default:
		return
	}
	a.oauth.Traces.Add(ctx, trace)
}

// traceFailure records that a sign-in failed, and why.
func (a *Accounts) traceFailure(ctx context.Context, t *Attempt, user lyceum.UserID, wrong string) {
	a.oauth.Traces.Add(ctx, Trace{
		Kind: SignInFailed, School: t.School, User: user, Object: int32(user), From: t.From.String(),
		Detail: lyceum.EntryDetail{Wrong: wrong},
	})
}

// changeLifetime is how long somebody has to choose a new password or present their second
// factor.
const changeLifetime = 15 * time.Minute

// changeLink creates the one-time link of somebody who has just entered their password and must
// choose another one, or present their second factor.
func (a *Accounts) changeLink(
	ctx context.Context, school lyceum.SchoolID, user lyceum.User, purpose lyceum.LinkPurpose,
) (string, error) {
	now := a.clock()
	text := secretText(linkPrefix, school, a.entropy())
	stamp := lyceum.Stamp{School: school, At: now, Actor: userActor(user.ID)}
	err := a.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		if _, err := asChecked(tx, user); err != nil {
			return err
		}
		if purpose == lyceum.SecondStep { // it signs nobody in by itself, and has no journal entry
			return tx.Links.Insert(tx, lyceum.Link{
				Hash: HashSecret(text), User: user.ID, Purpose: purpose, CreatedAt: now, ExpiresAt: now.Add(changeLifetime),
			})
		}
		return makeLink(tx, lyceum.Link{
			Hash: HashSecret(text), User: user.ID, Purpose: purpose, CreatedAt: now,
			ExpiresAt: now.Add(changeLifetime),
		})
	})
	return text, err
}

// begin opens a session and returns the user as they are afterwards: a password hash with
// outdated parameters is replaced.
func (a *Accounts) begin(ctx context.Context, t Attempt, user lyceum.User) (string, lyceum.User, error) {
	fresh := user.PasswordHash
	if outdated(fresh.Value) {
		var err error
		if fresh, err = a.Hash(ctx, t.Password); err != nil {
			return "", user, err
		}
	}
	now := a.clock()
	text := secretText(sessionPrefix, t.School, a.entropy())
	err := a.store.Write(ctx, lyceum.Stamp{School: t.School, At: now, Actor: userActor(user.ID)},
		func(tx lyceum.Tx) error {
			kept, err := asChecked(tx, user)
			if err != nil {
				return err
			}
			if kept.PasswordHash != fresh {
				kept.PasswordHash = fresh
				if err := tx.Users.Update(tx, kept); err != nil {
					return err
				}
			}
			return enter(tx, t, user.ID, lyceum.WithPassword, text, now)
		})
	user.PasswordHash = fresh
	return text, user, err
}

// maxSessions is the most sessions that a user can have. Another sign-in ends those that were not
// used for longest.
const maxSessions = 100

// enter stores a session with the given secret, and records what the user signed in with.
func enter(tx lyceum.Tx, t Attempt, user lyceum.UserID, with, text string, now time.Time) error {
	tx.NoteDetail(lyceum.SignedIn, int32(user), lyceum.EntryDetail{With: with}.JSON())
	if err := tx.SignedIn(user, t.From.String(), now); err != nil {
		return err
	}
	kept, err := lyceum.All(tx.Sessions, tx, lyceum.SessionFilter{User: lyceum.Some(user), LastSeen: true})
	if err != nil {
		return err
	}
	for _, old := range kept[min(maxSessions-1, len(kept)):] {
		if err := endSession(tx, old.Hash); err != nil {
			return err
		}
	}
	return tx.Sessions.Insert(tx, lyceum.Session{
		Hash: HashSecret(text), User: user, CreatedAt: now, SeenAt: now, Address: network(t.From), Browser: t.Browser,
		ConfirmedAt: now,
	})
}

// asChecked returns the current state of a user, if the password that was checked is still
// theirs: the user or the owner may have changed it meanwhile.
func asChecked(tx lyceum.Tx, checked lyceum.User) (lyceum.User, error) {
	now, err := tx.Users.Get(tx, checked.ID)
	switch {
	case err != nil:
		return now, err
	case now.DisabledAt.Present:
		return now, errSignIn
	case now.PasswordHash != checked.PasswordHash || now.MustChangePassword != checked.MustChangePassword:
		return now, errChanged
	}
	return now, nil
}

// verify compares a password with a hash. The attempt is counted when the hash is started, and
// not while it waits for its turn.
func (a *Accounts) verify(ctx context.Context, c *claim, password, kept string) (bool, error) {
	done, err := a.hashing.take(ctx, c.origin())
	if err != nil {
		return false, err
	}
	defer done()
	if ctx.Err() != nil {
		return false, errBusy // nobody is waiting for the result any more
	}
	if err := a.guard.begin(ctx, c); err != nil {
		return false, err
	}
	return CheckPassword(password, kept)
}

// Hash returns the hash to be stored for a password. If all processors are busy, it waits for
// two seconds and then fails with RateLimited.
func (a *Accounts) Hash(ctx context.Context, password string) (lyceum.Opt[string], error) {
	return a.hash(ctx, a.hashing, "", password)
}

// HashForProgram is Hash for an API request. It waits for other slots than people do, so that
// neither holds up the other. Schools take turns. common reports whether the user must choose
// another password at the first sign-in.
func (a *Accounts) HashForProgram(
	ctx context.Context, by lyceum.By, email, password string,
) (hash lyceum.Opt[string], common bool, err error) {
	hash, err = a.hash(ctx, a.programs, strconv.Itoa(int(by.School)), password)
	return hash, guessable(password, email), err
}

func (a *Accounts) hash(ctx context.Context, from *slots, origin, password string) (lyceum.Opt[string], error) {
	done, err := from.take(ctx, origin)
	if err != nil {
		return lyceum.None[string](), err
	}
	defer done()
	e := a.entropy()
	return lyceum.Some(HashPassword(password, [16]byte(e[:16]))), nil
}

// CheckPassword compares a password with an argon2id PHC string.
func CheckPassword(password, kept string) (bool, error) {
	var version int
	var memory, passes uint32
	var threads uint8
	parts := strings.Split(kept, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("a password hash is not of argon2id")
	}
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return false, fmt.Errorf("a password hash is of another version of argon2")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil {
		return false, fmt.Errorf("read cost of a password hash: %w", err)
	}
	if memory < 8 || memory > maxHashMemory || passes < 1 || passes > 16 || threads < 1 || threads > 16 {
		return false, fmt.Errorf("the cost of a password hash is out of bounds")
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	hash, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(hash) == 0 {
		return false, fmt.Errorf("a password hash cannot be decoded")
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, threads, uint32(len(hash)))
	return subtle.ConstantTimeCompare(got, hash) == 1, nil
}

// Session returns the user that a session's secret belongs to. If the session is over, or its
// user is disabled, it fails with NotFound.
func (a *Accounts) Session(ctx context.Context, school lyceum.SchoolID, text string) (lyceum.User, error) {
	nobody := lyceum.Errorf(lyceum.NotFound, "nobody is signed in")
	if from, ok := schoolOf(sessionPrefix, text); !ok || from != school {
		return lyceum.User{}, nobody
	}
	v := a.store.In(ctx, school)
	session, err := v.Sessions.Get(v, HashSecret(text))
	if err != nil {
		return lyceum.User{}, err
	}
	now := a.clock()
	if over(&session, now) {
		return lyceum.User{}, nobody
	}
	user, err := v.Users.Get(v, session.User)
	if err != nil {
		return lyceum.User{}, err
	}
	if user.DisabledAt.Present {
		return lyceum.User{}, nobody
	}
	if now.Sub(session.SeenAt) >= seenPause {
		err = a.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: userActor(user.ID)}, func(tx lyceum.Tx) error {
			seen, err := tx.Sessions.Get(tx, session.Hash) // it may have been confirmed or ended meanwhile
			if err != nil {
				return err
			}
			seen.SeenAt = now
			return tx.Sessions.Update(tx, seen)
		})
	}
	return user, err
}

// Outlast keeps a session while the clock of a sandbox is moved to a later time, during which
// nobody was away.
func (a *Accounts) Outlast(ctx context.Context, by lyceum.By, text string, to time.Time) error {
	now := a.clock()
	return a.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		session, err := tx.Sessions.Get(tx, HashSecret(text))
		if err != nil {
			return err
		}
		session.CreatedAt, session.SeenAt = session.CreatedAt.Add(to.Sub(now)), to
		return tx.Sessions.Update(tx, session)
	})
}

// SignOut ends a session.
func (a *Accounts) SignOut(ctx context.Context, school lyceum.SchoolID, text string) error {
	return a.store.Write(ctx, lyceum.Stamp{School: school, At: a.clock(), Actor: "session"}, func(tx lyceum.Tx) error {
		return endSession(tx, HashSecret(text))
	})
}

// endSession ends a session unless it has ended.
func endSession(tx lyceum.Tx, hash lyceum.KeyHash) error {
	err := tx.Sessions.Delete(tx, hash)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return nil
	}
	return err
}

// Remember returns what a browser should store after somebody signed in with it, or spent a
// one-time link. From then on, wrong passwords from elsewhere, however many, do not cause the
// right one to be rejected in that browser, until the password changes.
func (a *Accounts) Remember(device string, school lyceum.SchoolID, user lyceum.User) string {
	return a.devices.mark(device, school, user)
}

// The limits of a password, in characters (OWASP ASVS 5.0, 6.2).
const (
	minPassword = 10
	maxPassword = 256
)

func passwordTaken(password string, user lyceum.User) error {
	length := utf8.RuneCountInString(password)
	switch {
	case !lyceum.IsText(password):
		return lyceum.InvalidFields(lyceum.FieldError{Field: "password", Message: lyceum.TextTaken})
	case length < minPassword || length > maxPassword:
		return lyceum.InvalidFields(lyceum.FieldError{Field: "password", Message: "must have 10 to 256 characters"})
	case guessable(password, user.Email):
		return lyceum.InvalidFields(lyceum.FieldError{Field: "password", Message: "is too common; choose another, such " +
			"as four unrelated words"})
	}
	return nil
}

// SchoolOfSession returns the school in a session's secret, without checking whether the
// session is valid.
func SchoolOfSession(text string) (lyceum.SchoolID, bool) { return schoolOf(sessionPrefix, text) }
