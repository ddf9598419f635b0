package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

func apiKeys(t *testing.T, store lyceum.Store) {
	school, other := MakeSchool(t, store), MakeSchool(t, store)
	ctx := t.Context()
	key := lyceum.APIKey{ID: 3, Name: "reports", Permissions: lyceum.Read, Hash: lyceum.KeyHash{1, 2, 3}, LastFour: "abcd", CreatedAt: Begin}
	Write(t, store, school, func(tx lyceum.Tx) error { return tx.CreateAPIKey(key) })
	if got, err := store.GetAPIKeyByHash(ctx, school, key.Hash); err != nil || got != key {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, lookup := range map[string]struct {
		school lyceum.SchoolID
		hash   lyceum.KeyHash
	}{"another school": {other, key.Hash}, "another hash": {school, lyceum.KeyHash{9}}} {
		if _, err := store.GetAPIKeyByHash(ctx, lookup.school, lookup.hash); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("%s: %v, want not found", name, err)
		}
	}
	later := Begin.Add(time.Hour)
	Write(t, store, school, func(tx lyceum.Tx) error { return tx.RevokeAPIKey(3, later) })
	Write(t, store, school, func(tx lyceum.Tx) error { return tx.RevokeAPIKey(3, later.Add(time.Hour)) })
	key.RevokedAt = lyceum.Some(later)
	if got, err := store.FindAPIKeys(ctx, school); err != nil || !slices.Equal(got, []lyceum.APIKey{key}) {
		t.Errorf("after revoking: %+v, %v", got, err)
	}
	err := store.Write(ctx, stamp(school), func(tx lyceum.Tx) error { return tx.RevokeAPIKey(4, later) })
	if lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("revoking an unknown key: %v", err)
	}
	entries, err := store.FindEntries(ctx, school, 1, 10)
	if err != nil || len(entries) != 2 || entries[0].Type != lyceum.APIKeyCreated || entries[1].Type != lyceum.APIKeyRevoked {
		t.Errorf("journal %v, %v", entries, err)
	}
}

func bookkeeping(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	ctx := t.Context()
	Write(t, store, school, func(tx lyceum.Tx) error {
		return tx.CreateAPIKey(lyceum.APIKey{ID: 1, Name: "k", Permissions: lyceum.Read, CreatedAt: Begin})
	})
	minute := Begin.Truncate(time.Minute)
	use := func(at time.Time, used int64) {
		t.Helper()
		err := store.Bookkeep(ctx, lyceum.Bookkeeping{
			KeyUses:     []lyceum.KeyUse{{School: school, Key: 1, At: at}},
			RateWindows: []lyceum.RateWindow{{School: school, Start: minute, Used: used}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	use(Begin.Add(2*time.Minute), 5)
	use(Begin.Add(time.Minute), 7) // an older use does not hide the newer
	keys, err := store.FindAPIKeys(ctx, school)
	if err != nil || keys[0].LastUsedAt != lyceum.Some(Begin.Add(2*time.Minute)) {
		t.Errorf("last use %v, %v", keys[0].LastUsedAt, err)
	}
	windows, err := store.FindRateWindows(ctx, minute)
	if err != nil || !slices.Equal(windows, []lyceum.RateWindow{{School: school, Start: minute, Used: 7}}) {
		t.Errorf("windows %v, %v", windows, err)
	}
	if windows, err := store.FindRateWindows(ctx, minute.Add(time.Minute)); err != nil || len(windows) > 0 {
		t.Errorf("windows of the next minute: %v, %v", windows, err)
	}
	if entries, err := store.FindEntries(ctx, school, 2, 10); err != nil || len(entries) > 0 {
		t.Errorf("bookkeeping left entries %v, %v", entries, err)
	}
}
