package people_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestAnotherPersonIsNotLetIn checks that nothing that lets somebody in stays with their id if an
// import gives it another address, or disables them as the API does, and that everything does
// otherwise.
func TestAnotherPersonIsNotLetIn(t *testing.T) {
	type left struct{ Sessions, Links, Grants, Passkeys, Factors, Codes int }
	for _, row := range []struct {
		name string
		file lyceum.User
		want left
	}{
		{"another name", lyceum.User{ID: 7, Email: "mira@example.com", Name: lyceum.Some("Mira")}, left{1, 1, 1, 1, 1, 1}},
		{"another case", lyceum.User{ID: 7, Email: "Mira@Example.com"}, left{1, 1, 1, 1, 1, 1}},
		{"another address", lyceum.User{ID: 7, Email: "olu@example.com"}, left{}},
		{"disabled", lyceum.User{ID: 7, Email: "mira@example.com", DisabledAt: lyceum.Some(storetest.Begin)}, left{Passkeys: 1, Factors: 1, Codes: 1}},
		{"another address, the same name", lyceum.User{ID: 7, Email: "mira@example.org", Name: lyceum.Some("M")}, left{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			at := storetest.Begin
			d.save(t, lyceum.User{ID: 7, Email: "mira@example.com", Name: lyceum.Some("M")})
			hash := func(b byte) lyceum.KeyHash { return lyceum.KeyHash{b} }
			storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
				for _, save := range []func() error{
					func() error {
						return tx.Sessions.Insert(tx, lyceum.Session{Hash: hash(1), User: 7, CreatedAt: at, SeenAt: at})
					},
					func() error {
						return tx.Links.Insert(tx, lyceum.Link{Hash: hash(2), User: 7, Purpose: lyceum.SetPassword, CreatedAt: at, ExpiresAt: at.Add(time.Hour)})
					},
					func() error {
						return tx.OAuthApps.Insert(tx, lyceum.OAuthApp{ID: 1, Name: "App", Version: 2, RedirectURL: "https://app.example.com", ClientID: "c", CreatedAt: at})
					},
					func() error { return tx.Grants.Insert(tx, lyceum.Grant{ID: 1, App: 1, User: 7, CreatedAt: at}) },
					func() error {
						return tx.Passkeys.Insert(tx, lyceum.Passkey{Hash: hash(3), User: 7, Name: "Phone", Credential: "a", PublicKey: "b", CreatedAt: at})
					},
					func() error {
						return tx.SecondFactors.Insert(tx, lyceum.SecondFactor{User: 7, Sealed: "s", CreatedAt: at})
					},
					func() error { return tx.RecoveryCodes.Insert(tx, lyceum.RecoveryCode{Hash: hash(4), User: 7}) },
				} {
					if err := save(); err != nil {
						return err
					}
				}
				return nil
			})
			if _, problems := d.save(t, row.file); len(problems) > 0 {
				t.Fatal(problems)
			}
			v, got := d.store.In(t.Context(), d.school), left{}
			user := lyceum.Some(lyceum.UserID(7))
			count := func(n *int, of func() (bool, error)) {
				if found, err := of(); err != nil {
					t.Fatal(err)
				} else if found {
					*n = 1
				}
			}
			count(&got.Sessions, func() (bool, error) {
				_, found, err := v.Sessions.First(v, lyceum.SessionFilter{User: user})
				return found, err
			})
			count(&got.Links, func() (bool, error) {
				_, found, err := v.Links.First(v, lyceum.LinkFilter{User: user})
				return found, err
			})
			count(&got.Grants, func() (bool, error) {
				_, found, err := v.Grants.First(v, lyceum.GrantFilter{User: user, Unrevoked: true})
				return found, err
			})
			count(&got.Passkeys, func() (bool, error) {
				_, found, err := v.Passkeys.First(v, lyceum.PasskeyFilter{User: user})
				return found, err
			})
			count(&got.Factors, func() (bool, error) {
				kept, err := v.SecondFactors.Find(v, 7)
				return len(kept) > 0, err
			})
			count(&got.Codes, func() (bool, error) {
				_, found, err := v.RecoveryCodes.First(v, lyceum.RecoveryCodeFilter{User: user})
				return found, err
			})
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("what lets user 7 in (-want +got):\n%s", diff)
			}
		})
	}
}
