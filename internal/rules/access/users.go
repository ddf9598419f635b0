package access

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"net/netip"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// User returns a user of a school.
func (a *Accounts) User(ctx context.Context, by lyceum.By, id lyceum.UserID) (lyceum.User, error) {
	v := a.store.In(ctx, by.School)
	return v.Users.Get(v, id)
}

// StaffRole returns a user's role among the staff of a school, or "" if they do not work for
// it.
func (a *Accounts) StaffRole(
	ctx context.Context, school lyceum.SchoolID, user *lyceum.User,
) (lyceum.StaffRole, error) {
	v := a.store.In(ctx, school)
	return lyceum.StaffRoleOf(v.Tables, v, user)
}

// UserByEmail returns the user with an address, regardless of case, if there is one.
func (a *Accounts) UserByEmail(ctx context.Context, by lyceum.By, email string) (lyceum.User, bool, error) {
	v := a.store.In(ctx, by.School)
	return v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some(email)})
}

// SwitchOff disables a user and ends their sessions, links, codes and grants to apps in the
// same transaction; API keys that they created are rejected while they are disabled. This
// process rejects all of these immediately. Other processes reject sessions, links, codes and
// refresh tokens immediately too, and API keys and access tokens within five seconds. A user who
// is disabled already keeps the original time. The last owner who can sign in cannot be disabled.
func (a *Accounts) SwitchOff(ctx context.Context, by lyceum.By, id lyceum.UserID) (lyceum.User, error) {
	return a.change(ctx, by, id, func(tx lyceum.Tx, user *lyceum.User, now time.Time) error {
		if user.DisabledAt.Present {
			return nil
		}
		if user.Role == lyceum.Owner {
			if err := notLast(tx, id); err != nil {
				return err
			}
		}
		user.DisabledAt = lyceum.Some(lyceum.Second(now))
		tx.Note(lyceum.UserDisabled, int32(id))
		if err := endHanded(tx, id); err != nil {
			return err
		}
		return lyceum.EndAccess(tx, id, now)
	})
}

// SwitchOn enables a disabled user, who can sign in again. What was ended when they were
// disabled stays ended.
func (a *Accounts) SwitchOn(ctx context.Context, by lyceum.By, id lyceum.UserID) (lyceum.User, error) {
	return a.change(ctx, by, id, func(tx lyceum.Tx, user *lyceum.User, _ time.Time) error {
		if !user.DisabledAt.Present {
			return nil
		}
		user.DisabledAt = lyceum.None[time.Time]()
		tx.Note(lyceum.UserEnabled, int32(id))
		return nil
	})
}

// SignOutEverywhere ends a user's sessions and links. The password and the grants to apps
// remain.
func (a *Accounts) SignOutEverywhere(ctx context.Context, by lyceum.By, id lyceum.UserID) (lyceum.User, error) {
	return a.change(ctx, by, id, func(tx lyceum.Tx, _ *lyceum.User, _ time.Time) error {
		tx.Note(lyceum.UserSignedOut, int32(id))
		return lyceum.EndStays(tx, id)
	})
}

// change changes a user in one write and evicts the keys and tokens that this process has
// cached.
func (a *Accounts) change(
	ctx context.Context, by lyceum.By, id lyceum.UserID, do func(lyceum.Tx, *lyceum.User, time.Time) error,
) (lyceum.User, error) {
	now := a.clock()
	user, err := lyceum.Change(ctx, a.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.User, error) {
		user, err := tx.Users.Get(tx, id)
		if err != nil {
			return user, err
		}
		if err := by.PermitOver(tx.Tables, tx, &user); err != nil {
			return user, err
		}
		if err := do(tx, &user, now); err != nil {
			return user, err
		}
		_, err = tx.Users.Save(tx, user)
		return user, err
	})
	a.forgetAll()
	return user, err
}

// forgetAll evicts the keys and tokens that this process has cached.
func (a *Accounts) forgetAll() {
	if a.Keys != nil {
		a.Keys.forgetAll()
	}
	a.oauth.forgetAll()
}

// Forget evicts the tokens that this process has cached.
func (a *Accounts) Forget() { a.oauth.forgetAll() }

// EndedAccess evicts the tokens that this process has cached and clears the attempts on an
// account.
func (a *Accounts) EndedAccess(school lyceum.SchoolID, email string) {
	a.oauth.forgetAll()
	a.clearTries(context.Background(), school, email)
}

// clearTries clears the attempts on accounts. The change that this follows is already
// committed, so a failure is only logged: the counts expire within an hour.
func (a *Accounts) clearTries(ctx context.Context, school lyceum.SchoolID, emails ...string) {
	for _, email := range emails {
		if err := a.guard.clear(ctx, school, email); err != nil {
			a.oauth.Traces.Log.WarnContext(ctx, "the count of an account's sign-in attempts could not be reset", "err", err)
		}
	}
}

// Stay is a session as its user sees it.
type Stay struct {
	lyceum.Session

	Name string // identifies it in a form; it lets nobody in
	Here bool   // it is the caller's session
}

// Stays returns a user's sessions that are not over, the last seen first. here is the secret of
// the caller's session; it may be empty.
func (a *Accounts) Stays(ctx context.Context, by lyceum.By, id lyceum.UserID, here string) ([]Stay, error) {
	v := a.store.In(ctx, by.School)
	sessions, err := lyceum.All(v.Sessions, v, lyceum.SessionFilter{User: lyceum.Some(id)})
	now, own := a.clock(), HashSecret(here)
	var stays []Stay
	for _, s := range sessions {
		if !over(&s, now) {
			stays = append(stays, Stay{
				Session: s, Name: stayName(s.Hash),
				Here: subtle.ConstantTimeCompare(s.Hash[:], own[:]) == 1,
			})
		}
	}
	slices.SortStableFunc(stays, func(x, y Stay) int { return y.SeenAt.Compare(x.SeenAt) })
	return stays, err
}

func stayName(hash lyceum.KeyHash) string { return hex.EncodeToString(hash[:8]) }

// over reports whether a session has expired.
func over(s *lyceum.Session, now time.Time) bool {
	return !now.Before(s.SeenAt.Add(SessionIdle)) || !now.Before(s.CreatedAt.Add(SessionAbsolute))
}

// EndStay ends a user's session by its name. It returns false, and ends nothing, if the user
// does not have such a session or no longer has it.
func (a *Accounts) EndStay(
	ctx context.Context, by lyceum.By, id lyceum.UserID, name string,
) (ended bool, err error) {
	stays, err := a.Stays(ctx, by, id, "")
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(stays, func(s Stay) bool { return s.Name == name })
	if at < 0 {
		return false, nil
	}
	return true, a.store.Write(ctx, by.Stamp(a.clock()), func(tx lyceum.Tx) error {
		tx.Note(lyceum.SessionEnded, int32(id))
		return endSession(tx, stays[at].Hash)
	})
}

// network returns the part of an address that is enough to recognize a place: its /24, or the
// /48 for IPv6.
func network(from netip.Addr) string {
	if from = from.Unmap().WithZone(""); !from.IsValid() {
		return ""
	}
	bits := 24
	if from.Is6() {
		bits = 48
	}
	return netip.PrefixFrom(from, bits).Masked().String()
}
