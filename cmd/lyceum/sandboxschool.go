package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// endCursor stores when the generated data end, in microseconds; 0 without a clock.
const endCursor = "sandbox_end"

// generated returns the school to store in the database; if the database has one already, it
// returns that one, with its clock.
func (c *sandboxCommand) generated(v lyceum.View, at lyceum.Opt[time.Time]) (*demo.School, error) {
	end, err := v.GetCursor(endCursor)
	if err != nil {
		return nil, err
	}
	keys, err := lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{})
	switch {
	case err != nil:
		return nil, err
	case end > 0:
		return demo.Ending(time.UnixMicro(end), c.Seed, c.Transactions), nil
	case at.Present && len(keys) == 0:
		return demo.Ending(at.Value, c.Seed, c.Transactions), nil
	}
	return demo.New(c.Seed, c.Transactions), nil
}

// fill stores the school unless it exists already, and resumes if that was interrupted; made
// reports whether anything was stored. A database with another school is left unchanged.
func (c *sandboxCommand) fill(
	p *program, store lyceum.Store, school *demo.School, known credentials,
) (made bool, err error) {
	id, key := school.School.ID, access.HashSecret(known.APIKey)
	another := lyceum.Errorf(lyceum.Conflict, "the database has another school; use an empty database, or the "+
		"--seed of that school")
	switch there, err := store.In(p.ctx, id).GetSchool(); {
	case lyceum.KindOf(err) == lyceum.NotFound:
		if _, err := store.CreateSchool(p.ctx, school.School, "sandbox"); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	// the school's settings may have changed
	case there.Name != school.School.Name || !there.CreatedAt.Equal(school.School.CreatedAt):
		return false, another
	}
	v := store.In(p.ctx, id)
	keys, err := lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{})
	if err != nil {
		return false, err
	}
	if len(keys) == 0 {
		made = true
		if err := keepCredentials(p.ctx, store, school, known, key); err != nil {
			return false, err
		}
	} else if !slices.ContainsFunc(keys, func(k lyceum.APIKey) bool { return k.Hash == key }) {
		return false, another
	}
	listing, err := store.FindTransactions(
		p.ctx, id, lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1},
	)
	if err != nil {
		return false, err
	}
	if kept := int(listing.Total); kept >= c.Transactions {
		c.Transactions = kept
		return made, nil
	}
	bar := newProgress(p, "filling the school", int64(c.Transactions), "transactions")
	defer bar.finish()
	err = school.Load(p.ctx, store, func(kept int) { bar.set(int64(kept)) })
	if lyceum.KindOf(err) == lyceum.Conflict {
		return false, &lyceum.Error{
			Kind: lyceum.Conflict,
			Detail: fmt.Sprintf("the database has this seed's school, with %d transactions, which cannot grow; use "+
				"--transactions %d or less, or an empty database", listing.Total, listing.Total),
			Err: err,
		}
	}
	return true, err
}

// keepCredentials sets the passwords of the owner and the learner, and stores the API key and
// the OAuth apps.
func keepCredentials(
	ctx context.Context,
	store lyceum.Store,
	school *demo.School,
	known credentials,
	key lyceum.KeyHash,
) error {
	s, at := school.Secrets, school.School.CreatedAt
	for i := range school.Users {
		switch u := &school.Users[i]; u.ID {
		case demo.OwnerID:
			u.PasswordHash = lyceum.Some(access.HashPassword(s.OwnerPassword, s.OwnerSalt))
		case demo.LearnerID:
			u.PasswordHash = lyceum.Some(access.HashPassword(s.LearnerPassword, s.LearnerSalt))
		}
	}
	app := func(id lyceum.OAuthAppID, name string, version lyceum.InterfaceVersion, shown oauthApp) lyceum.OAuthApp {
		return lyceum.OAuthApp{
			ID: id, Name: name, Version: version, RedirectURL: shown.RedirectURL, ClientID: shown.ClientID,
			SecretHash: access.HashSecret(shown.ClientSecret), CreatedAt: at,
		}
	}
	return store.Write(ctx, lyceum.Stamp{School: school.School.ID, At: at, Actor: "sandbox"}, func(tx lyceum.Tx) error {
		err := tx.APIKeys.Insert(tx, lyceum.APIKey{
			ID: 1, Name: "Sandbox", Permissions: lyceum.Read | lyceum.Write | lyceum.Accounts, Hash: key,
			LastFour: known.APIKey[len(known.APIKey)-4:], CreatedAt: at,
		})
		if err != nil {
			return err
		}
		if school.End.Present {
			if _, err := tx.MoveCursor(endCursor, 0, school.End.Value.UnixMicro()); err != nil {
				return err
			}
		}
		return tx.OAuthApps.Insert(tx,
			app(1, "Sandbox app, version 1", lyceum.V1, known.OAuthApps.V1),
			app(2, "Sandbox app, version 2", lyceum.V2, known.OAuthApps.V2))
	})
}
