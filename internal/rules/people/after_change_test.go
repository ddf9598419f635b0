package people_test

import (
	"context"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// lost is a store that can no longer be read once something has been written.
type lost struct {
	lyceum.Store

	wrote bool
}

var errLost = &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the database cannot be reached; try again"}

func (l *lost) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	err := l.Store.Write(ctx, stamp, change)
	l.wrote = err == nil
	return err
}

func (l *lost) AtOnce(ctx context.Context, id lyceum.SchoolID, read func(lyceum.View) error) error {
	if l.wrote {
		return errLost
	}
	return l.Store.AtOnce(ctx, id, read)
}

func (l *lost) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	v := l.Store.In(ctx, id)
	if l.wrote {
		v.Reads = lostReads{v.Reads}
	}
	return v
}

type lostReads struct{ lyceum.Reads }

func (lostReads) FindBesides([]lyceum.UserID) (map[lyceum.UserID]lyceum.UserBesides, error) {
	return nil, errLost
}

// TestAChangeThatCannotBeShownIsKept checks that if a user cannot be shown after a change, the
// error does not claim that nothing was changed.
func TestAChangeThatCannotBeShownIsKept(t *testing.T) {
	t.Parallel()
	below, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer below.Close()
	school := storetest.MakeSchool(t, below)
	by, doors := lyceum.By{School: school, Actor: "test"}, people.Doors{Forget: func() {}}
	for name, change := range map[string]func(s *people.Service) error{
		"a new user": func(s *people.Service) error {
			_, err := s.Create(t.Context(), by, people.NewUser{Email: "a@example.com"}, nil)
			return err
		},
		"a change": func(s *people.Service) error {
			_, err := s.Update(t.Context(), by, people.Change{User: 1, Name: lyceum.Some(lyceum.Some("Nia"))}, doors)
			return err
		},
		"tags": func(s *people.Service) error {
			_, err := s.SetTags(t.Context(), by, lyceum.UserTags{User: 1, Tags: []string{"vip"}})
			return err
		},
		"a new account": func(s *people.Service) error {
			account := people.Account{Email: lyceum.Some("c@example.com"), Role: lyceum.Some(lyceum.Student), Marketing: lyceum.Some(true)}
			_, err := s.CreateAccount(t.Context(), by, account, doors)
			return err
		},
		"a change of an account": func(s *people.Service) error {
			account := people.Account{User: 1, Notes: lyceum.Some("likes glass")}
			_, err := s.UpdateAccount(t.Context(), by, account, doors)
			return err
		},
	} {
		storetest.Write(t, below, school, func(tx lyceum.Tx) error {
			_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "b@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
			return err
		})
		err := change(people.New(&lost{Store: below}, func() time.Time { return storetest.Begin }))
		if e := lyceum.Public(err); e == nil || e.Kind != lyceum.Unavailable || e.Code != lyceum.OutcomeUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
}
