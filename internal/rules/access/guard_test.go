package access_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// door signs in to a school where hashes cost little, so that a test can try
// many passwords.
type door struct {
	*office
	t *testing.T
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{newOffice(t, openStore(t, t.TempDir())), t}
	d.save(t, lyceum.User{
		ID: learner, Email: "mira@example.com", Role: lyceum.Student, CreatedAt: d.clock.Now(),
		PasswordHash: lyceum.Some(weakHash(password)),
	})
	return d
}

func (d *door) user(id lyceum.UserID) lyceum.User {
	d.t.Helper()
	return storetest.User(d.t, d.store, d.school, id)
}

// crowd makes users with weak hashes.
func (d *door) crowd(n int) {
	d.t.Helper()
	users := make([]lyceum.User, n)
	for i := range users {
		users[i] = lyceum.User{
			ID: lyceum.UserID(1000 + i), Email: fmt.Sprintf("x%d@example.com", i), Role: lyceum.Student,
			CreatedAt: d.clock.Now(), PasswordHash: lyceum.Some(weakHash(password)),
		}
	}
	d.save(d.t, users...)
}

// try signs in and gives what became of it: nothing when it went well.
func (d *door) try(email, password, from, device string) (access.Admission, lyceum.Kind, bool) {
	d.t.Helper()
	in, err := d.accounts.SignIn(d.t.Context(), access.Attempt{
		School: d.school, Email: email, Password: password, From: netip.MustParseAddr(from), Device: device,
	})
	return in, lyceum.KindOf(err), err == nil
}

// wrong tries a wrong password n times and tells how many were looked at.
func (d *door) wrong(n int, from, device string) (looked int) {
	d.t.Helper()
	for range n {
		switch _, kind, good := d.try("mira@example.com", "wrong", from, device); {
		case good:
			d.t.Fatal("a wrong password lets in")
		case kind == lyceum.Unauthenticated:
			looked++
		case kind != lyceum.RateLimited:
			d.t.Fatal(kind)
		}
	}
	return looked
}

func (d *door) wantIn(from, device, why string) access.Admission {
	d.t.Helper()
	in, kind, good := d.try("mira@example.com", password, from, device)
	if !good {
		d.t.Fatalf("%s: the right password is refused: %v", why, kind)
	}
	return in
}

func (d *door) wantOut(from, device, why string) {
	d.t.Helper()
	if _, kind, good := d.try("mira@example.com", password, from, device); good || kind != lyceum.RateLimited {
		d.t.Fatalf("%s: %v, %v; want that it is refused for now", why, kind, good)
	}
}

// TestR33_WrongPasswordsFromElsewhere: they refuse the right password neither
// from another address nor on a device that is known.
func TestR33_WrongPasswordsFromElsewhere(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	known := d.wantIn("192.0.2.1", "", "first").Device
	if looked := d.wrong(15, "198.51.100.1", ""); looked != 10 {
		t.Errorf("%d wrong passwords from one address were looked at, want 10", looked)
	}
	d.wantOut("198.51.100.1", "", "from the address of the wrong ones")
	d.wantIn("198.51.100.1", known, "from there, on a known device")
	d.wantIn("192.0.2.1", "", "from another address")
	for _, same := range []struct{ first, second string }{
		{"2001:db8:1:2::1", "2001:db8:1:2:ffff::9"},
		{"::ffff:203.0.113.5", "203.0.113.5"},
	} {
		d.wrong(10, same.first, "")
		d.wantOut(same.second, "", "from what counts as one address with "+same.first)
	}
}

// TestR33_TheAccountAsAWhole: no number of addresses has more than the bound of
// the account, which a known device passes and a new password ends.
func TestR33_TheAccountAsAWhole(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	known := d.wantIn("192.0.2.1", "", "first").Device
	minute, hour := 0, 0
	for n := range 120 {
		if n > 0 && n%10 == 0 {
			d.clock.Pass(time.Minute)
			minute = 0
		}
		looked := d.wrong(5, fmt.Sprintf("198.51.100.%d", n), "")
		minute, hour = minute+looked, hour+looked
		if minute > 30 {
			t.Fatalf("%d wrong passwords in a minute were looked at, want 30", minute)
		}
	}
	if hour != 100 {
		t.Errorf("%d wrong passwords in an hour were looked at, want 100", hour)
	}
	d.wantOut("192.0.2.1", "", "with the bound of the account reached")
	d.wantIn("192.0.2.1", known, "on a known device")
}

