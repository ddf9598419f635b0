package access_test

import (
	"strings"
	"testing"

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
