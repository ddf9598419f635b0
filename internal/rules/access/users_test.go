package access_test

import (
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func (o *office) by() lyceum.By { return lyceum.By{School: o.school, Actor: "user:1"} }

func (o *office) switchOff(t *testing.T, id lyceum.UserID) {
	t.Helper()
	if user, err := o.accounts.SwitchOff(t.Context(), o.by(), id); err != nil || !user.DisabledAt.Present {
		t.Fatalf("switched off: %+v, %v", user.DisabledAt, err)
	}
}

func (o *office) switchOn(t *testing.T, id lyceum.UserID) {
	t.Helper()
	if user, err := o.accounts.SwitchOn(t.Context(), o.by(), id); err != nil || user.DisabledAt.Present {
		t.Fatalf("switched on: %+v, %v", user.DisabledAt, err)
	}
}

// journaled counts the entries of a type about the learner.
func (o *office) journaled(t *testing.T, of lyceum.EntryType) (n int) {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), o.store, o.school, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if entries[i].Type == of && entries[i].ObjectID == int32(learner) {
			n++
		}
	}
	return n
}

// A disabled user is locked out immediately, in this process and in others, and the credentials
// that were revoked do not come back when they are enabled.
func TestR38_SwitchingAUserOffEndsEverything(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		handed, sent := o.link(t), o.forgotten(t)
		tokens, code, session := o.tokens(t), o.code(t), o.signedIn(t)
		other := newProcess(o)
		if !o.alive(tokens) || !other.alive(tokens) {
			t.Fatal("the token is not good before")
		}

		o.switchOff(t, learner)
		o.switchOff(t, learner) // disabling again changes nothing
		out := func(when string, at *office) {
			t.Helper()
			if _, err := at.accounts.Session(t.Context(), o.school, session); lyceum.KindOf(err) != lyceum.NotFound {
				t.Errorf("%s: the session is good: %v", when, err)
			}
			if _, err := at.refresh(tokens.RefreshToken, ""); err == nil {
				t.Errorf("%s: the refresh token is good", when)
			}
			if _, err := at.exchange(code, ""); err == nil {
				t.Errorf("%s: the code is good", when)
			}
			for _, link := range []string{handed, sent} {
				if at.opens(t, link) {
					t.Errorf("%s: a link is good", when)
				}
			}
			if at.alive(tokens) {
				t.Errorf("%s: the access token is good", when)
			}
		}
		out("in this process", o)
		o.clock.Pass(5 * time.Second)
		out("in another process after five seconds", other)
		if _, err := o.tryToSignIn(t); lyceum.KindOf(err) != lyceum.Unauthenticated {
			t.Errorf("signing in: %v", err)
		}
		_, err := o.accounts.NewPasswordLink(t.Context(), lyceum.By{School: o.school, Actor: "test"}, learner)
		wantKind(t, err, lyceum.Conflict)

		o.switchOn(t, learner)
		o.switchOn(t, learner)
		out("on again", o)
		out("on again in another process", other)
		if _, err := o.tryToSignIn(t); err != nil {
			t.Errorf("on again: signing in: %v", err)
		}
		for of, want := range map[lyceum.EntryType]int{lyceum.UserDisabled: 1, lyceum.UserEnabled: 1} {
			if n := o.journaled(t, of); n != want {
				t.Errorf("the journal has %d %s, want %d", n, of, want)
			}
		}
		_, err = o.accounts.SwitchOff(t.Context(), o.by(), 99)
		wantKind(t, err, lyceum.NotFound)
		_, err = o.accounts.SwitchOff(t.Context(), lyceum.By{School: o.school + 1, Actor: "user:1"}, learner)
		wantKind(t, err, lyceum.NotFound)
	})
}

// newProcess returns another process on the same database.
func newProcess(o *office) *office {
	other := *o
	other.oauth = access.NewOAuth(o.store, o.clock.Now)
	other.accounts = access.NewAccounts(o.store, o.clock.Now, other.oauth, nil)
	return &other
}