// TestR33_AResetLetsIn: who chose a new password by a link is let in, and their
// browser is known, so that those who go on trying cannot refuse it.
func TestR33_AResetLetsIn(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.wrong(10, "192.0.2.1", "")
	d.wantOut("192.0.2.1", "", "before")
	link, err := d.accounts.NewPasswordLink(t.Context(), lyceum.By{School: d.school, Actor: "test"}, learner)
	if err != nil {
		t.Fatal(err)
	}
	user, err := d.accounts.SetPassword(t.Context(), d.school, link, password)
	if err != nil {
		t.Fatal(err)
	}
	d.wantIn("192.0.2.1", "", "after")
	d.wrong(10, "192.0.2.1", "")
	d.wantIn("192.0.2.1", d.accounts.Remember("", d.school, user), "in the browser of the link")
}

// TestR33_DevicesAreBoundedToo, and what they keep is for one account.
func TestR33_DevicesAreBoundedToo(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	known := d.wantIn("192.0.2.1", "", "first").Device
	if looked := d.wrong(40, "192.0.2.1", known); looked != 10 {
		t.Errorf("%d wrong passwords on a known device were looked at, want 10", looked)
	}
	d.wantOut("192.0.2.1", known, "on the device")
	d.wantIn("192.0.2.1", "", "elsewhere: those of a device count for it alone")

	d.wrong(10, "198.51.100.1", "")
	id, mark, _ := strings.Cut(known, ".")
	for name, forged := range map[string]string{
		"another browser": "AAAAAAAAAAAAAAAAAAAAAA." + mark, "another day": id + ".1" + mark, "no mark": id, "nothing": "", "dots": "....",
		"of a server with another key": access.NewAccounts(d.store, d.clock.Now, d.oauth, nil).Remember("", d.school, d.user(learner)),
		"of another school":            d.accounts.Remember("", d.school+1, d.user(learner)),
		"of another account":           d.accounts.Remember("", d.school, lyceum.User{ID: 8}),
	} {
		d.wantOut("198.51.100.1", forged, name)
	}
	d.wantIn("198.51.100.1", known[:0]+d.accounts.Remember(known, d.school, lyceum.User{ID: 8}), "with a second account in the browser")
}

// TestR33_ANewPasswordEndsKnownDevices: who once knew the password, and signed in
// by it again and again, has no tries left over from that.
func TestR33_ANewPasswordEndsKnownDevices(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	var kept []string
	for range 3 {
		kept = append(kept, d.wantIn("198.51.100.1", "", "with the password of then").Device)
	}
	link, err := d.accounts.NewPasswordLink(t.Context(), lyceum.By{School: d.school, Actor: "test"}, learner)
	if err != nil {
		t.Fatal(err)
	}
	user, err := d.accounts.SetPassword(t.Context(), d.school, link, "four words that rhyme")
	if err != nil {
		t.Fatal(err)
	}
	looked := d.wrong(10, "198.51.100.1", "")
	for _, device := range kept {
		looked += d.wrong(10, "198.51.100.1", device)
	}
	if looked != 10 {
		t.Errorf("%d wrong passwords were looked at, want 10", looked)
	}
	own := d.accounts.Remember("", d.school, user)
	if _, kind, good := d.try("mira@example.com", "four words that rhyme", "198.51.100.1", own); !good {
		t.Errorf("in the browser of the link: %v", kind)
	}
}

