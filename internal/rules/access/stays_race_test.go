package access_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// visited does something, once, after a session was read.
type visited struct {
	lyceum.Store
	do func()
}

func (m *visited) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	v := m.Store.In(ctx, school)
	tables := *v.Tables
	tables.Sessions = visitedRows{tables.Sessions, m}
	v.Tables = &tables
	return v
}

type visitedRows struct {
	lyceum.Table[lyceum.KeyHash, lyceum.Session, lyceum.SessionFilter]
	of *visited
}

func (r visitedRows) Get(from lyceum.Source, hash lyceum.KeyHash) (lyceum.Session, error) {
	session, err := r.Table.Get(from, hash)
	if do := r.of.do; do != nil {
		r.of.do = nil
		do()
	}
	return session, err
}

// TestR58_ConfirmedDuringAnotherRequest checks that a request that records when a session was
// last seen keeps what another one has recorded meanwhile: that the person confirmed who they are,
// or signed out.
func TestR58_ConfirmedDuringAnotherRequest(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		session, _, err := o.signIn(t, "mira@example.com", password)
		if err != nil {
			t.Fatal(err)
		}
		store := &visited{Store: o.store}
		other := access.NewAccounts(store, o.clock.Now, o.oauth, nil)
		o.clock.Pass(access.FreshFor)
		store.do = func() {
			proof := access.Proof{Session: session, Attempt: access.Attempt{
				School: o.school, Password: password, From: netip.MustParseAddr("192.0.2.1"),
			}}
			if err := o.accounts.Confirm(t.Context(), proof); err != nil {
				t.Error(err)
			}
		}
		if _, err := other.Session(t.Context(), o.school, session); err != nil {
			t.Error(err)
		}
		if fresh, err := o.accounts.Fresh(t.Context(), o.school, session); err != nil || !fresh {
			t.Errorf("a person who has just confirmed who they are must do so again: %v", err)
		}
		o.clock.Pass(time.Hour)
		store.do = func() {
			if err := o.accounts.SignOut(t.Context(), o.school, session); err != nil {
				t.Error(err)
			}
		}
		if _, err := other.Session(t.Context(), o.school, session); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("a session that was ended is used: %v", err)
		}
		if _, err := o.accounts.Session(t.Context(), o.school, session); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("a session that was ended is back: %v", err)
		}
	})
}
