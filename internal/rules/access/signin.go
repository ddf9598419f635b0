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
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
	"golang.org/x/crypto/argon2"
)

// How long a person stays signed in: until they are away for SessionIdle, and
// SessionAbsolute at most.
const (
	SessionIdle     = 12 * time.Hour
	SessionAbsolute = 14 * 24 * time.Hour
	// LinkLifetime is how long a one-time link is good.
	LinkLifetime = 48 * time.Hour
	// seenPause is how exactly the store knows when a session was seen.
	seenPause = time.Minute
)

// Accounts lets people in: passwords, sessions and one-time links. It is safe
// for concurrent use.
type Accounts struct {
	store   lyceum.Store
	clock   func() time.Time
	entropy func() Entropy
	oauth   *OAuth
	guard   *guard
	devices devices
	ring    *lyceum.Keyring // seals the secrets of second factors

	forgotten *Tries
	codes     *Tries // codes and passkeys, by user
	passkeys  *Tries // passkeys of who is not signed in, by address

	hashing  *slots        // for people
	programs *slots        // for requests of the interface that bring a password
	nobody   func() string // a hash that no password has, for accounts that are not there
}

// NewAccounts makes the service over a store. A password that changes revokes
// what apps were granted with oauth. The ring signs what browsers keep of a
// sign-in; nil is one that is made for this process.
func NewAccounts(store lyceum.Store, clock func() time.Time, oauth *OAuth, ring *lyceum.Keyring) *Accounts {
	e := NewEntropy()
	return &Accounts{
		store: store, clock: clock, entropy: NewEntropy, oauth: oauth,
		guard: newGuard(store, clock), devices: newDevices(clock, ring), ring: ring,
		forgotten: sharedTries(store, clock, "forgotten", forgottenBounds),
		codes:     sharedTries(store, clock, "code", codeBounds),
		passkeys:  sharedTries(store, clock, "passkey", addressBounds),
		hashing:   newSlots(runtime.NumCPU()), programs: newSlots(max(1, runtime.NumCPU()/2)),
		nobody: sync.OnceValue(func() string { return HashPassword(string(e[:]), [16]byte(e[16:])) }),
	}
}

var errSignIn = &lyceum.Error{Kind: lyceum.Unauthenticated, Detail: "Wrong email address or password."}

// Attempt is what somebody brings who wants to sign in.
type Attempt struct {
	School          lyceum.SchoolID
	Email, Password string
	From            netip.Addr
	Device          string         // what the browser kept of earlier sign-ins
	Browser         string         // its family and system, as its owner knows them; may be empty
	Passkey         *PasskeyAnswer // in place of a code, or of everything; nil for none
}

// Admission is what somebody gets who signed in. Session and Link are secrets.
type Admission struct {
	User    lyceum.User
	Session string // empty where Link is not
	Device  string // for the browser to keep
	// Link lets a person choose a new password who must do so before a session
	// begins.
	Link string
	// Step lets a person show the second factor that they have before a session begins.
	Step string
}

// errChanged refuses a password that was right when its check began, because the
// account has changed since.
var errChanged = errors.New("the account changed while its password was being checked")

// SignIn lets a person in by email and password. Unknown accounts, wrong
// passwords and disabled users are refused alike and after the same work.
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
	kept := a.nobody()
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

// traceLock notes that a sign-in was refused for the number of tries.
func (a *Accounts) traceLock(ctx context.Context, t Attempt, user lyceum.User, refused error) {
	trace := Trace{Kind: AddressLocked, School: t.School, Object: int32(t.School), From: t.From.String()}
	switch refused { //nolint:errorlint // these very ones
	case errAddressTries:
	case errAccountTries:
		trace.Kind, trace.User, trace.Object = AccountLocked, user.ID, int32(user.ID)
	default:
		return
	}
	a.oauth.Traces.Add(ctx, trace)
}

