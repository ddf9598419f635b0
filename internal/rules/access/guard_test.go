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

// door signs in to a school where hashes are cheap, so that a test can try many passwords.
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

// crowd creates users with weak hashes.
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

// try signs in and returns the result.
func (d *door) try(email, password, from, device string) (access.Admission, lyceum.Kind, bool) {
	d.t.Helper()
	in, err := d.accounts.SignIn(d.t.Context(), access.Attempt{
		School: d.school, Email: email, Password: password, From: netip.MustParseAddr(from), Device: device,
	})
	return in, lyceum.KindOf(err), err == nil
}

// wrong tries a wrong password n times and returns how many were checked.
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

// TestR33_WrongPasswordsFromElsewhere checks that they do not cause the right password to be
// rejected, neither from another address nor on a known device.
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

// TestR33_TheAccountAsAWhole checks that no number of addresses exceeds the limit of the
// account, which does not apply to a known device and which a new password resets.
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

// TestR33_AResetLetsIn checks that a user who chose a new password with a link can sign in, and
// that their browser is known, so that others who keep trying cannot lock it out.
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

// TestR33_DevicesAreBoundedToo checks that known devices have a limit too, and that their text
// is for one account.
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

// TestR33_ANewPasswordEndsKnownDevices checks that somebody who once knew the password, and
// often signed in with it, has no attempts left over from that.
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
	for n := range 20 { // of the accounts signed in to in one browser, the latest stay known
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

// TestR33_WhatDoesNotCount checks that successes do not count, nor attempts whose client hung
// up before the hash was started.
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

// TestR34_Spraying checks that one address can try only a few accounts, whether or not it knows
// a password, and that others can sign in meanwhile.
func TestR34_Spraying(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.crowd(446)
	looked := 0
	for n := range 446 {
		if _, kind, _ := d.try(fmt.Sprintf("x%d@example.com", n), "password1234", "198.51.100.1", ""); kind == lyceum.Unauthenticated {
			looked++
		}
		if n == 20 { // knowing one password gives no more attempts
			d.wantIn("198.51.100.1", "", "their own")
		}
	}
	if looked != 30 {
		t.Errorf("%d accounts were tried in a minute, want 30", looked)
	}
	d.wantOut("198.51.100.1", "", "from there")
	d.wantIn("198.51.100.2", "", "from next door")
}

// TestR34_AFloodOfNames checks that ten thousand random names from ten addresses do not lock
// out anybody else, and that nearly all of them cost no hash.
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

// TestR34_ProgramsDoNotHoldUpPeople checks that a person can sign in while programs use all of
// their slots, and that people who wait take turns.
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
