package access_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func TestSignIn(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		o.save(t, lyceum.User{ID: 8, Email: "nobody@example.com", Role: lyceum.Student, CreatedAt: o.clock.Now()})
		for _, tc := range []struct{ email, password string }{
			{"mira@example.com", "wrong"}, {"mira@example.com", ""}, {"unknown@example.com", password}, {"nobody@example.com", ""}, {"nobody@example.com", password}, {"", ""},
		} {
			_, _, err := o.signIn(t, tc.email, tc.password)
			wantKind(t, err, lyceum.Unauthenticated)
			if sentence := lyceum.Public(err).Detail; sentence != "Wrong email address or password." {
				t.Errorf("%s is told %q", tc.email, sentence)
			}
		}
		text, user, err := o.signIn(t, "MIRA@example.com", password)
		if err != nil || user.ID != learner {
			t.Fatal(user, err)
		}
		again, _, err := o.signIn(t, "mira@example.com", password)
		if err != nil || again == text {
			t.Error("two sign-ins have one session:", err)
		}
		if who, err := o.accounts.Session(t.Context(), o.school, text); err != nil || who.ID != learner {
			t.Error(who, err)
		}
		if _, err := o.accounts.Session(t.Context(), o.school+1, text); lyceum.KindOf(err) != lyceum.NotFound {
			t.Error("another school knows the session:", err)
		}
		if err := o.accounts.SignOut(t.Context(), o.school, text); err != nil {
			t.Fatal(err)
		}
		_, err = o.accounts.Session(t.Context(), o.school, text)
		wantKind(t, err, lyceum.NotFound)
		if _, err := o.accounts.Session(t.Context(), o.school, again); err != nil {
			t.Error("the other session ended too:", err)
		}
	})
}

