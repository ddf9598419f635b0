package access

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Alive is what lets programs into a school.
type Alive struct {
	School lyceum.School
	Keys   []lyceum.APIKey
	Apps   []lyceum.OAuthApp
	Grants map[lyceum.OAuthAppID]int
}

// Ending says how much of what lets people and programs in is ended.
type Ending uint8

// The endings.
const (
	EndStays  Ending = iota // sessions, links and codes, which people get again by their password
	EndAccess               // API keys, grants and client secrets too
)

// Restored ends what a backup brings back to life, in every school, and tells
// what is still alive: a key that was revoked after the backup is good again.
func Restored(ctx context.Context, store lyceum.Store, now time.Time, ending Ending) ([]Alive, error) {
	schools, err := store.FindSchools(ctx)
	if err != nil {
		return nil, err
	}
	var all []Alive
	for _, school := range schools {
		keys, err := store.FindAPIKeys(ctx, school.ID)
		if err != nil {
			return nil, err
		}
		apps, err := store.FindOAuthApps(ctx, school.ID)
		if err != nil {
			return nil, err
		}
		err = store.Write(ctx, lyceum.Stamp{School: school.ID, At: now, Actor: "restore"}, func(tx lyceum.Tx) error {
			tx.Note(lyceum.SchoolRestored, int32(school.ID))
			if err := tx.EndAllStays(); err != nil || ending == EndStays {
				return err
			}
			return endAccess(tx, keys, apps, now)
		})
		if err != nil {
			return nil, err
		}
		left, err := alive(ctx, store, school)
		if err != nil {
			return nil, err
		}
		all = append(all, left)
	}
	return all, nil
}

// endAccess revokes keys and grants, and gives apps client secrets that nobody
// knows.
func endAccess(tx lyceum.Tx, keys []lyceum.APIKey, apps []lyceum.OAuthApp, now time.Time) error {
	for i := range keys {
		if err := tx.RevokeAPIKey(keys[i].ID, lyceum.Second(now)); err != nil {
			return err
		}
	}
	if _, err := tx.RevokeGrants(lyceum.GrantFilter{}, now); err != nil {
		return err
	}
	closed := make([]lyceum.OAuthApp, len(apps))
	for i, app := range apps {
		app.SecretHash = lyceum.KeyHash(NewEntropy())
		app.OldSecretHash, app.OldSecretUntil = lyceum.None[lyceum.KeyHash](), lyceum.None[time.Time]()
		closed[i] = app
	}
	_, err := tx.SaveOAuthApps(closed)
	return err
}

func alive(ctx context.Context, store lyceum.Store, school lyceum.School) (Alive, error) {
	left := Alive{School: school}
	keys, err := store.FindAPIKeys(ctx, school.ID)
	if err != nil {
		return left, err
	}
	for _, key := range keys {
		if !key.RevokedAt.Present {
			left.Keys = append(left.Keys, key)
		}
	}
	apps, err := store.FindOAuthApps(ctx, school.ID)
	if err != nil {
		return left, err
	}
	for _, app := range apps {
		if app.Active() {
			left.Apps = append(left.Apps, app)
		}
	}
	left.Grants, err = store.CountGrants(ctx, school.ID)
	return left, err
}
