package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

const (
	// codePeriod is how long an app shows a code, in seconds (RFC 6238).
	codePeriod = 30
	// codeSkew is how many codes before and after the current one are accepted, so that clocks
	// may be off by 30 seconds.
	codeSkew = 1
	// recoveryCodes is the number of recovery codes created for a user.
	recoveryCodes = 10
)

// codeBounds limits the codes that are tried for one user.
var codeBounds = Bounds{Minute: 5, Hour: 20}

var (
	errCode = lyceum.Errorf(lyceum.Unauthenticated, "This code is wrong or was used. Type the one that the app shows "+
		"now.")
	errCodeTries = lyceum.Errorf(lyceum.RateLimited, "Too many codes or passkeys were tried for this account. "+
		"Wait a while and try again.")
	errStep   = lyceum.Errorf(lyceum.NotFound, "The sign-in took too long. Start again with your password.")
	errNoRing = lyceum.Errorf(lyceum.Conflict, "The server has no secret key, so it cannot keep a second factor.")
)

// Setup is a second factor that an app can be connected with. Nothing of it is stored before
// its first code is entered.
type Setup struct {
	URL    string // which the app reads from a QR code
	Secret string // to be typed instead
	Sealed string // for Enable
}

// HasSecondFactor reports whether a user has a second factor: an app or a passkey.
func (a *Accounts) HasSecondFactor(
	ctx context.Context, school lyceum.SchoolID, user lyceum.UserID,
) (bool, error) {
	v := a.store.In(ctx, school)
	return lyceum.HasSecondFactor(v.Tables, v, user)
}

// sealing returns the purpose that the secret of a user's second factor is sealed for.
func sealing(school lyceum.SchoolID, user lyceum.UserID) string {
	return fmt.Sprintf("second factor %d %d", school, user)
}

// SetUp creates a secret for an app. The issuer is what the app shows as the school's name.
func (a *Accounts) SetUp(school lyceum.SchoolID, user *lyceum.User, issuer string) (Setup, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: shortIssuer(issuer), AccountName: user.Email, Period: codePeriod, Rand: rand.Reader,
	})
	if err != nil {
		return Setup{}, err
	}
	sealed, ok := a.ring.Seal(sealing(school, user.ID), key.Secret())
	if !ok {
		return Setup{}, errNoRing
	}
	return Setup{URL: key.URL(), Secret: key.Secret(), Sealed: sealed}, nil
}

// mostIssuer is how many characters of an issuer the URL of a Setup contains, twice: a QR code
// holds 2,331 bytes, and an escaped character takes up to 12.
const mostIssuer = 40

func shortIssuer(name string) string {
	runes := []rune(strings.ReplaceAll(name, ":", " "))
	return strings.TrimSpace(string(runes[:min(len(runes), mostIssuer)]))
}

// Again returns the same Setup that SetUp returned, for a user who typed a wrong code.
func (a *Accounts) Again(school lyceum.SchoolID, user *lyceum.User, issuer, sealed string) (Setup, error) {
	secret, err := a.ring.Open(sealing(school, user.ID), sealed)
	if err != nil {
		return Setup{}, lyceum.Invalidf("This page is out of date. Open it again, and scan the new code.")
	}
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return Setup{}, err
	}
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: shortIssuer(issuer), AccountName: user.Email, Period: codePeriod, Secret: raw,
	})
	if err != nil {
		return Setup{}, err
	}
	return Setup{URL: key.URL(), Secret: secret, Sealed: sealed}, nil
}

// Enable connects the app that SetUp created a secret for to a user, if the code is valid. If
// the user had no recovery codes, it returns new ones, which are not stored and cannot be shown
// again. The user's other sessions end. It fails with Conflict if the user has an app already,
// and with Unauthenticated for a wrong code.
func (a *Accounts) Enable(
	ctx context.Context, by lyceum.By, user lyceum.UserID, sealed, code, here string,
) (recovery []string, err error) {
	secret, err := a.ring.Open(sealing(by.School, user), sealed)
	if err != nil {
		return nil, lyceum.Invalidf("This page is out of date. Open it again, and scan the new code.")
	}
	now := a.clock()
	step, err := codeStep(secret, code, now, 0)
	if err != nil {
		return nil, err
	}
	err = a.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		kept, err := tx.SecondFactors.Find(tx, user)
		if err != nil {
			return err
		}
		if len(kept) > 0 {
			return lyceum.Errorf(lyceum.Conflict, "You have an app already, and it stays. Remove it before you set up "+
				"another one. If you have not seen your recovery codes, create new ones.")
		}
		if err := endOthers(tx, user, here); err != nil {
			return err
		}
		tx.Note(lyceum.SecondFactorSet, int32(user))
		err = tx.SecondFactors.Insert(tx, lyceum.SecondFactor{User: user, Sealed: sealed, Step: step, CreatedAt: now})
		if err != nil {
			return err
		}
		recovery, err = firstRecovery(tx, by.School, user, now)
		return err
	})
	return recovery, err
}