func TestSessionsEnd(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	open := func() string {
		t.Helper()
		text, _, err := o.signIn(t, "mira@example.com", password)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	idle := open()
	o.clock.Pass(access.SessionIdle)
	_, err := o.accounts.Session(t.Context(), o.school, idle)
	wantKind(t, err, lyceum.NotFound)

	busy, begin := open(), o.clock.Now()
	for o.clock.Now().Sub(begin) < access.SessionAbsolute-access.SessionIdle {
		o.clock.Pass(access.SessionIdle - time.Second)
		if _, err := o.accounts.Session(t.Context(), o.school, busy); err != nil {
			t.Fatalf("after %v: %v", o.clock.Now().Sub(begin), err)
		}
	}
	o.clock.Set(begin.Add(access.SessionAbsolute))
	_, err = o.accounts.Session(t.Context(), o.school, busy)
	wantKind(t, err, lyceum.NotFound)
}

// TestR11_WrongPasswords checks that of a thousand wrong passwords in a minute ten are checked,
// and that the account is not locked permanently.
func TestR11_WrongPasswords(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	for minute := range 2 {
		looked := 0
		for range 1000 {
			_, _, err := o.signIn(t, "mira@example.com", "wrong")
			switch lyceum.KindOf(err) {
			case lyceum.Unauthenticated:
				looked++
			case lyceum.RateLimited:
			default:
				t.Fatal(err)
			}
		}
		if looked != 10 {
			t.Errorf("minute %d: %d passwords were looked at, want 10", minute, looked)
		}
		o.clock.Pass(time.Minute)
	}
	if _, _, err := o.signIn(t, "mira@example.com", password); err != nil {
		t.Error("the right one a minute later:", err)
	}
}

func TestR11_TriesOfAnHour(t *testing.T) {
	c := storetest.NewClock(storetest.Begin)
	tries := access.NewTries(c.Now, access.Bounds{Minute: 10, Hour: 100})
	left := 0
	for range 60 {
		for range 30 {
			if tries.Take(1, "account") {
				left++
			}
		}
		c.Pass(time.Minute)
	}
	if left != 100 {
		t.Errorf("%d tries in an hour, want 100", left)
	}
	if !tries.Take(1, "account") {
		t.Error("the next hour has no try")
	}
	for n := range 200_000 { // a flood of names in another school evicts nothing here
		tries.Take(2, strconv.Itoa(n))
	}
	for range 9 {
		tries.Take(1, "account")
	}
	if tries.Take(1, "account") {
		t.Error("the eleventh try of a minute is left")
	}
	if !tries.Take(2, "somebody new") {
		t.Error("a flood of names refuses another name")
	}
}

// TestR11_AsManyHashesAsProcessors checks that with all processors busy the others wait, and
// fail after two seconds.
func TestR11_AsManyHashesAsProcessors(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	var group sync.WaitGroup
	failed := make(chan error, 64)
	for n := range 64 {
		group.Go(func() {
			_, _, err := o.signIn(t, "unknown"+string(rune('a'+n%26))+string(rune('a'+n/26))+"@example.com", "wrong")
			if kind := lyceum.KindOf(err); kind != lyceum.Unauthenticated && kind != lyceum.RateLimited {
				failed <- err
			}
		})
	}
	group.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}

func TestPasswordLinks(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		link := func() string {
			t.Helper()
			text, err := o.accounts.NewPasswordLink(t.Context(), lyceum.By{School: o.school, Actor: "test"}, learner)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		old, fresh := link(), link()
		for _, poor := range []string{"", "short", "nine char", "password1234", "PASSWORD1234", "qwertyuiop", "mira@example.com", "aaaaaaaaaa", strings.Repeat("x", 257), "bad\xffutf8 text"} {
			_, err := o.accounts.SetPassword(t.Context(), o.school, fresh, poor)
			if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != "password" || poor != "" && strings.Contains(e.Error(), poor) {
				t.Errorf("%q: %v", poor, err)
			}
		}
		long := strings.Repeat("ü", 256)
		if _, err := o.accounts.SetPassword(t.Context(), o.school, fresh, long); err != nil {
			t.Error("256 characters:", err)
		}
		_, err := o.accounts.Link(t.Context(), o.school, old)
		wantKind(t, err, lyceum.NotFound)
		if _, _, err := o.signIn(t, "mira@example.com", long); err != nil {
			t.Error(err)
		}
		late := link()
		o.clock.Pass(access.LinkLifetime)
		_, err = o.accounts.SetPassword(t.Context(), o.school, late, "four other words here")
		wantKind(t, err, lyceum.NotFound)

		entries, err := storetest.FindEntries(t.Context(), o.store, o.school, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for _, e := range entries {
			if e.Type == lyceum.LinkCreated && e.ObjectID == int32(learner) {
				made++
			}
		}
		if made != 3 {
			t.Errorf("the journal has %d links, want 3", made)
		}
		user := storetest.User(t, o.store, o.school, learner)
		user.DisabledAt = lyceum.Some(o.clock.Now())
		o.save(t, user)
		_, err = o.accounts.NewPasswordLink(t.Context(), lyceum.By{School: o.school, Actor: "test"}, learner)
		wantKind(t, err, lyceum.Conflict)
		_, err = o.accounts.NewPasswordLink(t.Context(), lyceum.By{School: o.school, Actor: "test"}, 99)
		wantKind(t, err, lyceum.NotFound)
	})
}

func TestForgottenTellsNobody(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	made := 0
	pass := func(_ lyceum.Tx, user lyceum.User, link string) error {
		if made++; user.Email != "Mira@example.com" || link == "" {
			t.Errorf("%q goes to %s", link, user.Email)
		}
		return nil
	}
	for range 5 {
		for _, email := range []string{"unknown@example.com", "mira@example.com"} {
			if err := o.accounts.Forgotten(t.Context(), o.school, email, pass); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made != 3 {
		t.Errorf("%d letters in an hour, want 3", made)
	}
}

// TestR34_AFloodOfForgottenNames checks that requesting emails for names that do not exist does
// not allow more emails to an existing one.
func TestR34_AFloodOfForgottenNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t, openStore(t, t.TempDir()))
	ask := func(email string) bool {
		asked := false
		err := o.accounts.Forgotten(t.Context(), o.school, email, func(lyceum.Tx, lyceum.User, string) error {
			asked = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return asked
	}
	for range 3 {
		if !ask("mira@example.com") {
			t.Fatal("no letter")
		}
	}
	for n := range 10_001 {
		ask(fmt.Sprintf("nobody%d@example.com", n))
	}
	if ask("mira@example.com") {
		t.Error("a fourth letter in an hour is sent")
	}
}

// TestOldHashIsMadeAnew checks that a cheaper hash is replaced at the next sign-in.
func TestOldHashIsMadeAnew(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	// "four words that differ" with 8 KiB and one pass.
	old := weakHash(password)
	o.save(t, lyceum.User{ID: learner, Email: "Mira@example.com", Role: lyceum.Student, CreatedAt: o.clock.Now(), PasswordHash: lyceum.Some(old)})
	if _, _, err := o.signIn(t, "mira@example.com", password); err != nil {
		t.Fatal(err)
	}
	user := storetest.User(t, o.store, o.school, learner)
	if user.PasswordHash.Value == old || !strings.Contains(user.PasswordHash.Value, "m=19456,t=2,p=1") {
		t.Errorf("the hash is %s", user.PasswordHash.Value)
	}
	if good, err := access.CheckPassword(password, user.PasswordHash.Value); err != nil || !good {
		t.Error("the new hash is of another password:", err)
	}
}

func TestHashesOutOfBoundsAreErrors(t *testing.T) {
	good := access.HashPassword("x", [16]byte{1})
	for _, bad := range []string{"", "x", strings.Replace(good, "m=19456", "m=4294967295", 1), strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "argon2id", "argon2i", 1)} {
		if _, err := access.CheckPassword("x", bad); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
	var public *lyceum.Error
	if _, err := access.CheckPassword("x", "x"); errors.As(err, &public) {
		t.Error("a broken hash is told to the person")
	}
}
