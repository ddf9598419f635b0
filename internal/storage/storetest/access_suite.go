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
	key := lyceum.APIKey{
		ID: 3, Name: "reports", Permissions: lyceum.Read, Hash: lyceum.KeyHash{1, 2, 3}, LastFour: "abcd",
		CreatedAt: Begin,
	}
	Write(t, store, school, func(tx lyceum.Tx) error { return tx.APIKeys.Insert(tx, key) })
	v := store.In(ctx, school)
	found := func(in lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.APIKey, bool, error) {
		v := store.In(ctx, in)
		return v.APIKeys.First(v, lyceum.APIKeyFilter{Hash: lyceum.Some(hash)})
	}
	if got, there, err := found(school, key.Hash); err != nil || !there || got != key {
		t.Errorf("got %+v, %v, %v", got, there, err)
	}
	for name, lookup := range map[string]struct {
		school lyceum.SchoolID
		hash   lyceum.KeyHash
	}{"another school": {other, key.Hash}, "another hash": {school, lyceum.KeyHash{9}}} {
		if _, there, err := found(lookup.school, lookup.hash); err != nil || there {
			t.Errorf("%s: %v, %v, want nothing", name, there, err)
		}
	}
	key.RevokedAt = lyceum.Some(Begin.Add(time.Hour))
	for range 2 {
		Write(t, store, school, func(tx lyceum.Tx) error { _, err := tx.APIKeys.Save(tx, key); return err })
	}
	if got, err := lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{}); err != nil ||
		!slices.Equal(got, []lyceum.APIKey{key}) {
		t.Errorf("after revoking: %+v, %v", got, err)
	}
	err := store.Write(ctx, stamp(school), func(tx lyceum.Tx) error { _, err := tx.APIKeys.Get(tx, 4); return err })
	if lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("an unknown key: %v", err)
	}
	entries, err := FindEntries(ctx, store, school, 1, 10)
	if err != nil || len(entries) != 2 || entries[0].Type != lyceum.APIKeyCreated ||
		entries[1].Type != lyceum.APIKeyRevoked {
		t.Errorf("journal %v, %v", entries, err)
	}
}

func bookkeeping(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	ctx := t.Context()
	Write(t, store, school, func(tx lyceum.Tx) error {
		return tx.APIKeys.Insert(tx, lyceum.APIKey{ID: 1, Name: "k", Permissions: lyceum.Read, CreatedAt: Begin})
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
	use(Begin.Add(time.Minute), 7) // an older use must not replace the newer one
	v := store.In(ctx, school)
	keys, err := lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{})
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
	if entries, err := FindEntries(ctx, store, school, 2, 10); err != nil || len(entries) > 0 {
		t.Errorf("bookkeeping left entries %v, %v", entries, err)
	}
}
