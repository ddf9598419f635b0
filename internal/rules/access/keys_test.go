package access_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func TestKeyLeadsToItsSchool(t *testing.T) {
	d := newDesk(t)
	for _, id := range []lyceum.SchoolID{d.school, 40, math.MaxInt32} {
		if id != d.school {
			if _, err := d.store.CreateSchool(t.Context(), lyceum.School{ID: id, Name: "Chosen", CreatedAt: d.clock.Now()}, "test"); err != nil {
				t.Fatal(err)
			}
		}
		for n, permissions := range []lyceum.Permissions{lyceum.Read, lyceum.Write, lyceum.Read | lyceum.Write} {
			key, text, err := d.keys.Create(t.Context(), lyceum.By{School: id, Actor: "test"}, fmt.Sprintf("key %d", n+1), permissions, access.NewEntropy())
			if err != nil {
				t.Fatal(err)
			}
			want := lyceum.APIKey{
				ID: lyceum.APIKeyID(n + 1), Name: fmt.Sprintf("key %d", n+1), Permissions: permissions,
				Hash: access.HashSecret(text), LastFour: text[len(text)-4:], CreatedAt: d.clock.Now(),
			}
			if key != want {
				t.Errorf("issued %+v, want %+v", key, want)
			}
			// Both with the service that issued it, and with one that has never seen it.
			for _, keys := range []*access.Keys{d.keys, access.NewKeys(d.store, d.clock.Now)} {
				wantAccepted(t, keys, text, byKey(id, key.ID, permissions))
			}
		}
	}
	unknown := access.KeyText(d.school, access.NewEntropy())
	wantRefused(t, d.keys, unknown, badKey)
	wantRefused(t, d.keys, access.KeyText(999, access.NewEntropy()), badKey)
}

func TestRandomnessOfAnotherSchoolsKeyIsNoKey(t *testing.T) {
	d := newDesk(t)
	other := storetest.MakeSchool(t, d.store)
	if _, _, err := d.keys.Create(t.Context(), lyceum.By{School: d.school, Actor: "test"}, "ours", lyceum.Read, counting); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, d.keys, access.KeyText(other, counting), badKey)
}

func TestRevokedHereIsRefusedAtOnce(t *testing.T) {
	d := newDesk(t)
	key, text := d.issue(t, lyceum.Read)
	kept, keptText := d.issue(t, lyceum.Read)
	caller := byKey(d.school, key.ID, lyceum.Read)
	wantAccepted(t, d.keys, text, caller)
	if err := d.keys.Revoke(t.Context(), lyceum.By{School: d.school, Actor: "test"}, key.ID); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, d.keys, text, badKey)
	wantAccepted(t, d.keys, keptText, byKey(d.school, kept.ID, lyceum.Read))
	d.clock.Pass(time.Hour)
	wantRefused(t, d.keys, text, badKey)
	d.clock.Pass(-2 * time.Hour) // setting the clock back revives nothing
	wantRefused(t, d.keys, text, badKey)
}

func TestRevokedElsewhereIsRefusedSoon(t *testing.T) {
	d := newDesk(t)
	elsewhere := access.NewKeys(d.store, d.clock.Now)
	key, text := d.issue(t, lyceum.Read)
	caller := byKey(d.school, key.ID, lyceum.Read)
	wantAccepted(t, d.keys, text, caller)
	if err := elsewhere.Revoke(t.Context(), lyceum.By{School: d.school, Actor: "test"}, key.ID); err != nil {
		t.Fatal(err)
	}
	d.clock.Pass(5*time.Second - time.Nanosecond)
	wantAccepted(t, d.keys, text, caller) // the store is not queried yet
	d.clock.Pass(time.Nanosecond)
	wantRefused(t, d.keys, text, badKey)
	wantRefused(t, d.keys, text, badKey)
}

// TestRevokedElsewhereIsRefusedSoonWithAClockSetBack checks a key that was found valid before the
// database's clock was set back.
func TestRevokedElsewhereIsRefusedSoonWithAClockSetBack(t *testing.T) {
	d := newDesk(t)
	elsewhere := access.NewKeys(d.store, d.clock.Now)
	key, text := d.issue(t, lyceum.Read)
	wantAccepted(t, d.keys, text, byKey(d.school, key.ID, lyceum.Read))
	d.clock.Pass(-time.Minute)
	if err := elsewhere.Revoke(t.Context(), lyceum.By{School: d.school, Actor: "test"}, key.ID); err != nil {
		t.Fatal(err)
	}
	d.clock.Pass(5 * time.Second)
	wantRefused(t, d.keys, text, badKey)
}

