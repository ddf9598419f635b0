package console_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	users "github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// What a member of staff has begun ends when they are removed, disabled or get a role that does not
// allow it: the links to set a password that they made, with which they could enter the accounts of
// others, and the erasures that can still be undone.
func TestLeavingStaff(t *testing.T) {
	for name, tc := range map[string]struct {
		path, role string // of the owner's request
		link       bool   // still works
		erased     bool
	}{
		"nothing happens": {"", "", true, true},
		"promoted":        {"staff", "owner", true, true},
		"another role":    {"staff", "support", false, false},
		"removed":         {"remove", "", false, false},
		"disabled":        {"disable", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, site)
			p.signIn(1, "other@example.com", lyceum.Student)
			other, _, err := p.store.In(t.Context(), 1).Users.First(p.store.In(t.Context(), 1), lyceum.UserFilter{Email: lyceum.Some("other@example.com")})
			if err != nil {
				t.Fatal(err)
			}
			session, id := p.hire("partner@example.com", lyceum.ManagerRole)
			w := p.send(session, "POST", people, p.formOf(session, people, "email", "learner@example.com"))
			want(t, w, 200)
			handed := link.FindString(w.Body.String())
			if handed == "" {
				t.Fatal("there is no link")
			}
			want(t, p.send(session, "POST", fmt.Sprintf("%s/%d/erase", people, other.ID), url.Values{}), 303)
			switch tc.path {
			case "staff":
				want(t, p.send(p.owner, "POST", fmt.Sprintf("%s/%d", staffPath, id), url.Values{"role": {tc.role}}), 303)
			case "remove":
				want(t, p.send(p.owner, "POST", fmt.Sprintf("%s/%d/remove", staffPath, id), nil), 303)
			case "disable":
				want(t, p.send(p.owner, "POST", fmt.Sprintf("%s/%d/disable", people, id), url.Values{}), 303)
			}
			if _, err := p.accounts.Link(t.Context(), 1, handed); (err == nil) != tc.link {
				t.Errorf("the link works: %v, want %v", err == nil, tc.link)
			}
			p.clock.Pass(users.UndoTime + time.Second)
			if err := p.options.People.EraseDue(t.Context(), 1, p.doors()); err != nil {
				t.Fatal(err)
			}
			v := p.store.In(t.Context(), 1)
			if _, err := v.Users.Get(v, other.ID); (lyceum.KindOf(err) == lyceum.NotFound) != tc.erased {
				t.Errorf("the person: %v, want erased: %v", err, tc.erased)
			}
			if plans, err := p.options.People.PlannedErasures(t.Context(), lyceum.By{School: 1}, other.ID); err != nil || len(plans) != 0 {
				t.Errorf("still planned: %v, %v", plans, err)
			}
		})
	}
}

// Owners count among the people who can work for a school.
func TestMaximumOfStaff(t *testing.T) {
	p := open(t, site)
	storetest.Write(t, p.store, 1, func(tx lyceum.Tx) error {
		owners, err := lyceum.All(tx.Users, tx, lyceum.UserFilter{Owners: true})
		if err != nil {
			return err
		}
		for n := len(owners); n < 999; n++ {
			user := lyceum.User{ID: lyceum.UserID(10_000 + n), Email: fmt.Sprintf("owner%d@example.com", n), Role: lyceum.Owner, CreatedAt: storetest.Begin}
			if err := tx.Users.Insert(tx, user); err != nil {
				return err
			}
		}
		return nil
	})
	want(t, p.send(p.owner, "POST", staffPath, url.Values{"email": {"a@example.com"}, "role": {"support"}}), 200, "Copy the link now")
	for _, role := range []string{"support", "owner"} {
		want(t, p.send(p.owner, "POST", staffPath, url.Values{"email": {"b@example.com"}, "role": {role}}), 409, "At most 1000 people can work for a school. Remove somebody first.")
	}
}
