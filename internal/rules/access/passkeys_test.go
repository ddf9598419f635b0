package access_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

var party = access.RelyingParty{Host: "school.example.com", Origin: "https://school.example.com", Name: "Fernwood"}

// device is a phone with a passkey.
type device struct {
	auth virtualwebauthn.Authenticator
	key  virtualwebauthn.Credential
	at   virtualwebauthn.RelyingParty
}

func newDevice(school lyceum.SchoolID, user lyceum.UserID) *device {
	handle := []byte{0, 0, byte(school >> 8), byte(school), 0, 0, byte(user >> 8), byte(user)}
	return &device{
		auth: virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: handle}),
		key:  newKey(),
		at:   virtualwebauthn.RelyingParty{ID: party.Host, Origin: party.Origin, Name: party.Name},
	}
}

// newKey returns a key whose coordinates do not start with a zero, which the library would
// leave out.
func newKey() virtualwebauthn.Credential {
	const whole = 77 // bytes
	for {
		if key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(key.Key.AttestationData()) == whole {
			return key
		}
	}
}

// show responds to a challenge, incrementing the counter.
func (d *device) show(t *testing.T, options []byte) access.PasskeyResponse {
	t.Helper()
	asked, err := virtualwebauthn.ParseAssertionOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	d.key.Counter++
	return answer(virtualwebauthn.CreateAssertionResponse(d.at, d.auth, d.key, *asked))
}

func answer(text string) access.PasskeyResponse {
	return access.PasskeyResponse{Party: party, Browser: "this browser", JSON: text}
}

func (g *guarded) asked(use access.PasskeyUse, user lyceum.UserID) access.ChallengeParams {
	return access.ChallengeParams{School: g.by.School, User: user, Use: use, Party: party, Browser: "this browser"}
}

// options returns the options for using a passkey.
func (g *guarded) options(use access.PasskeyUse, user lyceum.UserID) []byte {
	g.t.Helper()
	options, err := g.accounts.PasskeyOptions(g.t.Context(), g.asked(use, user))
	if err != nil {
		g.t.Fatal(err)
	}
	return options
}

// make creates a passkey of a user, without adding it.
func (g *guarded) make(d *device, user lyceum.UserID) access.NewPasskey {
	g.t.Helper()
	options, err := g.accounts.NewPasskeyOptions(g.t.Context(), g.asked(access.PasskeyToAdd, user))
	if err != nil {
		g.t.Fatal(err)
	}
	asked, err := virtualwebauthn.ParseAttestationOptions(string(options))
	if err != nil {
		g.t.Fatal(err)
	}
	return access.NewPasskey{
		User: user, Name: "Phone", Here: g.session,
		Answer: answer(virtualwebauthn.CreateAttestationResponse(d.at, d.auth, d.key, *asked)),
	}
}

func (g *guarded) add(p access.NewPasskey) ([]string, error) {
	by := g.by
	by.Actor = fmt.Sprint("user:", p.User)
	return g.accounts.AddPasskey(g.t.Context(), by, p)
}

// added returns a device with a passkey that was added.
func (g *guarded) added(user lyceum.UserID) *device {
	g.t.Helper()
	d := newDevice(g.by.School, user)
	if _, err := g.add(g.make(d, user)); err != nil {
		g.t.Fatal(err)
	}
	return d
}

// learner adds a person without a second factor.
func (g *guarded) learner(id lyceum.UserID) {
	g.t.Helper()
	hash := lyceum.Some(access.HashPassword(guardedPassword, [16]byte{2}))
	storetest.Write(g.t, g.store, g.by.School, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{
			ID: id, Email: fmt.Sprintf("learner%d@example.com", id), Role: lyceum.Student, PasswordHash: hash, CreatedAt: g.clock.Now(),
		})
		return err
	})
}

// enter signs in with only a passkey.
func (g *guarded) enter(shown access.PasskeyResponse) (access.Admission, error) {
	return g.accounts.SignInWithPasskey(g.t.Context(), access.Attempt{School: g.by.School, From: guardedFrom, Passkey: &shown})
}