// TestKeyIsBelievedForAWhile checks, with a store that no longer works, how long a valid key is
// accepted without it.
func TestKeyIsBelievedForAWhile(t *testing.T) {
	d := newDesk(t)
	key, text := d.issue(t, lyceum.Read)
	caller := byKey(d.school, key.ID, lyceum.Read)
	for range 3 { // checking again prolongs it
		wantAccepted(t, d.keys, text, caller)
		d.clock.Pass(5 * time.Second)
	}
	wantAccepted(t, d.keys, text, caller)
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	d.clock.Pass(4 * time.Second)
	wantAccepted(t, d.keys, text, caller)
	d.clock.Pass(time.Second)
	if _, err := d.keys.Check(t.Context(), text); err == nil || lyceum.KindOf(err) == lyceum.Unauthenticated {
		t.Errorf("a store that cannot answer gives %v; the key may still be good", err)
	}
}

// held is a store that pauses between finding a key and returning it.
type held struct {
	lyceum.Store
	answered, proceed chan struct{}
}

func (h *held) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	v := h.Store.In(ctx, school)
	tables := *v.Tables
	tables.APIKeys = interrupted[lyceum.APIKeyID, lyceum.APIKey, lyceum.APIKeyFilter]{tables.APIKeys, func() {
		h.answered <- struct{}{}
		<-h.proceed
	}}
	v.Tables = &tables
	return v
}

func TestRevokedDuringACheckIsRefusedAtOnce(t *testing.T) {
	d := newDesk(t)
	key, text := d.issue(t, lyceum.Read)
	store := &held{d.store, make(chan struct{}), make(chan struct{})}
	keys := access.NewKeys(store, d.clock.Now)
	checked := make(chan error)
	check := func() {
		_, err := keys.Check(context.Background(), text)
		checked <- err
	}
	go check()
	<-store.answered // the key was valid
	if err := keys.Revoke(t.Context(), lyceum.By{School: d.school, Actor: "test"}, key.ID); err != nil {
		t.Fatal(err)
	}
	store.proceed <- struct{}{}
	if err := <-checked; err != nil {
		t.Fatal(err) // it was valid when it was checked
	}
	go check()
	select {
	case <-store.answered:
		store.proceed <- struct{}{}
		wantKind(t, <-checked, lyceum.Unauthenticated)
	case err := <-checked:
		t.Fatalf("a key that was revoked meanwhile is believed: %v", err)
	}
}

func TestLastUseIsKept(t *testing.T) {
	d := newDesk(t)
	used, text := d.issue(t, lyceum.Read)
	d.issue(t, lyceum.Read) // never used
	lastUses := func() (uses []lyceum.Opt[time.Time]) {
		t.Helper()
		keys, err := d.keys.List(t.Context(), lyceum.By{School: d.school, Actor: "test"})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			uses = append(uses, key.LastUsedAt)
		}
		return uses
	}
	never := lyceum.None[time.Time]()
	caller := byKey(d.school, used.ID, lyceum.Read)

	wantRefused(t, d.keys, access.KeyText(d.school, full), badKey)
	if uses := d.keys.Uses(); len(uses) > 0 {
		t.Errorf("a refused key was used: %v", uses)
	}
	d.clock.Pass(1500 * time.Millisecond)
	wantAccepted(t, d.keys, text, caller)
	d.clock.Pass(-time.Second) // setting the clock back does not make the use older
	wantAccepted(t, d.keys, text, caller)
	keepBooks(d, access.NewLimiter(0, d.clock.Now))
	first := storetest.Begin.Add(time.Second)
	if diff := cmp.Diff([]lyceum.Opt[time.Time]{lyceum.Some(first), never}, lastUses()); diff != "" {
		t.Errorf("last uses (-want +got):\n%s", diff)
	}
	if uses := d.keys.Uses(); len(uses) > 0 {
		t.Errorf("uses that were kept come again: %v", uses)
	}
	d.clock.Pass(time.Minute)
	wantAccepted(t, d.keys, text, caller)
	keepBooks(d, access.NewLimiter(0, d.clock.Now))
	if diff := cmp.Diff([]lyceum.Opt[time.Time]{lyceum.Some(first.Add(time.Minute - time.Second)), never}, lastUses()); diff != "" {
		t.Errorf("last uses a minute later (-want +got):\n%s", diff)
	}
}

