package access

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/lyceum-school/lyceum"
)

// RelyingParty is where passkeys are valid: browsers bind each to the host that it was created
// at.
type RelyingParty struct {
	Host   string // without a port
	Origin string // of the pages: https://school.example.com
	Name   string // of the school, shown by browsers
}

// PasskeyUse is what a passkey is used for. A challenge for one use is not valid for another.
type PasskeyUse string

// The uses of passkeys.
const (
	PasskeyToAdd     PasskeyUse = "add"
	PasskeyToSignIn  PasskeyUse = "sign_in" // without a password
	PasskeyAsSecond  PasskeyUse = "second_step"
	PasskeyToConfirm PasskeyUse = "confirm"
)

// ChallengeParams is what a challenge is created for.
type ChallengeParams struct {
	School  lyceum.SchoolID
	User    lyceum.UserID // 0 for PasskeyToSignIn
	Use     PasskeyUse
	Party   RelyingParty
	Browser string // a secret of the browser, which the response must come from
}

// PasskeyResponse is what a browser sends from a passkey.
type PasskeyResponse struct {
	Party   RelyingParty
	Browser string // as in ChallengeParams
	JSON    string // a PublicKeyCredential (WebAuthn, section 5.1)
}

// passkeyEncoding is the encoding of WebAuthn's JSON.
var passkeyEncoding = base64.RawURLEncoding

var (
	errNoPasskeys = lyceum.Errorf(lyceum.Conflict, "You have no passkey here.")
	errManyKeys   = lyceum.Errorf(lyceum.Conflict, "You have %d passkeys, the maximum. Remove one first.",
		lyceum.MaxPasskeys)
	errKnownKey = lyceum.Errorf(lyceum.Conflict, "This passkey is registered already.")
)

// Factors are what somebody signs in with in addition to their password.
type Factors struct {
	App           bool
	Passkeys      []lyceum.Passkey // oldest first
	RecoveryCodes int              // not used yet
}

// Any reports whether there is a second factor.
func (f *Factors) Any() bool { return f.App || len(f.Passkeys) > 0 }

// Factors returns the second factors of a user.
func (a *Accounts) Factors(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) (Factors, error) {
	v := a.store.In(ctx, school)
	app, err := v.SecondFactors.Find(v, user)
	if err != nil {
		return Factors{}, err
	}
	passkeys, err := lyceum.All(v.Passkeys, v, lyceum.PasskeyFilter{User: lyceum.Some(user)})
	if err != nil {
		return Factors{}, err
	}
	codes, err := lyceum.All(v.RecoveryCodes, v, lyceum.RecoveryCodeFilter{User: lyceum.Some(user)})
	return Factors{App: len(app) > 0, Passkeys: passkeys, RecoveryCodes: len(codes)}, err
}

// HasPasskeys reports whether anybody in a school has a passkey.
func (a *Accounts) HasPasskeys(ctx context.Context, school lyceum.SchoolID) (bool, error) {
	v := a.store.In(ctx, school)
	_, found, err := v.Passkeys.First(v, lyceum.PasskeyFilter{})
	return found, err
}

// holder implements the library's interface for a user.
type holder struct {
	school lyceum.SchoolID
	user   lyceum.UserID
	email  string
	keys   []lyceum.Passkey
}

// maxPublicKey is the maximum length of a public key, in bytes: enough for RSA with 8192 bits.
// Verifying a signature of a longer one would take too much processor time.
const maxPublicKey = 1100

// handleSize is the length of a user handle in bytes.
const handleSize = 8

// WebAuthnID returns the user handle. It contains both school and user, because authenticators
// only know the host.
func (h *holder) WebAuthnID() []byte {
	id := binary.BigEndian.AppendUint32(make([]byte, 0, handleSize), uint32(h.school))
	return binary.BigEndian.AppendUint32(id, uint32(h.user))
}

// WebAuthnName returns the email address.
func (h *holder) WebAuthnName() string { return h.email }