// endOthers ends all sessions of a user except one.
func endOthers(tx lyceum.Tx, user lyceum.UserID, here string) error {
	kept, err := lyceum.All(tx.Sessions, tx, lyceum.SessionFilter{User: lyceum.Some(user)})
	if err != nil {
		return err
	}
	own := HashSecret(here)
	for i := range kept {
		if subtle.ConstantTimeCompare(kept[i].Hash[:], own[:]) == 1 {
			continue
		}
		if err := endSession(tx, kept[i].Hash); err != nil {
			return err
		}
	}
	return nil
}

// RenewRecovery replaces a user's recovery codes. It fails with Conflict if the user has no
// second factor.
func (a *Accounts) RenewRecovery(ctx context.Context, by lyceum.By, user lyceum.UserID) (recovery []string, err error) {
	now := a.clock()
	err = a.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		has, err := lyceum.HasSecondFactor(tx.Tables, tx, user)
		if err != nil {
			return err
		}
		if !has {
			return lyceum.Errorf(lyceum.Conflict, "Recovery codes need a second factor. Set one up first.")
		}
		recovery, err = makeRecovery(tx, by.School, user, now)
		return err
	})
	return recovery, err
}

func makeRecovery(tx lyceum.Tx, school lyceum.SchoolID, user lyceum.UserID, now time.Time) ([]string, error) {
	if _, err := tx.RecoveryCodes.Clear(tx, lyceum.RecoveryCodeFilter{User: lyceum.Some(user)}); err != nil {
		return nil, err
	}
	tx.Note(lyceum.RecoveryCodesMade, int32(user))
	codes := make([]string, recoveryCodes)
	for i := range codes {
		codes[i] = newRecoveryCode()
		err := tx.RecoveryCodes.Insert(tx, lyceum.RecoveryCode{
			Hash: recoveryHash(school, user, codes[i]), User: user, CreatedAt: now,
		})
		if err != nil {
			return nil, err
		}
	}
	return codes, nil
}

// newRecoveryCode returns a code with 80 random bits, too many to guess it from its hash.
func newRecoveryCode() string {
	var raw [10]byte
	_, _ = rand.Read(raw[:])
	text := strings.ToLower(base32.StdEncoding.EncodeToString(raw[:]))
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
}

// recoveryHash returns the stored hash of a recovery code, however the code is typed.
func recoveryHash(school lyceum.SchoolID, user lyceum.UserID, code string) lyceum.KeyHash {
	code = strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code))
	return HashSecret(fmt.Sprintf("recovery %d %d %s", school, user, code))
}

// codeStep returns the step of a code that an app shows around now. Codes up to the step after
// have been used.
func codeStep(secret, code string, now time.Time, after int64) (int64, error) {
	code = strings.ReplaceAll(code, " ", "")
	found, current := int64(0), now.Unix()/codePeriod
	for step := current - codeSkew; step <= current+codeSkew; step++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(max(step, 0)), hotp.ValidateOpts{ // #nosec G115 -- not below 0
			Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1,
		})
		if err != nil {
			return 0, fmt.Errorf("make the code of a second factor: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && step > after {
			found = step
		}
	}
	if found == 0 {
		return 0, errCode
	}
	return found, nil
}

// spendCode accepts a code of a user's app, or a recovery code, once, and returns which of them
// it was.
func (a *Accounts) spendCode(
	tx lyceum.Tx, school lyceum.SchoolID, user lyceum.UserID, code string, now time.Time,
) (with string, err error) {
	hash := recoveryHash(school, user, code)
	kept, err := tx.RecoveryCodes.Find(tx, hash)
	if err != nil {
		return "", err
	}
	if kept[hash].User == user {
		tx.Note(lyceum.RecoveryCodeUsed, int32(user))
		return lyceum.WithRecoveryCode, tx.RecoveryCodes.Delete(tx, hash)
	}
	factor, err := tx.SecondFactors.Get(tx, user)
	if err != nil && lyceum.KindOf(err) == lyceum.NotFound {
		return "", errCode // the user only has passkeys
	}
	if err != nil {
		return "", err
	}
	secret, err := a.ring.Open(sealing(school, user), factor.Sealed)
	if err != nil {
		return "", err
	}
	if factor.Step, err = codeStep(secret, code, now, factor.Step); err != nil {
		return "", err
	}
	return lyceum.WithAppCode, tx.SecondFactors.Update(tx, factor)
}