// A school always has an owner who can sign in, whatever is requested concurrently.
func TestR38_TheLastOwnerStays(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		_, err := o.accounts.SwitchOff(t.Context(), o.by(), o.owner(t, 1))
		wantCode(t, err, "last_owner")
		o.switchOff(t, o.owner(t, 2))
		_, err = o.accounts.SwitchOff(t.Context(), o.by(), 1)
		wantCode(t, err, "last_owner") // the other one is disabled
		o.switchOn(t, 2)
		o.switchOff(t, 1)
		o.switchOn(t, 1)

		var group sync.WaitGroup
		failed := make([]error, 2)
		for i := range failed {
			group.Go(func() { _, failed[i] = o.accounts.SwitchOff(t.Context(), o.by(), lyceum.UserID(i+1)) })
		}
		group.Wait()
		if (failed[0] == nil) == (failed[1] == nil) {
			t.Errorf("both owners at once: %v", errors.Join(failed...))
		}
	})
}

func (o *office) owner(t *testing.T, id lyceum.UserID) lyceum.UserID {
	t.Helper()
	email := map[lyceum.UserID]string{1: "one@example.com", 2: "two@example.com"}[id]
	o.save(t, lyceum.User{
		ID: id, Email: email, Role: lyceum.Owner, PasswordHash: lyceum.Some(passwordHash()), CreatedAt: storetest.Begin,
	})
	return id
}

func TestR38_SigningOutEverywhere(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		tokens := o.tokens(t)
		here, there := o.signedIn(t), o.signedIn(t)
		link := o.link(t)
		if _, err := o.accounts.SignOutEverywhere(t.Context(), o.by(), learner); err != nil {
			t.Fatal(err)
		}
		for _, session := range []string{here, there} {
			_, err := o.accounts.Session(t.Context(), o.school, session)
			wantKind(t, err, lyceum.NotFound)
		}
		if o.opens(t, link) {
			t.Error("a link lets in whom everywhere was signed out")
		}
		if !o.alive(tokens) {
			t.Error("an app has lost what it was granted")
		}
		if _, err := o.tryToSignIn(t); err != nil {
			t.Error(err)
		}
		if n := o.journaled(t, lyceum.UserSignedOut); n != 1 {
			t.Errorf("the journal has %d entries of it, want 1", n)
		}
	})
}

// A person sees their sessions and can end each of them by itself; another person's session
// name ends nothing.
func TestR38_SessionsAreListedAndEnd(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		o.owner(t, 1)
		old := o.signedIn(t)
		o.clock.Pass(access.SessionIdle)
		first := o.signedIn(t)
		o.clock.Pass(time.Minute)
		second := o.signedIn(t)
		stays := func() []access.Stay {
			t.Helper()
			list, err := o.accounts.Stays(t.Context(), o.by(), learner, first)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		list := stays()
		if len(list) != 2 || list[0].Here || !list[1].Here || list[0].Hash != access.HashSecret(second) {
			t.Fatalf("the sessions are %+v; one of three is over (%s)", list, old)
		}
		if s := list[0]; s.Address != "192.0.2.0/24" || s.Browser != "Firefox on Linux" {
			t.Errorf("the session began at %q in %q", s.Address, s.Browser)
		}
		end := func(whose lyceum.UserID, name string, want bool) {
			t.Helper()
			if ended, err := o.accounts.EndStay(t.Context(), o.by(), whose, name); err != nil || ended != want {
				t.Fatalf("the session %q of user %d: ended %t, %v", name, whose, ended, err)
			}
		}
		end(1, list[0].Name, false)
		end(learner, "", false)
		end(learner, "0000000000000000", false)
		if len(stays()) != 2 {
			t.Fatal("a session ended that nobody meant")
		}
		end(learner, list[0].Name, true)
		end(learner, list[0].Name, false)
		if left := stays(); len(left) != 1 || !left[0].Here {
			t.Errorf("left are %+v", left)
		}
		_, err := o.accounts.Session(t.Context(), o.school, second)
		wantKind(t, err, lyceum.NotFound)
		if n := o.journaled(t, lyceum.SessionEnded); n != 1 {
			t.Errorf("the journal has %d entries of it, want 1", n)
		}
	})
}

func (o *office) signedIn(t *testing.T) string {
	t.Helper()
	session, err := o.tryToSignIn(t)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func (o *office) tryToSignIn(t *testing.T) (string, error) {
	t.Helper()
	in, err := o.accounts.SignIn(t.Context(), access.Attempt{
		School: o.school, Email: "mira@example.com", Password: password, From: netip.MustParseAddr("192.0.2.77"), Browser: "Firefox on Linux",
	})
	return in.Session, err
}
