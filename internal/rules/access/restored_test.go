package access_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// Of the credentials that a backup revives, those of people always end; those of programs are
// reported, or end as well.
func TestR42_RestoringEndsWhatLetsIn(t *testing.T) {
	for name, ending := range map[string]access.Ending{"people": access.EndStays, "programs too": access.EndAccess} {
		t.Run(name, func(t *testing.T) {
			onBothEngines(t, func(t *testing.T, o *office) {
				keys := access.NewKeys(o.store, o.clock.Now)
				_, kept, err := keys.Create(t.Context(), lyceum.By{School: o.school, Actor: "test"}, "reports", lyceum.Read, access.NewEntropy())
				if err != nil {
					t.Fatal(err)
				}
				gone, _, err := keys.Create(t.Context(), lyceum.By{School: o.school, Actor: "test"}, "old", lyceum.Read, access.NewEntropy())
				if err != nil {
					t.Fatal(err)
				}
				if err := keys.Revoke(t.Context(), lyceum.By{School: o.school, Actor: "test"}, gone.ID); err != nil {
					t.Fatal(err)
				}
				handed, sent := o.link(t), o.forgotten(t)
				spent := o.code(t)
				tokens, err := o.exchange(spent, "")
				if err != nil {
					t.Fatal(err)
				}
				code, session := o.code(t), o.signedIn(t)

				alive, err := access.Restored(t.Context(), o.store, o.clock.Now(), ending)
				if err != nil || len(alive) != 1 {
					t.Fatalf("%d schools, %v", len(alive), err)
				}
				after := newProcess(o)
				if _, err := after.accounts.Session(t.Context(), o.school, session); lyceum.KindOf(err) != lyceum.NotFound {
					t.Error("a session has come back:", err)
				}
				if o.opens(t, handed) || o.opens(t, sent) {
					t.Error("a link has come back")
				}
				if _, err := after.exchange(code, ""); err == nil {
					t.Error("a code has come back")
				}
				_, keyErr := access.NewKeys(o.store, o.clock.Now).Check(t.Context(), kept)
				_, refreshErr := after.refresh(tokens.RefreshToken, "")
				programs := ending == access.EndStays
				if got := after.alive(tokens); got != programs || (keyErr == nil) != programs || (refreshErr == nil) != programs {
					t.Errorf("the access token is good: %v; key %v; refresh token %v", got, keyErr, refreshErr)
				}
				a := alive[0]
				grants := a.Grants[o.app[lyceum.V1].ID]
				if ending == access.EndAccess && (len(a.Keys) > 0 || grants > 0) {
					t.Errorf("told as alive: %d keys and %d grants", len(a.Keys), grants)
				}
				if ending == access.EndStays && (len(a.Keys) != 1 || a.Keys[0].Name != "reports" || len(a.Apps) != 2 || grants != 2) {
					t.Errorf("told as alive: %d keys, %d apps, %d grants", len(a.Keys), len(a.Apps), grants)
				}
				if _, err := o.tryToSignIn(t); err != nil {
					t.Error("the password does not let in:", err)
				}
				if ending == access.EndStays {
					_, err = after.exchange(spent, "")
					wantCode(t, err, "invalid_grant")
					if after.alive(tokens) {
						t.Error("a spent code is not remembered over a restore")
					}
				}
			})
		})
	}
}