// tryFactor runs change, which accepts a user's code or passkey, within the limits on attempts
// for both.
func (a *Accounts) tryFactor(
	ctx context.Context, school lyceum.SchoolID, user lyceum.UserID, from netip.Addr, change func(lyceum.Tx) error,
) error {
	name := userActor(user)
	trace := Trace{Kind: AccountLocked, School: school, User: user, Object: int32(user), From: from.String()}
	taken, err := a.codes.try(ctx, school, name, errCodeTries)
	if err != nil {
		if lyceum.KindOf(err) == lyceum.RateLimited {
			a.oauth.Traces.Add(ctx, trace)
		}
		return err
	}
	err = a.store.Write(ctx, lyceum.Stamp{School: school, At: a.clock(), Actor: name}, change)
	switch {
	case err == nil:
		a.codes.giveBack(ctx, taken)
	case lyceum.KindOf(err) == lyceum.Unauthenticated:
		trace.Kind, trace.Detail.Wrong = SignInFailed, wrongOf(err)
		if trace.Detail.Wrong != "" {
			a.oauth.Traces.Add(ctx, trace)
		}
	}
	return err
}

// StepUser returns the user who entered their password and must now present a second factor.
// step is what SignIn returned. It fails with NotFound if the step has expired.
func (a *Accounts) StepUser(ctx context.Context, school lyceum.SchoolID, step string) (lyceum.UserID, error) {
	link, err := a.stepLink(ctx, school, step)
	return link.User, err
}

func (a *Accounts) stepLink(ctx context.Context, school lyceum.SchoolID, step string) (lyceum.Link, error) {
	if from, ok := schoolOf(linkPrefix, step); !ok || from != school {
		return lyceum.Link{}, errStep
	}
	v := a.store.In(ctx, school)
	link, err := v.Links.Get(v, HashSecret(step))
	if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
		return lyceum.Link{}, err
	}
	if err != nil || link.Purpose != lyceum.SecondStep || link.UsedAt.Present || !a.clock().Before(link.ExpiresAt) {
		return lyceum.Link{}, errStep
	}
	return link, nil
}

// SecondStep signs in a user who has entered their password, with a passkey, a code of their
// app or a recovery code. step is what SignIn returned. Each of them is accepted once. It fails
// with Unauthenticated for a wrong one, and with NotFound if the step has expired.
func (a *Accounts) SecondStep(ctx context.Context, t Attempt, step, code string) (Admission, error) {
	link, err := a.stepLink(ctx, t.School, step)
	if err != nil {
		return Admission{}, err
	}
	var in Admission
	err = a.tryFactor(ctx, t.School, link.User, t.From, func(tx lyceum.Tx) (err error) {
		now := tx.At()
		if in.User, err = tx.Users.Get(tx, link.User); err != nil {
			return err
		}
		if in.User.DisabledAt.Present {
			return errSignIn
		}
		if err := spendLink(tx, link.Hash, now); err != nil {
			return errStep
		}
		with, err := a.spendFactor(tx, &t, PasskeyAsSecond, link.User, code, now)
		if err != nil {
			return err
		}
		in.Session = secretText(sessionPrefix, t.School, a.entropy())
		return enter(tx, t, link.User, with, in.Session, now)
	})
	if err != nil {
		return Admission{}, err
	}
	in.Device = a.devices.mark(t.Device, t.School, in.User)
	return in, nil
}

// RemoveSecondFactor removes a user's app and all their passkeys and recovery codes, and does
// nothing if they have neither an app nor a passkey. Removing another user's is for owners. It
// fails with Conflict if an owner removes their own and the school requires owners to have one.
func (a *Accounts) RemoveSecondFactor(ctx context.Context, by lyceum.By, id lyceum.UserID) (lyceum.User, error) {
	return a.change(ctx, by, id, func(tx lyceum.Tx, user *lyceum.User, _ time.Time) error {
		school, err := tx.GetSchool()
		if err != nil {
			return err
		}
		if school.OwnersSecondFactor && user.Role == lyceum.Owner && by.Actor == userActor(id) {
			return errWanted
		}
		if has, err := lyceum.HasSecondFactor(tx.Tables, tx, id); err != nil || !has {
			return err
		}
		tx.Note(lyceum.SecondFactorRemoved, int32(id))
		return lyceum.DropSecondFactor(tx, id)
	})
}