// R61: a passkey can sign in by itself, serve as a second factor after the password, and
// confirm who a signed-in person is. A challenge can be answered once, within five minutes,
// from the browser and for the use that it was created for.
func TestR61Passkeys(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.learner(2)
	d := newDevice(g.by.School, 2)
	made := g.make(d, 2)
	recovery, err := g.add(made)
	if err != nil || len(recovery) != 10 {
		t.Fatalf("%d recovery codes, %v", len(recovery), err)
	}
	_, err = g.add(made)
	g.refused("the same answer again", err, lyceum.Unauthenticated)
	g.clock.Pass(time.Minute)
	shown := d.show(t, g.options(access.PasskeyToSignIn, 0))
	in, err := g.enter(shown)
	if err != nil || in.User.ID != 2 || in.Session == "" || in.Device == "" {
		t.Fatalf("a passkey alone: %+v %v", in, err)
	}
	if fresh, err := g.accounts.Fresh(t.Context(), g.by.School, in.Session); err != nil || !fresh {
		t.Errorf("fresh is %v, %v", fresh, err)
	}
	factors, err := g.accounts.Factors(t.Context(), g.by.School, 2)
	if err != nil || len(factors.Passkeys) != 1 || factors.App || factors.RecoveryCodes != 10 ||
		factors.Passkeys[0].Uses != 1 || !factors.Passkeys[0].LastUsedAt.Value.Equal(g.clock.Now()) {
		t.Errorf("%+v, %v", factors, err)
	}
	_, err = g.enter(shown)
	g.refused("an answer again", err, lyceum.Unauthenticated)
	ring := lyceum.NewKeyring(lyceum.SecretKey{1})
	other := access.NewAccounts(g.store, g.clock.Now, access.NewOAuth(g.store, g.clock.Now), ring)
	_, err = other.SignInWithPasskey(t.Context(), access.Attempt{School: g.by.School, From: guardedFrom, Passkey: &shown})
	g.refused("an answer again, in another process", err, lyceum.Unauthenticated)

	late := d.show(t, g.options(access.PasskeyToSignIn, 0))
	g.clock.Pass(5 * time.Minute)
	_, err = g.enter(late)
	g.refused("an answer after five minutes", err, lyceum.Unauthenticated)
	elsewhere := d.show(t, g.options(access.PasskeyToSignIn, 0))
	elsewhere.Browser = "another browser"
	_, err = g.enter(elsewhere)
	g.refused("an answer from another browser", err, lyceum.Unauthenticated)
	_, err = g.enter(d.show(t, g.options(access.PasskeyToConfirm, 2)))
	g.refused("an answer for another use", err, lyceum.Unauthenticated)
	if in, err = other.SignInWithPasskey(t.Context(), access.Attempt{
		School: g.by.School, From: guardedFrom, Passkey: new(d.show(t, g.options(access.PasskeyToSignIn, 0))),
	}); err != nil {
		t.Errorf("a challenge of one process, in another: %v", err)
	}

	g.clock.Pass(access.FreshFor)
	proof := access.Proof{
		Attempt: access.Attempt{School: g.by.School, From: guardedFrom, Passkey: new(d.show(t, g.options(access.PasskeyToConfirm, 2)))},
		Session: in.Session,
	}
	if err := g.accounts.Confirm(t.Context(), proof); err != nil {
		t.Errorf("confirming with a passkey: %v", err)
	}
	if fresh, err := g.accounts.Fresh(t.Context(), g.by.School, in.Session); err != nil || !fresh {
		t.Errorf("fresh is %v, %v", fresh, err)
	}
}

// madeRSA returns the response of a device that creates an RSA key with the given number of
// bytes, without attestation.
func (g *guarded) madeRSA(size int) access.NewPasskey {
	g.t.Helper()
	p := g.make(newDevice(g.by.School, 2), 2)
	var sent map[string]any
	if err := json.Unmarshal([]byte(p.Answer.JSON), &sent); err != nil {
		g.t.Fatal(err)
	}
	id := bytes.Repeat([]byte{byte(size >> 8)}, 32)
	host := sha256.Sum256([]byte(party.Host))
	modulus := bytes.Repeat([]byte{0xff}, size)
	const coseRSA = "\xa4\x01\x03\x03\x39\x01\x00\x20\x59"
	data := slices.Concat(host[:], []byte{0x45, 0, 0, 0, 1}, make([]byte, 16), []byte{0, byte(len(id))}, id,
		[]byte(coseRSA), []byte{byte(size >> 8), byte(size)}, modulus, []byte("\x21\x43\x01\x00\x01"))
	object := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"), []byte{byte(len(data) >> 8), byte(len(data))}, data)
	text := base64.RawURLEncoding.EncodeToString
	sent["id"], sent["rawId"] = text(id), text(id)
	sent["response"].(map[string]any)["attestationObject"] = text(object)
	raw, err := json.Marshal(sent)
	if err != nil {
		g.t.Fatal(err)
	}
	p.Answer.JSON = string(raw)
	return p
}