func TestCreateRefuses(t *testing.T) {
	d := newDesk(t)
	for _, tc := range []struct {
		name, given string
		permissions lyceum.Permissions
		sentence    string // "" means that a key is issued
	}{
		{"empty name", "", lyceum.Read, "name must be 1 to 100 characters long"},
		{"name of spaces", " \t\n ", lyceum.Read, "name must be 1 to 100 characters long"},
		{"101 characters", strings.Repeat("é", 101), lyceum.Read, "name must be 1 to 100 characters long"},
		{"not UTF-8", "report\xff", lyceum.Read, "name must be UTF-8 text without NUL characters"},
		{"NUL", "report\x00", lyceum.Read, "name must be UTF-8 text without NUL characters"},
		{"no permission", "reports", 0, "permissions must be read, write, accounts or some of them, such as read,write"},
		{"100 characters", strings.Repeat("é", 100), lyceum.Read, ""},
		{"spaces around", "  " + strings.Repeat("x", 100) + " ", lyceum.Read, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, err := d.keys.List(t.Context(), lyceum.By{School: d.school, Actor: "test"})
			if err != nil {
				t.Fatal(err)
			}
			key, text, err := d.keys.Create(t.Context(), lyceum.By{School: d.school, Actor: "test"}, tc.given, tc.permissions, access.NewEntropy())
			if tc.sentence == "" {
				if err != nil || key.Name != strings.TrimSpace(tc.given) || text == "" {
					t.Fatalf("issued %+v, %v", key, err)
				}
				return
			}
			wantKind(t, err, lyceum.Invalid)
			if got := lyceum.Public(err).Sentences(); !slices.Equal(got, []string{tc.sentence}) || text != "" {
				t.Errorf("refused with %q and %q, want %q", got, text, tc.sentence)
			}
			if after, err := d.keys.List(t.Context(), lyceum.By{School: d.school, Actor: "test"}); err != nil || len(after) != len(before) {
				t.Errorf("then there are %d keys, %v; before %d", len(after), err, len(before))
			}
		})
	}
	_, _, err := d.keys.Create(t.Context(), lyceum.By{School: 999, Actor: "test"}, "reports", lyceum.Read, access.NewEntropy())
	wantKind(t, err, lyceum.NotFound)
	if _, err = d.keys.List(t.Context(), lyceum.By{School: 999, Actor: "test"}); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("keys of an unknown school: %v", err)
	}
}

func TestRevoke(t *testing.T) {
	d := newDesk(t)
	other := storetest.MakeSchool(t, d.store)
	first, _ := d.issue(t, lyceum.Read)
	second, text := d.issue(t, lyceum.Write)
	wantKind(t, d.keys.Revoke(t.Context(), lyceum.By{School: d.school, Actor: "test"}, 77), lyceum.NotFound)
	wantKind(t, d.keys.Revoke(t.Context(), lyceum.By{School: 999, Actor: "test"}, first.ID), lyceum.NotFound)
	// F9: another school's owner cannot revoke it.
	wantKind(t, d.keys.Revoke(t.Context(), lyceum.By{School: other, Actor: "test"}, second.ID), lyceum.NotFound)
	wantAccepted(t, d.keys, text, byKey(d.school, second.ID, lyceum.Write))

	revoked := d.clock.Now().Add(time.Hour)
	for range 2 { // the second time changes nothing
		d.clock.Pass(time.Hour)
		if err := d.keys.Revoke(t.Context(), lyceum.By{School: d.school, Actor: "owner"}, first.ID); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := d.keys.List(t.Context(), lyceum.By{School: d.school, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	first.RevokedAt = lyceum.Some(revoked)
	if diff := cmp.Diff([]lyceum.APIKey{first, second}, keys); diff != "" {
		t.Errorf("keys, oldest first (-want +got):\n%s", diff)
	}
	entries, err := storetest.FindEntries(t.Context(), d.store, d.school, 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []lyceum.Entry{
		{Number: 2, At: storetest.Begin, Actor: "test", Type: lyceum.APIKeyCreated, ObjectID: 1},
		{Number: 3, At: storetest.Begin, Actor: "test", Type: lyceum.APIKeyCreated, ObjectID: 2},
		{Number: 4, At: revoked, Actor: "owner", Type: lyceum.APIKeyRevoked, ObjectID: 1},
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}