// DemandSecondFactor sets whether the owners of a school must have a second factor. It fails
// with Conflict if the owner who makes the change has none.
func (a *Accounts) DemandSecondFactor(ctx context.Context, by lyceum.By, demanded bool) error {
	return a.store.Write(ctx, by.Stamp(a.clock()), func(tx lyceum.Tx) error {
		has, err := lyceum.HasSecondFactor(tx.Tables, tx, by.Person)
		if err != nil {
			return err
		}
		if demanded && !has {
			return lyceum.Errorf(lyceum.Conflict, "Set up your own second factor first, so that you do not lock yourself out.")
		}
		return tx.ChangeSchool(func(s *lyceum.School) { s.OwnersSecondFactor = demanded })
	})
}

// FreshFor is how long after proving who they are somebody may do what a stolen session must
// not allow.
const FreshFor = 15 * time.Minute

// Fresh reports whether the person of a session has recently proved who they are.
func (a *Accounts) Fresh(ctx context.Context, school lyceum.SchoolID, text string) (bool, error) {
	v := a.store.In(ctx, school)
	session, err := v.Sessions.Get(v, HashSecret(text))
	return err == nil && a.clock().Before(session.ConfirmedAt.Add(FreshFor)), err
}

// Proof is what a signed-in person presents to do what a stolen session must not allow: a
// passkey or a code if they have a second factor, and otherwise their password.
type Proof struct {
	Attempt

	Session string
	Code    string
}

// Confirm records that the person of a session has proved who they are. It fails like SignIn
// and SecondStep.
func (a *Accounts) Confirm(ctx context.Context, p Proof) error {
	user, err := a.Session(ctx, p.School, p.Session)
	if err != nil {
		return err
	}
	second, err := a.HasSecondFactor(ctx, p.School, user.ID)
	if err != nil {
		return err
	}
	if second {
		return a.tryFactor(ctx, p.School, user.ID, p.From, func(tx lyceum.Tx) error {
			if _, err := a.spendFactor(tx, &p.Attempt, PasskeyToConfirm, user.ID, p.Code, tx.At()); err != nil {
				return err
			}
			return confirm(tx, p.Session)
		})
	}
	if err := a.checkOwn(ctx, p, &user); err != nil {
		return err
	}
	stamp := lyceum.Stamp{School: p.School, At: a.clock(), Actor: userActor(user.ID)}
	return a.store.Write(ctx, stamp, func(tx lyceum.Tx) error { return confirm(tx, p.Session) })
}

var errOwnPassword = &lyceum.Error{Kind: lyceum.Unauthenticated, Detail: "Wrong password."}

// checkOwn checks the password of a signed-in user, within the limits on sign-ins.
func (a *Accounts) checkOwn(ctx context.Context, p Proof, user *lyceum.User) error {
	c := claim{
		school: p.School, name: strings.ToLower(user.Email), from: BucketOf(p.From).From,
		device: a.devices.known(p.Device, p.School, *user),
	}
	if !user.PasswordHash.Present {
		return errOwnPassword
	}
	p.Email = user.Email
	good, err := a.verify(ctx, &c, p.Password, user.PasswordHash.Value)
	if err != nil {
		a.traceLock(ctx, p.Attempt, *user, err)
		return err
	}
	if !good {
		a.traceFailure(ctx, &p.Attempt, user.ID, lyceum.WrongPassword)
		return errOwnPassword
	}
	return a.guard.succeeded(ctx, &c)
}

func confirm(tx lyceum.Tx, text string) error {
	session, err := tx.Sessions.Get(tx, HashSecret(text))
	if err != nil {
		return err
	}
	session.ConfirmedAt = tx.At()
	return tx.Sessions.Update(tx, session)
}

// NeededKeys counts the apps of the users of all schools by the secret key that they need.
func (a *Accounts) NeededKeys(ctx context.Context) (map[lyceum.SecretKeyID]int, error) {
	schools, err := a.store.FindSchools(ctx)
	if err != nil {
		return nil, err
	}
	needed := map[lyceum.SecretKeyID]int{}
	for _, school := range schools {
		v := a.store.In(ctx, school.ID)
		err := v.SecondFactors.Each(v, struct{}{}, func(f *lyceum.SecondFactor) error {
			needed[lyceum.SealedBy(f.Sealed)]++
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return needed, nil
}