// R61: a key that would take long to verify with is rejected before it is used.
func TestR61LongKeys(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.learner(2)
	if _, err := g.add(g.madeRSA(256)); err != nil {
		t.Errorf("2048 bits: %v", err)
	}
	_, err := g.add(g.madeRSA(2048))
	g.refused("16384 bits", err, lyceum.Unauthenticated)
}

// R61: after the password, a passkey or a recovery code is required.
func TestR61PasskeyAsSecondFactor(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	d := g.added(1)
	step := func() (string, access.Attempt) {
		in, err := g.signIn()
		if err != nil || in.Session != "" {
			t.Fatalf("the password lets in: %+v %v", in, err)
		}
		user, err := g.accounts.StepUser(t.Context(), g.by.School, in.Step)
		if err != nil || user != 1 {
			t.Fatalf("the step is of %d, %v", user, err)
		}
		return in.Step, access.Attempt{School: g.by.School, From: guardedFrom, Passkey: new(d.show(t, g.options(access.PasskeyAsSecond, user)))}
	}
	at, attempt := step()
	if in, err := g.accounts.SecondStep(t.Context(), attempt, at, ""); err != nil || in.Session == "" || in.User.ID != 1 {
		t.Fatalf("%+v %v", in, err)
	}
	at, _ = step()
	_, err := g.accounts.SecondStep(t.Context(), attempt, at, "")
	g.refused("an answer again, at another step", err, lyceum.Unauthenticated)
	if err := g.accounts.RemoveApp(t.Context(), g.by, 1); err != nil {
		t.Fatal(err)
	}
	at, attempt = step()
	attempt.Passkey = nil
	_, err = g.accounts.SecondStep(t.Context(), attempt, at, g.code(0))
	g.refused("a code of an app that was removed", err, lyceum.Unauthenticated)
	if _, err := g.accounts.SecondStep(t.Context(), attempt, at, g.recovery[0]); err != nil {
		t.Errorf("a recovery code: %v", err)
	}
}

