package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/lyceum-school/lyceum"
)

// challengeLifetime is how long a challenge can be answered.
const challengeLifetime = 5 * time.Minute

var (
	errPasskey = lyceum.Errorf(lyceum.Unauthenticated, "This passkey was not accepted. Try again, or use another way to "+
		"sign in.")
	errLate = lyceum.Errorf(lyceum.Unauthenticated, "The passkey took longer than five minutes. Try again.")
	// errDisabled reveals no more than errPasskey.
	errDisabled = lyceum.Errorf(lyceum.Unauthenticated, "%s", errPasskey.Detail)
	// errCopied is for a signature counter that went back (WebAuthn, section 6.1.1).
	errCopied = lyceum.Errorf(lyceum.Unauthenticated, "This passkey may have been copied, because it has counted fewer "+
		"uses than before. Use another way to sign in, and remove it.")
	errOtherSchool = lyceum.Errorf(lyceum.Unauthenticated, "This passkey is for another school on this server. Choose "+
		"another one.")
	errPasskeyTries = lyceum.Errorf(lyceum.RateLimited, "Too many passkeys were tried from your network. Wait a minute "+
		"and try again.")
)

const challengePurpose = "passkey challenge"

// challengeText returns the text that a challenge signs. The parts before Browser have no
// spaces.
func challengeText(params *ChallengeParams, nonce, until string) string {
	return fmt.Sprintf("%s %s %s %d %d %s", nonce, until, params.Use, params.School, params.User, params.Browser)
}

// challenge creates a challenge: nonce.until.signature. None is stored before it is used, so
// that requesting many costs nothing.
func (a *Accounts) challenge(params *ChallengeParams) (string, error) {
	e := a.entropy()
	nonce := passkeyEncoding.EncodeToString(e[:16])
	until := strconv.FormatInt(a.clock().Add(challengeLifetime).Unix(), 10)
	signature, ok := a.ring.Sign(challengePurpose, challengeText(params, nonce, until))
	if !ok {
		return "", errNoRing
	}
	return nonce + "." + until + "." + signature, nil
}

// checkChallenge returns the challenge in a response if it was made for this request and has
// not expired. It may have been spent already.
func (a *Accounts) checkChallenge(params *ChallengeParams, encoded string) (string, error) {
	raw, err := passkeyEncoding.DecodeString(encoded)
	if err != nil || params.Browser == "" {
		return "", errPasskey
	}
	parts := strings.Split(string(raw), ".")
	if len(parts) != 3 || !a.ring.Verify(challengePurpose, challengeText(params, parts[0], parts[1]), parts[2]) {
		return "", errPasskey
	}
	until, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return "", errPasskey
	}
	if a.clock().Unix() >= until {
		return "", errLate
	}
	return string(raw), nil
}

// spendChallenge records that a challenge was answered. The record outlives the challenge by
// far.
func spendChallenge(tx lyceum.Tx, user lyceum.UserID, challenge string, now time.Time) error {
	hash := HashSecret(challenge)
	spent, err := tx.Links.Find(tx, hash)
	if err != nil {
		return err
	}
	if len(spent) > 0 {
		return errPasskey
	}
	return tx.Links.Insert(tx, lyceum.Link{
		Hash: hash, User: user, Purpose: lyceum.PasskeyChallenge, CreatedAt: now, ExpiresAt: now.Add(challengeLifetime),
		UsedAt: lyceum.Some(now),
	})
}

// spendPasskey accepts the response of a user's passkey, once.
func (a *Accounts) spendPasskey(
	tx lyceum.Tx, params ChallengeParams, user lyceum.UserID, response *PasskeyResponse, now time.Time,
) error {
	params.Browser = response.Browser
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(response.JSON))
	if err != nil {
		return errPasskey
	}
	challenge, err := a.checkChallenge(&params, parsed.Response.CollectedClientData.Challenge)
	if err != nil {
		return err
	}
	keys, err := lyceum.All(tx.Passkeys, tx, lyceum.PasskeyFilter{User: lyceum.Some(user)})
	if err != nil {
		return err
	}
	ceremonies, err := response.Party.ceremonies()
	if err != nil {
		return err
	}
	h := &holder{school: params.School, user: user, keys: keys}
	used, err := ceremonies.ValidateLogin(h, response.Party.session(challenge, h), parsed)
	switch {
	case err != nil:
		return errPasskey
	case used.Authenticator.CloneWarning:
		return errCopied
	}
	if err := spendChallenge(tx, user, challenge, now); err != nil {
		return err
	}
	key, err := tx.Passkeys.Get(tx, sha256.Sum256(used.ID))
	if err != nil {
		return err
	}
	key.Uses, key.Flags = int64(used.Authenticator.SignCount), uint8(used.Flags.ProtocolValue())
	key.LastUsedAt = lyceum.Some(now)
	return tx.Passkeys.Update(tx, key)
}

