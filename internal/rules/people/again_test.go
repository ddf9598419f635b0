package people_test

import (
	"context"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestR23_ANewUserIsNobodyElse checks that a user whom a rolled-back change found is not
// mistaken for the new one when the change runs again.
func TestR23_ANewUserIsNobodyElse(t *testing.T) {
	d := newDesk(t)
	stranger := lyceum.User{
		ID: 77, Email: "ada@example.com", Name: lyceum.Some("Stranger"), Role: lyceum.Owner,
		PasswordHash: lyceum.Some("$argon2id$theirs"), CreatedAt: storetest.Begin,
	}
	again := &storetest.RunsTwice{Store: d.store, First: func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, stranger)
		return err
	}}
	service := people.New(again, func() time.Time { return d.now })
	hash := func(context.Context, lyceum.By, string, string) (lyceum.Opt[string], bool, error) {
		return lyceum.Some("$argon2id$hers"), false, nil
	}
	made, err := service.Create(t.Context(), lyceum.By{School: d.school, Actor: "test"}, people.NewUser{Email: "ada@example.com", Name: lyceum.Some("Ada")}, hash)
	if err != nil || made.Name.Value != "Ada" || made.ID == stranger.ID {
		t.Errorf("made %+v, %v", made.User, err)
	}
	if kept := d.kept(t); len(kept) != 1 || kept[0].PasswordHash.Present || kept[0].Role != lyceum.Student {
		t.Errorf("kept %+v", kept)
	}
}
