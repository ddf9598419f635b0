package access

import (
	"context"
	"errors"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Alive lists the credentials that let programs into a school.
type Alive struct {
	School lyceum.School
	Keys   []lyceum.APIKey
	Apps   []lyceum.OAuthApp
	Grants map[lyceum.OAuthAppID]int
}

// Ending says which credentials a restore ends.
type Ending uint8

// The endings.
const (
	EndStays  Ending = iota // sessions, links and codes, which people get again with their password
	EndAccess               // also API keys, grants and client secrets
)

// Restored ends, in every school, credentials that restoring a backup revived, and returns
// those that are still valid: a key that was revoked after the backup is valid again.
func Restored(ctx context.Context, store lyceum.Store, now time.Time, ending Ending) ([]Alive, error) {
	schools, err := store.FindSchools(ctx)
	if err != nil {
		return nil, err
	}
	var all []Alive
	for _, school := range schools {
		err = store.Write(ctx, lyceum.Stamp{School: school.ID, At: now, Actor: "restore"}, func(tx lyceum.Tx) error {
			tx.Note(lyceum.SchoolRestored, int32(school.ID))
			if err := errors.Join(endAllStays(tx), cancelEmails(tx, now)); err != nil || ending == EndStays {
				return err
			}
			return endAccess(tx, now)
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

// endAllStays ends the sessions of all users and deletes the links and codes that are not
// spent.
func endAllStays(tx lyceum.Tx) error {
	_, e1 := tx.Sessions.Clear(tx, lyceum.SessionFilter{})
	_, e2 := tx.Links.Clear(tx, lyceum.LinkFilter{Unspent: true})
	_, e3 := tx.AuthorizationCodes.Clear(tx, lyceum.AuthorizationCodeFilter{Unspent: true})
	return errors.Join(e1, e2, e3)
}

// cancelEmails cancels the emails that were waiting when the backup was made: most have been
// sent since, and the links in the others are no longer valid.
func cancelEmails(tx lyceum.Tx, now time.Time) error {
	waiting, err := lyceum.All(tx.Emails, tx, lyceum.EmailFilter{State: lyceum.Some(lyceum.EmailWaiting)})
	if err != nil {
		return err
	}
	for i := range waiting {
		waiting[i].Close(lyceum.EmailCanceled, now)
		waiting[i].Problem = lyceum.Some("a backup was restored")
	}
	return tx.Emails.Update(tx, waiting...)
}

// endAccess revokes keys and grants, and sets client secrets that nobody knows.
func endAccess(tx lyceum.Tx, now time.Time) error {
	keys, err := lyceum.All(tx.APIKeys, tx, lyceum.APIKeyFilter{})
	if err != nil {
		return err
	}
	if err := revokeKeys(tx, now, keys...); err != nil {
		return err
	}
	if _, err := tx.RevokeGrants(lyceum.GrantFilter{}, 0, now); err != nil {
		return err
	}
	apps, err := lyceum.All(tx.OAuthApps, tx, lyceum.OAuthAppFilter{})
	if err != nil {
		return err
	}
	for i := range apps {
		app := &apps[i]
		app.SecretHash = lyceum.KeyHash(NewEntropy())
		app.OldSecretHash, app.OldSecretUntil = lyceum.None[lyceum.KeyHash](), lyceum.None[time.Time]()
	}
	return tx.OAuthApps.Update(tx, apps...)
}

func alive(ctx context.Context, store lyceum.Store, school lyceum.School) (Alive, error) {
	left := Alive{School: school, Grants: map[lyceum.OAuthAppID]int{}}
	v := store.In(ctx, school.ID)
	keys, err := lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{})
	if err != nil {
		return left, err
	}
	for _, key := range keys {
		if !key.RevokedAt.Present {
			left.Keys = append(left.Keys, key)
		}
	}
	apps, err := lyceum.All(v.OAuthApps, v, lyceum.OAuthAppFilter{})
	if err != nil {
		return left, err
	}
	for _, app := range apps {
		if !app.Active() {
			continue
		}
		left.Apps = append(left.Apps, app)
		granted := lyceum.GrantFilter{App: lyceum.Some(app.ID), Unrevoked: true}
		grants, err := v.Grants.List(v, granted, lyceum.Page{Number: 1, Size: 1})
		if err != nil {
			return left, err
		}
		left.Grants[app.ID] = int(grants.Total)
	}
	return left, nil
}