// R61: what a passkey claims is compared with where it is used and whose it is.
func TestR61WrongPasskeys(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.learner(2)
	g.learner(3)
	d, other := g.added(2), g.added(3)
	shown := func(change func(*device)) access.PasskeyResponse {
		changed := *d
		change(&changed)
		return changed.show(t, g.options(access.PasskeyToSignIn, 0))
	}
	good := d.show(t, g.options(access.PasskeyToSignIn, 0)).JSON
	for what, wrong := range map[string]access.PasskeyResponse{
		"another origin":            shown(func(d *device) { d.at.Origin = "https://school.example.org" }),
		"the origin without https":  shown(func(d *device) { d.at.Origin = "http://school.example.com" }),
		"another port":              shown(func(d *device) { d.at.Origin = "https://school.example.com:8443" }),
		"another host":              shown(func(d *device) { d.at.ID = "example.com" }),
		"no person checked":         shown(func(d *device) { d.auth.Options.UserNotVerified = true }),
		"nobody there":              shown(func(d *device) { d.auth.Options.UserNotPresent = true }),
		"another user's handle":     shown(func(d *device) { d.auth.Options.UserHandle = other.auth.Options.UserHandle }),
		"no handle":                 shown(func(d *device) { d.auth.Options.UserHandle = nil }),
		"another school":            shown(func(d *device) { d.auth.Options.UserHandle = []byte{0, 0, 0, 9, 0, 0, 0, 2} }),
		"another user's credential": shown(func(d *device) { d.key.ID = other.key.ID }),
		"another key":               shown(func(d *device) { d.key.Key = other.key.Key }),
		"a credential of nobody":    shown(func(d *device) { d.key = newKey() }),
		"another backup state":      shown(func(d *device) { d.auth.Options.BackupEligible = true }),
		"nothing":                   answer(""),
		"null":                      answer("null"),
		"an empty object":           answer("{}"),
		"half":                      answer(good[:len(good)/2]),
		"more":                      answer(good + good),
		"a megabyte":                answer(good + strings.Repeat(" ", 1<<20) + "x"),
		"deep":                      answer(strings.Repeat("[", 60_000)),
		"no authenticator data":     answer(strings.Replace(good, `"authenticatorData":"`, `"authenticatorData":"","x":"`, 1)),
		"short authenticator data":  answer(strings.Replace(good, `"authenticatorData":"`, `"authenticatorData":"AAAA","x":"`, 1)),
		"client data of an array":   answer(strings.Replace(good, `"clientDataJSON":"`, `"clientDataJSON":"W10","x":"`, 1)),
	} {
		_, err := g.enter(wrong)
		g.refused(what, err, lyceum.Unauthenticated)
		g.clock.Pass(time.Minute)
	}
	made := g.make(newDevice(g.by.School, 2), 2)
	for what, wrong := range map[string]string{
		"nothing": "", "null": "null", "half": made.Answer.JSON[:len(made.Answer.JSON)/2], "what signs in": good,
		"no attestation": strings.Replace(made.Answer.JSON, `"attestationObject":"`, `"attestationObject":"oA","x":"`, 1),
	} {
		_, err := g.add(access.NewPasskey{User: 2, Name: "Phone", Answer: answer(wrong)})
		g.refused("adding "+what, err, lyceum.Unauthenticated)
	}
	for what, wrong := range map[string]func(*device){
		"another origin":    func(d *device) { d.at.Origin = "https://school.example.org" },
		"another host":      func(d *device) { d.at.ID = "example.com" },
		"no person checked": func(d *device) { d.auth.Options.UserNotVerified = true },
	} {
		d := newDevice(g.by.School, 2)
		wrong(d)
		_, err := g.add(g.make(d, 2))
		g.refused("adding with "+what, err, lyceum.Unauthenticated)
	}
	made.User = 3
	_, err := g.add(made)
	g.refused("adding what was made for another user", err, lyceum.Unauthenticated)
	made = g.make(d, 3)
	_, err = g.add(made)
	g.refused("adding another user's passkey", err, lyceum.Conflict)
	for _, name := range []string{"", strings.Repeat("é", 61), "a\x00b"} {
		made.Name = name
		_, err = g.add(made)
		g.refused(fmt.Sprintf("the name %.10q", name), err, lyceum.Invalid)
	}
}

// R61: a passkey that has counted fewer uses than before is rejected, and the journal records
// it.
func TestR61CopiedPasskey(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	d := g.added(1)
	d.key.Counter = 40
	if _, err := g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0))); err != nil {
		t.Fatal(err)
	}
	d.key.Counter = 39
	_, err := g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0)))
	g.refused("40 after 41", err, lyceum.Unauthenticated)
	if err == nil || !strings.Contains(err.Error(), "copied") {
		t.Errorf("the person is told: %v", err)
	}
	_, err = g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0)))
	g.refused("41 again", err, lyceum.Unauthenticated)
	if _, err := g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0))); err != nil {
		t.Errorf("42: %v", err)
	}
	if err := g.oauth.Traces.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := false
	v := g.store.In(t.Context(), g.by.School)
	entries, err := v.FindEntries(lyceum.EntryQuery{Kind: lyceum.SignInEntries, Limit: 50})
	for i := range entries.Entries {
		e := &entries.Entries[i]
		told = told || e.Type == lyceum.SignInFailed && e.ObjectID == 1 && lyceum.DetailOf(e).Wrong == lyceum.CopiedPasskey
	}
	if err != nil || !told {
		t.Errorf("the journal does not say so: %v, %v", entries.Entries, err)
	}
}