// WebAuthnDisplayName returns the email address, too.
func (h *holder) WebAuthnDisplayName() string { return h.email }

// WebAuthnCredentials returns the passkeys that can be decoded.
func (h *holder) WebAuthnCredentials() []webauthn.Credential {
	credentials := make([]webauthn.Credential, 0, len(h.keys))
	for i := range h.keys {
		id, err1 := passkeyEncoding.DecodeString(h.keys[i].Credential)
		key, err2 := passkeyEncoding.DecodeString(h.keys[i].PublicKey)
		if err1 != nil || err2 != nil {
			continue
		}
		credentials = append(credentials, webauthn.Credential{
			ID: id, PublicKey: key, Flags: webauthn.NewCredentialFlags(protocol.AuthenticatorFlags(h.keys[i].Flags)),
			Authenticator: webauthn.Authenticator{SignCount: uint32(h.keys[i].Uses)},
		})
	}
	return credentials
}

func (h *holder) descriptors() []protocol.CredentialDescriptor {
	return webauthn.Credentials(h.WebAuthnCredentials()).CredentialDescriptors()
}

// ceremonies returns the library configured for a relying party.
func (p *RelyingParty) ceremonies() (*webauthn.WebAuthn, error) {
	timeout := webauthn.TimeoutConfig{Timeout: challengeLifetime, TimeoutUVD: challengeLifetime}
	return webauthn.New(&webauthn.Config{
		RPID: p.Host, RPDisplayName: p.Name, RPOrigins: []string{p.Origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
	})
}

// session returns what the library checks a response against.
func (p *RelyingParty) session(challenge string, h *holder) webauthn.SessionData {
	return webauthn.SessionData{
		Challenge: passkeyEncoding.EncodeToString([]byte(challenge)), RelyingPartyID: p.Host, UserID: h.WebAuthnID(),
		UserVerification: protocol.VerificationRequired, CredParams: webauthn.CredentialParametersRecommendedL3(),
	}
}

// PasskeyOptions returns what a browser needs to use a passkey, as JSON: a
// PublicKeyCredentialRequestOptions with a challenge that is valid for five minutes. It fails
// with Conflict if the user has no passkeys.
func (a *Accounts) PasskeyOptions(ctx context.Context, params ChallengeParams) ([]byte, error) {
	ceremonies, err := params.Party.ceremonies()
	if err != nil {
		return nil, err
	}
	challenge, err := a.challenge(&params)
	if err != nil {
		return nil, err
	}
	if params.Use == PasskeyToSignIn {
		options, _, err := ceremonies.BeginDiscoverableLogin(webauthn.WithChallenge([]byte(challenge)))
		if err != nil {
			return nil, err
		}
		return json.Marshal(options)
	}
	h, err := a.holder(ctx, params.School, params.User)
	if err != nil {
		return nil, err
	}
	if len(h.keys) == 0 {
		return nil, errNoPasskeys
	}
	options, _, err := ceremonies.BeginLogin(h, webauthn.WithChallenge([]byte(challenge)))
	if err != nil {
		return nil, err
	}
	return json.Marshal(options)
}

// NewPasskeyOptions returns what a browser needs to create a passkey, as JSON: a
// PublicKeyCredentialCreationOptions with a challenge that is valid for five minutes. It fails
// with Conflict if the user has the maximum number of passkeys.
func (a *Accounts) NewPasskeyOptions(ctx context.Context, params ChallengeParams) ([]byte, error) {
	ceremonies, err := params.Party.ceremonies()
	if err != nil {
		return nil, err
	}
	h, err := a.holder(ctx, params.School, params.User)
	if err != nil {
		return nil, err
	}
	if len(h.keys) >= lyceum.MaxPasskeys {
		return nil, errManyKeys
	}
	challenge, err := a.challenge(&params)
	if err != nil {
		return nil, err
	}
	options, _, err := ceremonies.BeginRegistration(h,
		webauthn.WithCredentialParameters(webauthn.CredentialParametersRecommendedL3()),
		webauthn.WithExclusions(h.descriptors()),
		func(o *protocol.PublicKeyCredentialCreationOptions) error {
			o.Challenge = protocol.URLEncodedBase64(challenge)
			return nil
		})
	if err != nil {
		return nil, err
	}
	return json.Marshal(options)
}

func (a *Accounts) holder(ctx context.Context, school lyceum.SchoolID, id lyceum.UserID) (*holder, error) {
	v := a.store.In(ctx, school)
	user, err := v.Users.Get(v, id)
	if err != nil {
		return nil, err
	}
	keys, err := lyceum.All(v.Passkeys, v, lyceum.PasskeyFilter{User: lyceum.Some(id)})
	return &holder{school: school, user: id, email: user.Email, keys: keys}, err
}

// NewPasskey is a passkey to be added.
type NewPasskey struct {
	User   lyceum.UserID
	Name   string // 1 to MaxPasskeyName characters
	Answer PasskeyResponse
	Here   string // the session that remains when the others end
}

// AddPasskey adds a passkey that a browser created to a user. If the user had no second factor,
// their other sessions end. If they had no recovery codes, it returns new ones, which are not
// stored and cannot be shown again. It fails with Invalid for a wrong name, with
// Unauthenticated for a response that is not accepted, and with Conflict if the passkey is
// registered already or the user has the maximum number.
func (a *Accounts) AddPasskey(ctx context.Context, by lyceum.By, p NewPasskey) (recovery []string, err error) {
	length := utf8.RuneCountInString(p.Name)
	if length < 1 || length > lyceum.MaxPasskeyName || !lyceum.IsText(p.Name) {
		return nil, lyceum.Invalidf("Name the passkey with 1 to %d characters, so that you recognize it.",
			lyceum.MaxPasskeyName)
	}
	h := &holder{school: by.School, user: p.User}
	credential, challenge, err := a.readNewPasskey(h, &p.Answer)
	if err != nil {
		return nil, err
	}
	now := a.clock()
	made := lyceum.Passkey{
		Hash: sha256.Sum256(credential.ID), User: p.User, Name: p.Name,
		Credential: passkeyEncoding.EncodeToString(credential.ID),
		PublicKey:  passkeyEncoding.EncodeToString(credential.PublicKey),
		Uses:       int64(credential.Authenticator.SignCount), Flags: uint8(credential.Flags.ProtocolValue()), CreatedAt: now,
	}
	err = a.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		if err := spendChallenge(tx, p.User, challenge, now); err != nil {
			return err
		}
		if err := roomForPasskey(tx, &made); err != nil {
			return err
		}
		had, err := lyceum.HasSecondFactor(tx.Tables, tx, p.User)
		if err != nil {
			return err
		}
		if !had {
			if err := endOthers(tx, p.User, p.Here); err != nil {
				return err
			}
		}
		tx.Note(lyceum.PasskeyAdded, int32(p.User))
		if err := tx.Passkeys.Insert(tx, made); err != nil {
			return err
		}
		recovery, err = firstRecovery(tx, by.School, p.User, now)
		return err
	})
	return recovery, err
}

