package access_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// guarded is a school whose owner has a second factor.
type guarded struct {
	t        *testing.T
	store    lyceum.Store
	clock    *storetest.Clock
	accounts *access.Accounts
	oauth    *access.OAuth
	by       lyceum.By
	secret   string
	recovery []string
	session  string
}

const guardedPassword = "four words that rhyme"

var guardedFrom = netip.MustParseAddr("192.0.2.1")

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return newGuardedIn(t, store)
}

// process returns the services like another process would have them.
func (g *guarded) process() (*access.OAuth, *access.Accounts) {
	oauth := access.NewOAuth(g.store, g.clock.Now)
	return oauth, access.NewAccounts(g.store, g.clock.Now, oauth, lyceum.NewKeyring(lyceum.SecretKey{1}))
}

func newGuardedIn(t *testing.T, store lyceum.Store) *guarded {
	t.Helper()
	g := &guarded{t: t, store: store, clock: storetest.NewClock(time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC))}
	g.oauth, g.accounts = g.process()
	school, err := store.CreateSchool(t.Context(), lyceum.School{Name: "Fernwood", CreatedAt: g.clock.Now()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	g.by = lyceum.By{School: school.ID, Actor: "user:1", Staff: lyceum.OwnerRole, Person: 1}
	hash := lyceum.Some(access.HashPassword(guardedPassword, [16]byte{1}))
	owner := lyceum.User{ID: 1, Email: "head@example.com", Role: lyceum.Owner, PasswordHash: hash, CreatedAt: g.clock.Now()}
	storetest.Write(t, store, school.ID, func(tx lyceum.Tx) error { _, err := tx.Users.Save(tx, owner); return err })
	in, err := g.signIn()
	if err != nil || in.Session == "" {
		t.Fatalf("sign-in: %+v %v", in, err)
	}
	g.session = in.Session
	setup, err := g.accounts.SetUp(school.ID, &owner, "Fernwood: A")
	if err != nil || !strings.HasPrefix(setup.URL, "otpauth://totp/Fernwood%20%20A:head@example.com?") {
		t.Fatalf("%q, %v", setup.URL, err)
	}
	g.secret = setup.Secret
	if _, err := g.accounts.Enable(t.Context(), g.by, 1, setup.Sealed, "000000", g.session); lyceum.KindOf(err) != lyceum.Unauthenticated {
		t.Fatalf("a wrong first code: %v", err)
	}
	if g.recovery, err = g.accounts.Enable(t.Context(), g.by, 1, setup.Sealed, g.code(0), g.session); err != nil {
		t.Fatal(err)
	}
	g.clock.Pass(time.Minute)
	return g
}

func (g *guarded) signIn() (access.Admission, error) {
	return g.accounts.SignIn(g.t.Context(), access.Attempt{
		School: g.by.School, Email: "head@example.com", Password: guardedPassword, From: guardedFrom,
	})
}

// code returns what an app shows whose clock is wrong.
func (g *guarded) code(wrong time.Duration) string {
	g.t.Helper()
	code, err := totp.GenerateCode(g.secret, g.clock.Now().Add(wrong))
	if err != nil {
		g.t.Fatal(err)
	}
	return code
}

// step enters the password, and then a code.
func (g *guarded) step(code string) (access.Admission, error) {
	g.t.Helper()
	in, err := g.signIn()
	if err != nil || in.Session != "" || in.Step == "" || in.Device != "" {
		g.t.Fatalf("the password lets in: %+v %v", in, err)
	}
	return g.accounts.SecondStep(g.t.Context(), access.Attempt{School: g.by.School, From: guardedFrom}, in.Step, code)
}

func (g *guarded) refused(what string, err error, kind lyceum.Kind) {
	g.t.Helper()
	if lyceum.KindOf(err) != kind || err == nil {
		g.t.Errorf("%s: %v, want kind %v", what, err, kind)
	}
}

// R57: a code of a second factor is accepted once, with clocks that are off by 30 s, but not by
// 90 s.
func TestR57CodesOfASecondFactor(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	code := g.code(0)
	in, err := g.step(code)
	if err != nil || in.Session == "" || in.User.ID != 1 {
		t.Fatalf("a good code: %+v %v", in, err)
	}
	_, err = g.step(code)
	g.refused("a code again", err, lyceum.Unauthenticated)
	_, err = g.step(g.code(-30 * time.Second))
	g.refused("one before a code that was used", err, lyceum.Unauthenticated)
	g.clock.Pass(10 * time.Minute)
	for _, wrong := range []time.Duration{90 * time.Second, -90 * time.Second} {
		_, err = g.step(g.code(wrong))
		g.refused(fmt.Sprint("a clock wrong by ", wrong), err, lyceum.Unauthenticated)
	}
	for _, text := range []string{"", "0", "12345", "1234567", strings.Repeat("9", 10_000), "\x00", g.secret} {
		g.clock.Pass(time.Hour)
		_, err = g.step(text)
		g.refused(fmt.Sprintf("%.20q", text), err, lyceum.Unauthenticated)
	}
	for _, wrong := range []time.Duration{-30 * time.Second, 30 * time.Second, 0} {
		g.clock.Pass(10 * time.Minute)
		code := g.code(wrong)
		if _, err = g.step(code[:3] + " " + code[3:]); err != nil {
			t.Errorf("a clock wrong by %v: %v", wrong, err)
		}
	}
}

// R57: of twenty guesses five are checked, and then the right code has to wait, too.
func TestR57Guesses(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	in, err := g.signIn()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for i := range 20 {
		_, err := g.accounts.SecondStep(t.Context(), access.Attempt{School: g.by.School, From: guardedFrom}, in.Step, fmt.Sprintf("%06d", i))
		switch lyceum.KindOf(err) {
		case lyceum.Unauthenticated:
			tried++
		case lyceum.RateLimited:
		default:
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	if tried != 5 {
		t.Errorf("%d guesses were looked at, want 5", tried)
	}
	_, err = g.step(g.code(0))
	g.refused("the right code", err, lyceum.RateLimited)
	g.clock.Pass(time.Minute)
	if _, err = g.step(g.code(0)); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// R57, R61: two processes on one database check as many codes and passkeys as one.
func TestR57SharedGuesses(t *testing.T) {
	t.Parallel()
	g := newGuardedIn(t, openPostgres(t))
	_, other := g.process()
	processes := []*access.Accounts{g.accounts, other}
	in, err := g.signIn()
	if err != nil {
		t.Fatal(err)
	}
	looked := map[lyceum.Kind]int{}
	for i := range 20 {
		_, err := processes[i%2].SecondStep(t.Context(), access.Attempt{School: g.by.School, From: guardedFrom}, in.Step, fmt.Sprintf("%06d", i))
		looked[lyceum.KindOf(err)]++
	}
	if looked[lyceum.Unauthenticated] != 5 || looked[lyceum.RateLimited] != 15 {
		t.Errorf("of 20 codes %v, want 5 looked at", looked)
	}
	g.learner(2)
	forged := *g.added(2)
	forged.key.Key = newDevice(g.by.School, 2).key.Key
	looked = map[lyceum.Kind]int{}
	for i := range 10 {
		g.accounts = processes[i%2]
		_, err := g.enter(forged.show(t, g.options(access.PasskeyToSignIn, 0)))
		looked[lyceum.KindOf(err)]++
	}
	if looked[lyceum.Unauthenticated] != 5 || looked[lyceum.RateLimited] != 5 {
		t.Errorf("of 10 forged passkeys %v, want 5 looked at", looked)
	}
}

// R57: a step can be used once, expires, and belongs to one school; recovery codes can be used
// once.
func TestR57StepsAndRecoveryCodes(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	attempt := access.Attempt{School: g.by.School, From: guardedFrom}
	in, err := g.signIn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.accounts.Link(t.Context(), g.by.School, in.Step); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("a step sets a password: %v", err)
	}
	if _, err := g.accounts.SecondStep(t.Context(), attempt, in.Step, strings.ToUpper(strings.ReplaceAll(g.recovery[0], "-", " "))); err != nil {
		t.Errorf("a recovery code: %v", err)
	}
	_, err = g.accounts.SecondStep(t.Context(), attempt, in.Step, g.recovery[1])
	g.refused("a step again", err, lyceum.NotFound)
	_, err = g.step(g.recovery[0])
	g.refused("a recovery code again", err, lyceum.Unauthenticated)
	if left, err := g.accounts.Factors(t.Context(), g.by.School, 1); err != nil || left.RecoveryCodes != 9 {
		t.Errorf("%+v are left, %v", left, err)
	}
	if in, err = g.signIn(); err != nil {
		t.Fatal(err)
	}
	g.clock.Pass(15 * time.Minute)
	_, err = g.accounts.SecondStep(t.Context(), attempt, in.Step, g.code(0))
	g.refused("a step of long ago", err, lyceum.NotFound)
	if _, err := g.accounts.RenewRecovery(t.Context(), g.by, 1); err != nil {
		t.Fatal(err)
	}
	_, err = g.step(g.recovery[1])
	g.refused("a recovery code that was replaced", err, lyceum.Unauthenticated)
	other := g.by
	other.Actor = "user:2"
	if _, err := g.accounts.RemoveSecondFactor(t.Context(), other, 1); err != nil {
		t.Fatal(err)
	}
	if in, err := g.signIn(); err != nil || in.Session == "" {
		t.Errorf("after it was removed: %+v %v", in, err)
	}
}

// R57: neither the app's secret nor a recovery code is in the database.
func TestR57SecretsAreSealed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	v := g.store.In(t.Context(), g.by.School)
	kept, err := v.SecondFactors.Get(v, 1)
	if err != nil || strings.Contains(kept.Sealed, g.secret) || lyceum.SealedBy(kept.Sealed) != (lyceum.SecretKey{1}).ID() {
		t.Errorf("%+v, %v", kept, err)
	}
	if needed, err := g.accounts.NeededKeys(t.Context()); err != nil || needed[lyceum.SecretKey{1}.ID()] != 1 {
		t.Errorf("%v, %v", needed, err)
	}
	if len(g.recovery) != 10 || len(g.recovery[0]) != 19 {
		t.Errorf("recovery codes %q", g.recovery)
	}
}

// R58: a session is fresh for fifteen minutes after its person proved who they are.
func TestR58FreshSessions(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	fresh := func() bool {
		t.Helper()
		is, err := g.accounts.Fresh(t.Context(), g.by.School, g.session)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if !fresh() {
		t.Error("not fresh after the sign-in")
	}
	g.clock.Pass(access.FreshFor)
	if fresh() {
		t.Error("fresh after a quarter of an hour")
	}
	proof := access.Proof{Attempt: access.Attempt{School: g.by.School, Password: guardedPassword, From: guardedFrom}, Session: g.session}
	g.refused("the password where there is a second factor", g.accounts.Confirm(t.Context(), proof), lyceum.Unauthenticated)
	proof.Code = g.code(0)
	if err := g.accounts.Confirm(t.Context(), proof); err != nil || !fresh() {
		t.Errorf("the code: %v", err)
	}
	g.refused("the code again", g.accounts.Confirm(t.Context(), proof), lyceum.Unauthenticated)
	if err := g.accounts.DemandSecondFactor(t.Context(), g.by, true); err != nil {
		t.Fatal(err)
	}
	_, err := g.accounts.RemoveSecondFactor(t.Context(), g.by, 1)
	g.refused("an owner's own where the school wants one", err, lyceum.Conflict)
}

// TestSetUpFitsIntoAQRCode checks that the URL of an app is short enough for a QR code, whatever
// the school is called.
func TestSetUpFitsIntoAQRCode(t *testing.T) {
	g := newGuarded(t)
	const most = 2331 // bytes
	user := lyceum.User{ID: 1, Email: strings.Repeat("a", 242) + "@example.com"}
	for name, want := range map[string]string{
		"Fernwood: A": "Fernwood%20%20A", strings.Repeat("🏺", 200): strings.Repeat("%F0%9F%8F%BA", 40),
		strings.Repeat("a", 39) + " b": strings.Repeat("a", 39),
	} {
		setup, err := g.accounts.SetUp(g.by.School, &user, name)
		if err != nil || len(setup.URL) > most || !strings.Contains(setup.URL, "issuer="+want+"&") {
			t.Errorf("%s: %d bytes, %s, %v", name, len(setup.URL), setup.URL, err)
		}
	}
}