// spendFactor accepts an attempt's passkey, or otherwise a code, once, and returns which of
// them it was.
func (a *Accounts) spendFactor(
	tx lyceum.Tx, t *Attempt, use PasskeyUse, user lyceum.UserID, code string, now time.Time,
) (with string, err error) {
	if t.Passkey == nil {
		return a.spendCode(tx, t.School, user, code, now)
	}
	params := ChallengeParams{School: t.School, User: user, Use: use}
	return lyceum.WithNextPasskey, a.spendPasskey(tx, params, user, t.Passkey, now)
}

// wrongOf returns the reason to record in the journal for an error, or "" if it need not be
// recorded.
func wrongOf(err error) string {
	switch {
	case errors.Is(err, errLate):
		return ""
	case errors.Is(err, errCopied):
		return lyceum.CopiedPasskey
	case errors.Is(err, errPasskey):
		return lyceum.WrongPasskey
	case errors.Is(err, errSignIn), errors.Is(err, errDisabled):
		return lyceum.DisabledAccount
	}
	return lyceum.WrongCode
}

// SignInWithPasskey signs a person in with only a passkey, which has verified them itself. It
// fails with Unauthenticated if the passkey is not accepted, and with RateLimited after too
// many from one address.
func (a *Accounts) SignInWithPasskey(ctx context.Context, t Attempt) (Admission, error) {
	from := BucketOf(t.From).From.String()
	taken, err := a.passkeys.try(ctx, t.School, from, errPasskeyTries)
	if err != nil {
		if lyceum.KindOf(err) == lyceum.RateLimited {
			a.oauth.Traces.Add(ctx, Trace{Kind: AddressLocked, School: t.School, Object: int32(t.School), From: t.From.String()})
		}
		return Admission{}, err
	}
	user, err := a.passkeyOwner(ctx, &t)
	if err != nil {
		return Admission{}, err
	}
	in, err := a.enterByPasskey(ctx, t, user)
	if err != nil {
		return Admission{}, err
	}
	a.passkeys.giveBack(ctx, taken)
	return in, nil
}

// passkeyOwner returns the user that a passkey claims to belong to. Nothing in the response has
// been verified yet, but without knowing the passkey's id, which is random, nobody can use up
// another user's attempts.
func (a *Accounts) passkeyOwner(ctx context.Context, t *Attempt) (lyceum.UserID, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(t.Passkey.JSON))
	if err != nil {
		return 0, errPasskey
	}
	handle := parsed.Response.UserHandle
	if len(handle) == handleSize && lyceum.SchoolID(binary.BigEndian.Uint32(handle)) != t.School {
		return 0, errOtherSchool
	}
	v := a.store.In(ctx, t.School)
	hash := lyceum.KeyHash(sha256.Sum256(parsed.RawID))
	kept, err := v.Passkeys.Find(v, hash)
	if err != nil {
		return 0, err
	}
	key, found := kept[hash]
	if h := (&holder{school: t.School, user: key.User}); !found || !bytes.Equal(h.WebAuthnID(), handle) {
		return 0, errPasskey
	}
	return key.User, nil
}

func (a *Accounts) enterByPasskey(ctx context.Context, t Attempt, user lyceum.UserID) (in Admission, err error) {
	err = a.tryFactor(ctx, t.School, user, t.From, func(tx lyceum.Tx) error {
		now := tx.At()
		in = Admission{}
		if in.User, err = tx.Users.Get(tx, user); err != nil {
			return err
		}
		params := ChallengeParams{School: t.School, Use: PasskeyToSignIn}
		if err := a.spendPasskey(tx, params, user, t.Passkey, now); err != nil {
			return err
		}
		switch {
		case in.User.DisabledAt.Present:
			return errDisabled
		case in.User.MustChangePassword:
			return nil
		}
		in.Session = secretText(sessionPrefix, t.School, a.entropy())
		return enter(tx, t, user, lyceum.WithPasskey, in.Session, now)
	})
	if err != nil {
		return Admission{}, err
	}
	if in.User.MustChangePassword {
		if in.Link, err = a.changeLink(ctx, t.School, in.User, lyceum.SetPassword); err != nil {
			return Admission{}, err
		}
	}
	in.Device = a.devices.mark(t.Device, t.School, in.User)
	return in, nil
}
