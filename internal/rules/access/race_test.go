package access_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// meanwhile does something, once, after a user was found by email.
type meanwhile struct {
	lyceum.Store
	do func()
}

func (m *meanwhile) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	v := m.Store.In(ctx, school)
	tables := *v.Tables
	tables.Users = interrupted[lyceum.UserID, lyceum.User, lyceum.UserFilter]{tables.Users, func() {
		if do := m.do; do != nil {
			m.do = nil
			do()
		}
	}}
	v.Tables = &tables
	return v
}

// TestR33_PasswordThatIsReplacedMeanwhile checks that a person who is signing in with a
// password while another one is chosen gets neither a session nor a link.
func TestR33_PasswordThatIsReplacedMeanwhile(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		const chosen = "four words that rhyme"
		store := &meanwhile{Store: o.store}
		accounts := access.NewAccounts(store, o.clock.Now, o.oauth, nil)
		signIn := func(password string) (access.Admission, error) {
			return accounts.SignIn(t.Context(), access.Attempt{
				School: o.school, Email: "mira@example.com", Password: password, From: netip.MustParseAddr("192.0.2.1"),
			})
		}
		for _, must := range []bool{false, true} {
			user := storetest.User(t, o.store, o.school, learner)
			user.PasswordHash, user.MustChangePassword = lyceum.Some(weakHash(password)), must
			o.save(t, user)
			link := o.link(t)
			store.do = func() {
				if _, err := o.accounts.SetPassword(t.Context(), o.school, link, chosen); err != nil {
					t.Error(err)
				}
			}
			in, err := signIn(password)
			if err == nil {
				t.Errorf("must change %v: the password of before lets in: %+v", must, in)
			} else {
				wantKind(t, err, lyceum.Unauthenticated)
			}
			if stays, err := o.accounts.Stays(t.Context(), o.by(), learner, ""); err != nil || len(stays) != 0 {
				t.Errorf("must change %v: %d sessions have outlived the new password, %v", must, len(stays), err)
			}
			if in, err := signIn(chosen); err != nil || in.Session == "" {
				t.Errorf("must change %v: the new password does not let in: %v", must, err)
			}
			if _, err := o.accounts.SignOutEverywhere(t.Context(), lyceum.By{School: o.school, Actor: "test"}, learner); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestOldHashIsMadeAnewOnce checks that two concurrent sign-ins with a password whose hash is
// being replaced both succeed.
func TestOldHashIsMadeAnewOnce(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		user := storetest.User(t, o.store, o.school, learner)
		user.PasswordHash = lyceum.Some(weakHash(password))
		o.save(t, user)
		store := &meanwhile{Store: o.store}
		store.do = func() {
			if _, _, err := o.signIn(t, "mira@example.com", password); err != nil {
				t.Error(err)
			}
		}
		_, err := access.NewAccounts(store, o.clock.Now, o.oauth, nil).SignIn(t.Context(), access.Attempt{
			School: o.school, Email: "mira@example.com", Password: password, From: netip.MustParseAddr("192.0.2.1"),
		})
		if err != nil {
			t.Errorf("the second is refused: %v", err)
		}
	})
}
