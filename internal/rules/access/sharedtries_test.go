package access_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// TestTriesAreShared checks that two processes on one database allow as many attempts as one.
func TestTriesAreShared(t *testing.T) {
	t.Parallel()
	d := &door{newOffice(t, openPostgres(t)), t}
	d.save(t, lyceum.User{
		ID: learner, Email: "mira@example.com", Role: lyceum.Student, CreatedAt: d.clock.Now(),
		PasswordHash: lyceum.Some(weakHash(password)),
	})
	tokens := []*access.OAuth{d.oauth, access.NewOAuth(d.store, d.clock.Now)}
	processes := []*access.Accounts{d.accounts, access.NewAccounts(d.store, d.clock.Now, tokens[1], nil)}
	wrong := func(n int, from func(i int) string) (looked int) {
		for i := range n {
			d.accounts = processes[i%2]
			looked += d.wrong(1, from(i), "")
		}
		return looked
	}
	here := func(int) string { return "192.0.2.1" }
	if looked := wrong(15, here); looked != 10 {
		t.Errorf("%d wrong passwords from one address were looked at, want 10", looked)
	}
	for _, d.accounts = range processes {
		d.wantOut("192.0.2.1", "", "from the address of the wrong ones")
	}
	device := d.wantIn("192.0.2.2", "", "from another address").Device
	d.accounts = processes[0]
	d.wantIn("192.0.2.1", device, "after the other process let them in, on a device that it knows")
	if looked := wrong(15, here); looked != 10 {
		t.Errorf("after that %d were looked at, want 10", looked)
	}
	d.clock.Pass(time.Minute)
	if looked := wrong(60, func(i int) string { return fmt.Sprint("198.51.100.", i) }); looked != 30 {
		t.Errorf("%d wrong passwords for one account were looked at in a minute, want 30", looked)
	}
	passed := 0
	for i := range 8 {
		err := processes[i%2].Forgotten(t.Context(), d.school, "mira@example.com",
			func(lyceum.Tx, lyceum.User, string) error { passed++; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if passed != 3 {
		t.Errorf("%d links were sent, want 3", passed)
	}
	refused := map[lyceum.Kind]int{}
	client := d.client[lyceum.V1]
	client.Secret = "wrong"
	for i := range 30 {
		_, err := tokens[i%2].Exchange(t.Context(), client, "code", callback, "")
		refused[lyceum.KindOf(err)]++
	}
	if refused[lyceum.Unauthenticated] != 20 || refused[lyceum.RateLimited] != 10 {
		t.Errorf("30 wrong client secrets are %v, want 20 looked at", refused)
	}
}

// leftTallies calls left once an attempt has been counted.
type leftTallies struct {
	lyceum.Tallies

	left func()
}

func (l *leftTallies) Count(ctx context.Context, most int64, rows []lyceum.Tally) ([]lyceum.Tallied, error) {
	defer l.left()
	return l.Tallies.Count(ctx, most, rows)
}

// leftStore is a store with other tallies.
type leftStore struct {
	lyceum.Store

	tallies lyceum.Tallies
}

func (s *leftStore) Tallies() lyceum.Tallies { return s.tallies }

// TestTriesOfPeopleWhoLeave checks that right passwords of somebody who does not wait for the
// answers leave attempts, as they do if one process counts alone.
func TestTriesOfPeopleWhoLeave(t *testing.T) {
	t.Parallel()
	d := &door{newOffice(t, openPostgres(t)), t}
	d.save(t, lyceum.User{
		ID: learner, Email: "mira@example.com", Role: lyceum.Student, CreatedAt: d.clock.Now(),
		PasswordHash: lyceum.Some(weakHash(password)),
	})
	tallies := &leftTallies{Tallies: d.store.Tallies()}
	d.accounts = access.NewAccounts(&leftStore{d.store, tallies}, d.clock.Now, d.oauth, nil)
	from := netip.MustParseAddr("192.0.2.1")
	for range 40 {
		ctx, leave := context.WithCancel(t.Context())
		tallies.left = leave
		in, err := d.accounts.SignIn(ctx, access.Attempt{
			School: d.school, Email: "mira@example.com", Password: password, From: from,
		})
		if err == nil {
			t.Fatalf("who left was let in: %+v", in)
		}
	}
	tallies.left = func() {}
	d.wantIn(from.String(), "", "after they left 40 times")
}