// R61: five wrong passkeys per person and thirty per address are checked in a minute. Without
// knowing the passkey nobody can use up another person's attempts.
func TestR61Tries(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.learner(2)
	d := g.added(2)
	unknown := newDevice(g.by.School, 2)
	for range 20 {
		_, err := g.enter(unknown.show(t, g.options(access.PasskeyToSignIn, 0)))
		g.refused("an unknown passkey", err, lyceum.Unauthenticated)
	}
	if _, err := g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0))); err != nil {
		t.Errorf("after unknown passkeys: %v", err)
	}
	forged := *d
	forged.key.Key = unknown.key.Key
	for i := range 10 {
		_, err := g.enter(forged.show(t, g.options(access.PasskeyToSignIn, 0)))
		want := lyceum.Unauthenticated
		if i >= 5 {
			want = lyceum.RateLimited
		}
		g.refused(fmt.Sprint("forged, ", i), err, want)
	}
	_, err := g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0)))
	g.refused("the 31st", err, lyceum.RateLimited)
	g.clock.Pass(time.Minute)
	if _, err := g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0))); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// R59, R61: a passkey counts as a second factor where owners must have one; there, the last one
// cannot be removed, and elsewhere the recovery codes are removed along with it.
func TestR61RemovingPasskeys(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	d := g.added(1)
	if err := g.accounts.DemandSecondFactor(t.Context(), g.by, true); err != nil {
		t.Fatal(err)
	}
	if err := g.accounts.RemoveApp(t.Context(), g.by, 1); err != nil {
		t.Fatalf("an app beside a passkey: %v", err)
	}
	factors, err := g.accounts.Factors(t.Context(), g.by.School, 1)
	if err != nil || len(factors.Passkeys) != 1 || factors.RecoveryCodes != 10 {
		t.Fatalf("%+v, %v", factors, err)
	}
	last := factors.Passkeys[0].ID()
	g.refused("an owner's last", g.accounts.RemovePasskey(t.Context(), g.by, 1, last), lyceum.Conflict)
	for n := 1; n < lyceum.MaxPasskeys; n++ {
		g.added(1)
	}
	_, err = g.accounts.NewPasskeyOptions(t.Context(), g.asked(access.PasskeyToAdd, 1))
	g.refused("one too many", err, lyceum.Conflict)
	if err := g.accounts.RemovePasskey(t.Context(), g.by, 1, last); err != nil {
		t.Errorf("one of many: %v", err)
	}
	_, err = g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0)))
	g.refused("a passkey that was removed", err, lyceum.Unauthenticated)
	by := g.by
	by.Actor, by.Person = "command", 0
	if _, err := g.accounts.RemoveSecondFactor(t.Context(), by, 1); err != nil {
		t.Fatal(err)
	}
	if factors, err = g.accounts.Factors(t.Context(), g.by.School, 1); err != nil || factors.Any() || factors.RecoveryCodes != 0 {
		t.Errorf("by the command line: %+v, %v", factors, err)
	}
	if err := g.accounts.DemandSecondFactor(t.Context(), g.by, false); err != nil {
		t.Fatal(err)
	}
	g.added(1)
	factors, _ = g.accounts.Factors(t.Context(), g.by.School, 1)
	if err := g.accounts.RemovePasskey(t.Context(), g.by, 1, factors.Passkeys[0].ID()); err != nil {
		t.Fatal(err)
	}
	if factors, err = g.accounts.Factors(t.Context(), g.by.School, 1); err != nil || factors.Any() || factors.RecoveryCodes != 0 {
		t.Errorf("after the last: %+v, %v", factors, err)
	}
	_, err = g.accounts.RenewRecovery(t.Context(), g.by, 1)
	g.refused("recovery codes without a second factor", err, lyceum.Conflict)
}

// R61: a passkey signs in neither disabled users nor those who must choose a password first.
func TestR61PasskeysOfWhoMayNotEnter(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.learner(2)
	d := g.added(2)
	change := func(do func(*lyceum.User)) {
		storetest.Write(t, g.store, g.by.School, func(tx lyceum.Tx) error {
			user, err := tx.Users.Get(tx, 2)
			if err != nil {
				return err
			}
			do(&user)
			return tx.Users.Update(tx, user)
		})
	}
	change(func(u *lyceum.User) { u.MustChangePassword = true })
	in, err := g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0)))
	if err != nil || in.Session != "" || in.Link == "" {
		t.Errorf("who must choose a password: %+v %v", in, err)
	}
	change(func(u *lyceum.User) {
		u.MustChangePassword, u.DisabledAt = false, lyceum.Some(lyceum.Second(g.clock.Now()))
	})
	_, err = g.enter(d.show(t, g.options(access.PasskeyToSignIn, 0)))
	g.refused("who is disabled", err, lyceum.Unauthenticated)
}
