package access

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// SessionsQuery selects a user's sessions by when they were last seen, to the second; both ends
// are included.
type SessionsQuery struct {
	User        lyceum.UserID
	From, Until lyceum.Opt[time.Time]
}

// Sessions lists a user's sessions that are not over, the last seen first. It fails with
// NotFound if the user does not exist.
func (a *Accounts) Sessions(
	ctx context.Context, by lyceum.By, q SessionsQuery, p lyceum.Page,
) (lyceum.Listing[lyceum.Session], error) {
	v := a.store.In(ctx, by.School)
	if _, err := v.Users.Get(v, q.User); err != nil {
		return lyceum.Listing[lyceum.Session]{}, err
	}
	now := a.clock()
	f := lyceum.SessionFilter{
		User: lyceum.Some(q.User), SeenAfter: lyceum.Some(now.Add(-SessionIdle)),
		BegunAfter: lyceum.Some(now.Add(-SessionAbsolute)), SeenFrom: q.From, LastSeen: true,
	}
	if q.Until.Present {
		f.SeenUntil = lyceum.Some(lyceum.Second(q.Until.Value).Add(time.Second))
	}
	return v.Sessions.List(v, f, p)
}

// SessionOf identifies a session of a user.
type SessionOf struct {
	User lyceum.UserID
	ID   string
}

// EndSession ends a session, and does nothing if it does not exist. It fails with NotFound if
// the user does not exist.
func (a *Accounts) EndSession(ctx context.Context, by lyceum.By, q SessionOf) error {
	return a.store.Write(ctx, by.Stamp(a.clock()), func(tx lyceum.Tx) error {
		user, err := tx.Users.Get(tx, q.User)
		if err != nil {
			return err
		}
		if err := by.PermitOver(tx.Tables, tx, &user); err != nil {
			return err
		}
		kept, err := lyceum.All(tx.Sessions, tx, lyceum.SessionFilter{User: lyceum.Some(q.User)})
		if err != nil {
			return err
		}
		for i := range kept {
			if kept[i].ID() == q.ID {
				tx.Note(lyceum.SessionEnded, int32(q.User))
				return endSession(tx, kept[i].Hash)
			}
		}
		return nil
	})
}

// EndSessions ends all sessions of a user. Grants to apps and links to set a password remain.
// It fails with NotFound if the user does not exist.
func (a *Accounts) EndSessions(ctx context.Context, by lyceum.By, id lyceum.UserID) error {
	return a.store.Write(ctx, by.Stamp(a.clock()), func(tx lyceum.Tx) error {
		user, err := tx.Users.Get(tx, id)
		if err != nil {
			return err
		}
		if err := by.PermitOver(tx.Tables, tx, &user); err != nil {
			return err
		}
		ended, err := tx.Sessions.Clear(tx, lyceum.SessionFilter{User: lyceum.Some(id)})
		if ended > 0 {
			tx.Note(lyceum.UserSignedOut, int32(id))
		}
		return err
	})
}
