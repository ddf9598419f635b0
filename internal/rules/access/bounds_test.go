package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// hashOf returns a different hash for each number.
func hashOf(n int) lyceum.KeyHash { return lyceum.KeyHash{byte(n), byte(n >> 8), 1} }

// A school has a maximum number of API keys and of apps. Those that were revoked or deleted do not
// count.
func TestMaximumOfKeysAndApps(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	keys, by := access.NewKeys(o.store, o.clock.Now), lyceum.By{School: o.school, Actor: "test"}
	ended := lyceum.Some(storetest.Begin)
	storetest.Write(t, o.store, o.school, func(tx lyceum.Tx) error {
		for n := 10; n < 1009; n++ {
			key := lyceum.APIKey{ID: lyceum.APIKeyID(n), Name: "report", Permissions: lyceum.Read, Hash: hashOf(n), CreatedAt: storetest.Begin}
			if err := tx.APIKeys.Insert(tx, key); err != nil {
				return err
			}
			key.ID, key.Hash, key.RevokedAt = lyceum.APIKeyID(2000+n), hashOf(2000+n), ended
			if err := tx.APIKeys.Insert(tx, key); err != nil {
				return err
			}
		}
		for n := 10; n < 1007; n++ { // the office has two apps
			app := lyceum.OAuthApp{ID: lyceum.OAuthAppID(n), Name: "Ledger", Version: lyceum.V1, RedirectURL: callback, ClientID: access.ClientID(o.school, access.NewEntropy()), SecretHash: hashOf(n), CreatedAt: storetest.Begin}
			if err := tx.OAuthApps.Insert(tx, app); err != nil {
				return err
			}
		}
		return nil
	})
	for _, tc := range []struct {
		of, says string
		create   func() error
		end      func() error
	}{
		{
			"key", "A school can have at most 1000 API keys that are not revoked. Revoke one first.",
			func() error {
				_, _, err := keys.Create(t.Context(), by, "report", lyceum.Read, access.NewEntropy())
				return err
			},
			func() error { return keys.Revoke(t.Context(), by, 10) },
		},
		{
			"app", "A school can have at most 1000 OAuth apps. Delete one first.",
			func() error {
				_, _, err := o.apps.Register(t.Context(), by, access.AppForm{Name: "Ledger", RedirectURL: callback, Version: lyceum.V1})
				return err
			},
			func() error { return o.apps.Delete(t.Context(), by, 10) },
		},
	} {
		t.Run(tc.of, func(t *testing.T) {
			if err := tc.create(); err != nil {
				t.Fatalf("number 1000: %v", err)
			}
			err := tc.create()
			if wantKind(t, err, lyceum.Conflict); !strings.Contains(err.Error(), tc.says) {
				t.Errorf("number 1001: %v, want %q", err, tc.says)
			}
			if err := tc.end(); err != nil {
				t.Fatal(err)
			}
			if err := tc.create(); err != nil {
				t.Errorf("after one has ended: %v", err)
			}
		})
	}
}

// A user has at most 100 sessions; another one ends the one that was not used for longest.
func TestMaximumOfSessions(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	storetest.Write(t, o.store, o.school, func(tx lyceum.Tx) error {
		for n := range 105 {
			session := lyceum.Session{Hash: hashOf(n), User: learner, CreatedAt: storetest.Begin, SeenAt: storetest.Begin.Add(-time.Duration(n) * time.Second)}
			if err := tx.Sessions.Insert(tx, session); err != nil {
				return err
			}
		}
		return nil
	})
	session := o.signedIn(t)
	if _, err := o.accounts.Session(t.Context(), o.school, session); err != nil {
		t.Error(err)
	}
	v := o.store.In(t.Context(), o.school)
	kept, err := lyceum.All(v.Sessions, v, lyceum.SessionFilter{User: lyceum.Some(learner)})
	if err != nil || len(kept) != 100 {
		t.Fatalf("%d sessions, %v", len(kept), err)
	}
	for _, s := range kept {
		if s.SeenAt.Before(storetest.Begin.Add(-98 * time.Second)) {
			t.Errorf("a session that was last seen at %s is kept", s.SeenAt)
		}
	}
}

// A learner has at most 100 grants to an app; another one revokes the one that was not used for
// longest, with its tokens.
func TestMaximumOfGrants(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	first := o.tokens(t)
	o.clock.Pass(time.Second)
	second := o.tokens(t)
	storetest.Write(t, o.store, o.school, func(tx lyceum.Tx) error {
		for n := range 98 {
			grant := lyceum.Grant{ID: lyceum.GrantID(1000 + n), App: o.app[lyceum.V1].ID, User: learner, CreatedAt: o.clock.Now()}
			if err := tx.Grants.Insert(tx, grant); err != nil {
				return err
			}
		}
		other := lyceum.Grant{ID: 2000, App: o.app[lyceum.V2].ID, User: learner, CreatedAt: storetest.Begin.Add(-time.Hour)}
		return tx.Grants.Insert(tx, other)
	})
	if !o.alive(first) || !o.alive(second) {
		t.Fatal("a token is not valid before")
	}
	o.clock.Pass(time.Second)
	third := o.tokens(t)
	if o.alive(first) || !o.alive(second) || !o.alive(third) {
		t.Errorf("valid: the oldest %v, the second %v, the newest %v", o.alive(first), o.alive(second), o.alive(third))
	}
	v := o.store.In(t.Context(), o.school)
	for app, want := range map[lyceum.OAuthAppID]int{o.app[lyceum.V1].ID: 100, o.app[lyceum.V2].ID: 1} {
		kept, err := lyceum.All(v.Grants, v, lyceum.GrantFilter{App: lyceum.Some(app), Unrevoked: true})
		if err != nil || len(kept) != want {
			t.Errorf("%d grants to app %d, %v; want %d", len(kept), app, err, want)
		}
	}
}