func TestDeviceKeysAreRotated(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	accounts := func(keys ...string) *access.Accounts {
		list := make([]lyceum.SecretKey, len(keys))
		for i, key := range keys {
			copy(list[i][:], key)
		}
		return access.NewAccounts(d.store, d.clock.Now, d.oauth, lyceum.NewKeyring(list...))
	}
	mira := d.user(learner)
	device := accounts("old").Remember("", d.school, mira)
	for n := range 20 { // of accounts that were signed in to in one browser the latest stay known
		device = accounts("old").Remember(device, d.school, lyceum.User{ID: lyceum.UserID(1000 + n)})
	}
	if len(device) > 600 {
		t.Errorf("a browser keeps %d characters", len(device))
	}
	device = accounts("old").Remember(device, d.school, mira)
	for _, tc := range []struct {
		name string
		pass time.Duration
		keys []string
		want bool
	}{
		{"the same key", 0, []string{"old"}, true},
		{"a new one first", 0, []string{"new", "old"}, true},
		{"another key", 0, []string{"new"}, false},
		{"after 399 days", access.DeviceLifetime - 24*time.Hour, []string{"old"}, true},
		{"after 400 days", 24 * time.Hour, []string{"old"}, false},
	} {
		d.clock.Pass(tc.pass)
		d.accounts = accounts(tc.keys...)
		d.wrong(10, "192.0.2.1", "")
		if _, _, good := d.try("mira@example.com", password, "192.0.2.1", device); good != tc.want {
			t.Errorf("%s: known is %v, want %v", tc.name, good, tc.want)
		}
		d.save(t, mira) // with a new hash
	}
}

// TestR33_WhatDoesNotCount: a success, and a try whose client hung up before its
// hash was begun.
func TestR33_WhatDoesNotCount(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for range 12 {
		d.wantIn("192.0.2.1", "", "one of many that are right")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		_, err := d.accounts.SignIn(gone, access.Attempt{
			School: d.school, Email: "mira@example.com", Password: "wrong", From: netip.MustParseAddr("192.0.2.1"),
		})
		if err == nil {
			t.Fatal("let in")
		}
	}
	if looked := d.wrong(10, "192.0.2.1", ""); looked != 10 {
		t.Errorf("%d tries were left, want 10", looked)
	}
	d.clock.Pass(time.Minute)
	d.wrong(9, "192.0.2.1", "")
	d.wantIn("192.0.2.1", "", "the tenth")
	if looked := d.wrong(10, "192.0.2.1", ""); looked != 10 {
		t.Errorf("%d tries were left after a success, want 10", looked)
	}
}

// TestR34_Spraying: one address tries few accounts, whether it knows a password
// or not, and others are let in meanwhile.
func TestR34_Spraying(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.crowd(446)
	looked := 0
	for n := range 446 {
		if _, kind, _ := d.try(fmt.Sprintf("x%d@example.com", n), "password1234", "198.51.100.1", ""); kind == lyceum.Unauthenticated {
			looked++
		}
		if n == 20 { // who knows one password has no more tries for it
			d.wantIn("198.51.100.1", "", "their own")
		}
	}
	if looked != 30 {
		t.Errorf("%d accounts were tried in a minute, want 30", looked)
	}
	d.wantOut("198.51.100.1", "", "from there")
	d.wantIn("198.51.100.2", "", "from next door")
}

// TestR34_AFloodOfNames: ten thousand random names from ten addresses refuse
// nobody else, nearly all of them without a hash.
func TestR34_AFloodOfNames(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.crowd(300)
	looked := 0
	for n := range 10_000 {
		email, from := fmt.Sprintf("x%d@example.com", n), fmt.Sprintf("198.51.100.%d", n%10)
		if _, kind, _ := d.try(email, "wrong", from, ""); kind == lyceum.Unauthenticated {
			looked++
		}
		if n%2500 == 0 {
			d.wantIn("192.0.2.1", "", "in between")
		}
	}
	if looked != 10*30 {
		t.Errorf("%d were looked at, want 300", looked)
	}
	d.wantIn("192.0.2.1", "", "after it")
}

// TestR34_ProgramsDoNotHoldUpPeople: while programs use every slot of theirs, a
// person is let in; and where people wait, they are served in turn.
func TestR34_ProgramsDoNotHoldUpPeople(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	for range 32 {
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				_, _, _ = d.accounts.HashForProgram(ctx, lyceum.By{School: d.school, Actor: "test"}, "a@example.com", "secret")
			}
		}()
	}
	for range 3 {
		d.wantIn("192.0.2.1", "", "beside programs")
	}
	stop()
	for range 32 {
		<-done
	}
}