// roomForPasskey fails with Conflict if the passkey exists already or the user has the maximum
// number.
func roomForPasskey(tx lyceum.Tx, p *lyceum.Passkey) error {
	known, err := tx.Passkeys.Find(tx, p.Hash)
	if err != nil {
		return err
	}
	if len(known) > 0 {
		return errKnownKey
	}
	kept, err := lyceum.All(tx.Passkeys, tx, lyceum.PasskeyFilter{User: lyceum.Some(p.User)})
	if err == nil && len(kept) >= lyceum.MaxPasskeys {
		err = errManyKeys
	}
	return err
}

// readNewPasskey validates a response and returns its passkey and challenge. The challenge may
// have been spent already.
func (a *Accounts) readNewPasskey(h *holder, response *PasskeyResponse) (*webauthn.Credential, string, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(response.JSON))
	if err != nil {
		return nil, "", errPasskey
	}
	params := ChallengeParams{School: h.school, User: h.user, Use: PasskeyToAdd, Browser: response.Browser}
	challenge, err := a.checkChallenge(&params, parsed.Response.CollectedClientData.Challenge)
	if err != nil {
		return nil, "", err
	}
	// If no attestation is requested, a browser only passes on a key's self attestation.
	object := &parsed.Response.AttestationObject
	if !slices.Contains([]string{"none", "packed"}, object.Format) ||
		len(object.AuthData.AttData.CredentialPublicKey) > maxPublicKey {
		return nil, "", errPasskey
	}
	ceremonies, err := response.Party.ceremonies()
	if err != nil {
		return nil, "", err
	}
	credential, err := ceremonies.CreateCredential(h, response.Party.session(challenge, h), parsed)
	if err != nil {
		return nil, "", errPasskey
	}
	return credential, challenge, nil
}