// traceFailure notes that a sign-in failed, and why.
func (a *Accounts) traceFailure(ctx context.Context, t *Attempt, user lyceum.UserID, wrong string) {
	a.oauth.Traces.Add(ctx, Trace{
		Kind: SignInFailed, School: t.School, User: user, Object: int32(user), From: t.From.String(),
		Detail: lyceum.EntryDetail{Wrong: wrong},
	})
}

// changeLifetime is how long somebody who must choose a new password has time.
const changeLifetime = 15 * time.Minute

// changeLink makes the one-time link of somebody who has just shown their
// password and must choose another, or show their second factor.
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
		if purpose == lyceum.SecondStep { // it lets nobody in by itself, and has no entry
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

// begin opens a session and returns the user as they are then: a hash of a lower
// cost has been replaced.
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

// enter begins a session with a secret, for who showed something.
func enter(tx lyceum.Tx, t Attempt, user lyceum.UserID, with, text string, now time.Time) error {
	tx.NoteDetail(lyceum.SignedIn, int32(user), lyceum.EntryDetail{With: with}.JSON())
	if err := tx.SignedIn(user, t.From.String(), now); err != nil {
		return err
	}
	return tx.Sessions.Insert(tx, lyceum.Session{
		Hash: HashSecret(text), User: user, CreatedAt: now, SeenAt: now, Address: network(t.From), Browser: t.Browser,
		ConfirmedAt: now,
	})
}

// asChecked gives a user as they are now, if the password that was checked is
// still theirs. While it was being checked they or the owner may have acted.
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

// verify compares a password with a hash. The try counts when the hash is begun,
// and not while it waits for its turn.
func (a *Accounts) verify(ctx context.Context, c *claim, password, kept string) (bool, error) {
	done, err := a.hashing.take(ctx, c.origin())
	if err != nil {
		return false, err
	}
	defer done()
	if ctx.Err() != nil {
		return false, errBusy // nobody waits for the answer any more
	}
	if err := a.guard.begin(ctx, c); err != nil {
		return false, err
	}
	return CheckPassword(password, kept)
}

// Hash makes the hash that is kept of a password. With every processor busy it
// waits for two seconds, and is then RateLimited.
func (a *Accounts) Hash(ctx context.Context, password string) (lyceum.Opt[string], error) {
	return a.hash(ctx, a.hashing, "", password)
}

// HashForProgram is Hash for a request of the interface: it waits for other
// slots than people do, so that neither holds up the other. Schools take turns.
// Common tells whether the user must choose another password at the first
// sign-in.
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

// Session tells who a session's secret belongs to. A session that is over, or
// whose user is disabled, belongs to nobody: the error is NotFound.
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
			session.SeenAt = now
			return tx.Sessions.Update(tx, session)
		})
	}
	return user, err
}

// SignOut ends a session.
func (a *Accounts) SignOut(ctx context.Context, school lyceum.SchoolID, text string) error {
	return a.store.Write(ctx, lyceum.Stamp{School: school, At: a.clock(), Actor: "session"}, func(tx lyceum.Tx) error {
		return endSession(tx, HashSecret(text))
	})
}

// endSession ends a session, unless it has ended.
func endSession(tx lyceum.Tx, hash lyceum.KeyHash) error {
	err := tx.Sessions.Delete(tx, hash)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return nil
	}
	return err
}

// Remember makes what a browser keeps in which somebody signed in, or spent a
// one-time link. From then on no number of wrong passwords from elsewhere
// refuses the right one there, until there is another password.
func (a *Accounts) Remember(device string, school lyceum.SchoolID, user lyceum.User) string {
	return a.devices.mark(device, school, user)
}

// The bounds of a password, in characters (OWASP ASVS 5.0, 6.2).
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

// SchoolOfSession gives the school that a session's secret leads to, without
// asking whether the session is good.
func SchoolOfSession(text string) (lyceum.SchoolID, bool) { return schoolOf(sessionPrefix, text) }
