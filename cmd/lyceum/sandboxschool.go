package main

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

const (
	// endCursor stores when the generated data end, in microseconds; 0 without a clock.
	endCursor = "sandbox_end"
	// fillingCursor stores how many transactions the school is being filled with, plus 1; 0 if it is
	// filled.
	fillingCursor = "sandbox_filling"
)

// generated returns the school to store in the database, which ends at the clock, or else on the
// day before now. If the database has one already, it returns that one, with its clock or its days.
// A school that is not filled yet keeps its number of transactions.
func (c *sandboxCommand) generated(v lyceum.View, at lyceum.Opt[time.Time], now time.Time) (*demo.School, error) {
	end, err := v.GetCursor(endCursor)
	if err != nil {
		return nil, err
	}
	filling, err := v.GetCursor(fillingCursor)
	if err != nil {
		return nil, err
	}
	if filling > 0 {
		c.Transactions = int(filling - 1)
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
	switch there, err := v.GetSchool(); {
	case lyceum.KindOf(err) == lyceum.NotFound:
		return demo.Later(demo.DaysUntil(now), c.Seed, c.Transactions), nil
	case err != nil:
		return nil, err
	default:
		return demo.Later(demo.DaysOf(there.CreatedAt), c.Seed, c.Transactions), nil
	}
}

// fill stores the school unless it exists already, and resumes if that was interrupted; made
// reports whether anything was stored. A database with another school is left unchanged.
func (c *sandboxCommand) fill(
	p *program, store lyceum.Store, school *demo.School, known credentials,
) (made bool, err error) {
	id, key := school.School.ID, access.HashSecret(known.APIKey)
	another := lyceum.Errorf(lyceum.Conflict, "the database has another school; use an empty database, or the "+
		"--seed of that school")
	there, err := store.In(p.ctx, id).GetSchool()
	if lyceum.KindOf(err) == lyceum.NotFound {
		there, err = store.CreateSchool(p.ctx, school.School, "sandbox")
	}
	switch {
	case err != nil:
		return false, err
	case !there.CreatedAt.Equal(school.School.CreatedAt): // its name and settings may have changed
		return false, another
	}
	v := store.In(p.ctx, id)
	keys, err := lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{})
	if err != nil {
		return false, err
	}
	if len(keys) == 0 && there.Name == school.School.Name {
		if err := keepCredentials(p.ctx, store, school, known, key, c.Transactions); err != nil {
			return false, err
		}
	} else if !slices.ContainsFunc(keys, func(k lyceum.APIKey) bool { return k.Hash == key }) {
		return false, another
	}
	filling, err := v.GetCursor(fillingCursor)
	if err != nil {
		return false, err
	}
	if filling == 0 {
		return false, c.keep(p.ctx, store, id)
	}
	bar := newProgress(p, "filling the school", int64(c.Transactions), "transactions")
	defer bar.finish()
	givePasswords(school)
	if err := school.Load(p.ctx, store, func(kept int) { bar.set(int64(kept)) }); err != nil {
		return false, err
	}
	return true, store.Write(p.ctx, stampOf(school), func(tx lyceum.Tx) error {
		_, err := tx.MoveCursor(fillingCursor, filling, 0)
		return err
	})
}

// keep makes the sandbox continue with a school that has at least as many transactions as it is
// to have.
func (c *sandboxCommand) keep(ctx context.Context, store lyceum.Store, id lyceum.SchoolID) error {
	listing, err := store.FindTransactions(
		ctx, id, lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1},
	)
	if err != nil {
		return err
	}
	kept := int(listing.Total)
	if kept < c.Transactions {
		return lyceum.Errorf(lyceum.Conflict, "the database has this seed's school, with %s, which cannot "+
			"grow; use --transactions %d or less, or an empty database", several(kept, "transaction"), kept)
	}
	c.Transactions = kept
	return nil
}

// givePasswords sets the passwords of the owner and the learner.
func givePasswords(school *demo.School) {
	s := school.Secrets
	for i := range school.Users {
		switch u := &school.Users[i]; u.ID {
		case demo.OwnerID:
			u.PasswordHash = lyceum.Some(access.HashPassword(s.OwnerPassword, s.OwnerSalt))
		case demo.LearnerID:
			u.PasswordHash = lyceum.Some(access.HashPassword(s.LearnerPassword, s.LearnerSalt))
		}
	}
}

func stampOf(school *demo.School) lyceum.Stamp {
	return lyceum.Stamp{School: school.School.ID, At: school.School.CreatedAt, Actor: "sandbox"}
}

// keepCredentials stores the API key and the OAuth apps of a school that is then to be filled with
// transactions.
func keepCredentials(
	ctx context.Context,
	store lyceum.Store,
	school *demo.School,
	known credentials,
	key lyceum.KeyHash,
	transactions int,
) error {
	at := school.School.CreatedAt
	app := func(id lyceum.OAuthAppID, name string, version lyceum.InterfaceVersion, shown oauthApp) lyceum.OAuthApp {
		return lyceum.OAuthApp{
			ID: id, Name: name, Version: version, RedirectURL: shown.RedirectURL, ClientID: shown.ClientID,
			SecretHash: access.HashSecret(shown.ClientSecret), CreatedAt: at,
		}
	}
	return store.Write(ctx, stampOf(school), func(tx lyceum.Tx) error {
		err := tx.APIKeys.Insert(tx, lyceum.APIKey{
			ID: 1, Name: "Sandbox", Permissions: lyceum.Read | lyceum.Write | lyceum.Accounts, Hash: key,
			LastFour: known.APIKey[len(known.APIKey)-4:], CreatedAt: at,
		})
		if err != nil {
			return err
		}
		if _, err := tx.MoveCursor(fillingCursor, 0, int64(transactions)+1); err != nil {
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