// firstRecovery creates recovery codes if the user has none left.
func firstRecovery(
	tx lyceum.Tx, school lyceum.SchoolID, user lyceum.UserID, now time.Time,
) ([]string, error) {
	_, found, err := tx.RecoveryCodes.First(tx, lyceum.RecoveryCodeFilter{User: lyceum.Some(user)})
	if err != nil || found {
		return nil, err
	}
	return makeRecovery(tx, school, user, now)
}

// RemovePasskey removes a user's passkey by its ID, and does nothing if it does not exist.
// Removing the last second factor also deletes the recovery codes. It fails with Conflict for
// an owner's last second factor if the school requires owners to have one.
func (a *Accounts) RemovePasskey(ctx context.Context, by lyceum.By, id lyceum.UserID, passkey string) error {
	_, err := a.change(ctx, by, id, func(tx lyceum.Tx, user *lyceum.User, _ time.Time) error {
		kept, err := lyceum.All(tx.Passkeys, tx, lyceum.PasskeyFilter{User: lyceum.Some(id)})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(kept, func(p lyceum.Passkey) bool { return p.ID() == passkey })
		if at < 0 {
			return nil
		}
		tx.Note(lyceum.PasskeyRemoved, int32(id))
		if err := tx.Passkeys.Delete(tx, kept[at].Hash); err != nil {
			return err
		}
		return lostFactor(tx, user)
	})
	return err
}

// RemoveApp removes a user's authenticator app, like RemovePasskey does a passkey.
func (a *Accounts) RemoveApp(ctx context.Context, by lyceum.By, id lyceum.UserID) error {
	_, err := a.change(ctx, by, id, func(tx lyceum.Tx, user *lyceum.User, _ time.Time) error {
		err := tx.SecondFactors.Delete(tx, id)
		if err != nil && lyceum.KindOf(err) == lyceum.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		tx.Note(lyceum.SecondFactorRemoved, int32(id))
		return lostFactor(tx, user)
	})
	return err
}

var errWanted = lyceum.Errorf(lyceum.Conflict, "The school wants its owners to have a second factor. Add another one "+
	"first; another owner can remove yours if you lost it.")

// lostFactor deletes the recovery codes of a user who has lost their last second factor.
func lostFactor(tx lyceum.Tx, user *lyceum.User) error {
	left, err := lyceum.HasSecondFactor(tx.Tables, tx, user.ID)
	if err != nil || left {
		return err
	}
	school, err := tx.GetSchool()
	if err != nil {
		return err
	}
	if school.OwnersSecondFactor && user.Role == lyceum.Owner {
		return errWanted
	}
	_, err = tx.RecoveryCodes.Clear(tx, lyceum.RecoveryCodeFilter{User: lyceum.Some(user.ID)})
	if err != nil {
		err = fmt.Errorf("delete recovery codes: %w", err)
	}
	return err
}
