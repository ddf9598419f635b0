package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// MaxStaff is how many people may work for a school, owners included.
const MaxStaff = 1000

// Staff decides who works for a school. It is safe for concurrent use.
type Staff struct {
	Store    lyceum.Store
	Clock    func() time.Time
	Accounts *Accounts
	People   People
}

// People registers people who are new to a school.
type People interface {
	// CheckAddress rejects text that cannot be a user's email address or name.
	CheckAddress(email string, name lyceum.Opt[string]) error
	// Register returns the user with an address, and creates a student if there is none.
	Register(tx lyceum.Tx, now time.Time, email string, name lyceum.Opt[string]) (lyceum.UserID, error)
}

// Colleague is somebody who works for a school.
type Colleague struct {
	User  lyceum.User
	Role  lyceum.StaffRole
	Since lyceum.Opt[time.Time] // when the role was given; absent for owners
	Keys  int                   // not revoked, that they created, for an owner in an earlier role
}

// List lists the people who work for a school: by role, then by id.
func (s *Staff) List(ctx context.Context, by lyceum.By) ([]Colleague, error) {
	var all []Colleague
	err := s.Store.AtOnce(ctx, by.School, func(v lyceum.View) (err error) {
		all, err = colleagues(v)
		return err
	})
	return all, err
}

func colleagues(v lyceum.View) ([]Colleague, error) {
	owners, err := lyceum.All(v.Users, v, lyceum.UserFilter{Owners: true})
	if err != nil {
		return nil, err
	}
	members, err := lyceum.All(v.StaffMembers, v, struct{}{})
	if err != nil {
		return nil, err
	}
	var all []Colleague
	for _, owner := range owners {
		keys, err := keysOf(v.Tables, v, owner.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, Colleague{User: owner, Role: lyceum.OwnerRole, Keys: len(keys)})
	}
	for _, m := range members {
		user, err := v.Users.Get(v, m.User)
		if err != nil {
			return nil, err
		}
		keys, err := keysOf(v.Tables, v, m.User)
		if err != nil {
			return nil, err
		}
		all = append(all, Colleague{user, m.Role, lyceum.Some(m.UpdatedAt), len(keys)})
	}
	rank := lyceum.StaffRoles()
	slices.SortStableFunc(all, func(a, b Colleague) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Role), slices.Index(rank, b.Role)), cmp.Compare(a.User.ID, b.User.ID))
	})
	return all, nil
}

// keysOf returns the keys of a member of staff that are not revoked.
func keysOf(t *lyceum.Tables, from lyceum.Source, user lyceum.UserID) ([]lyceum.APIKey, error) {
	keys, err := lyceum.All(t.APIKeys, from, lyceum.APIKeyFilter{User: lyceum.Some(user)})
	return slices.DeleteFunc(keys, func(k lyceum.APIKey) bool { return k.RevokedAt.Present }), err
}

// Invitation says who is to work for a school, and in which role.
type Invitation struct {
	Email string
	Role  lyceum.StaffRole
	// Send arranges, within the transaction, for the one-time link to be sent to a user without
	// a password; if it is nil, the link is returned instead.
	Send func(tx lyceum.Tx, user lyceum.User, link string) error
}

// Invited is a person who was invited. Link is the secret of a one-time link to set a password
// with; it is empty if they have a password or the link was sent.
type Invited struct {
	User lyceum.User
	Link string
	Sent bool
}

// Invite gives a role among the staff to somebody who may be new to the school. It fails if
// they have a role already.
func (s *Staff) Invite(ctx context.Context, by lyceum.By, n Invitation) (Invited, error) {
	if err := s.People.CheckAddress(n.Email, lyceum.None[string]()); err != nil {
		return Invited{}, err
	}
	if err := checkRole(n.Role); err != nil {
		return Invited{}, err
	}
	now, text := s.Clock(), secretText(linkPrefix, by.School, s.Accounts.entropy())
	in, err := lyceum.Change(ctx, s.Store, by.Stamp(now), func(tx lyceum.Tx) (in Invited, err error) {
		id, err := s.People.Register(tx, now, n.Email, lyceum.None[string]())
		if err != nil {
			return in, err
		}
		if in.User, err = tx.Users.Get(tx, id); err != nil {
			return in, err
		}
		if err := s.mayJoin(tx, &in.User); err != nil {
			return in, err
		}
		if err := give(tx, &in.User, "", n.Role, now); err != nil || in.User.PasswordHash.Present {
			return in, err
		}
		err = makeLink(tx, lyceum.Link{
			Hash: HashSecret(text), User: id, Purpose: lyceum.SetPassword, CreatedAt: now, ExpiresAt: now.Add(LinkLifetime),
			MadeBy: handed(by),
		})
		if err != nil || n.Send == nil {
			in.Link = text
			return in, err
		}
		in.Sent = true
		return in, n.Send(tx, in.User, text)
	})
	s.Accounts.forgetAll()
	return in, err
}

func checkRole(role lyceum.StaffRole) error {
	if slices.Contains(lyceum.StaffRoles(), role) {
		return nil
	}
	return lyceum.InvalidFields(lyceum.FieldError{
		Field: "role", Message: "must be owner, manager, bookkeeper, author or support",
	})
}

// mayJoin fails for somebody who works here already or could not sign in.
func (s *Staff) mayJoin(tx lyceum.Tx, user *lyceum.User) error {
	refuse := func(message string) error {
		return lyceum.InvalidFields(lyceum.FieldError{Field: "email", Message: message})
	}
	if user.DisabledAt.Present {
		return refuse("belongs to a disabled person, who cannot sign in; enable them first")
	}
	role, err := lyceum.StaffRoleOf(tx.Tables, tx, user)
	if err != nil {
		return err
	}
	if role != "" {
		return refuse("belongs to somebody who works here as " + string(role) + " already; change their role below")
	}
	members, err := lyceum.All(tx.StaffMembers, tx, struct{}{})
	if err != nil {
		return err
	}
	owners, err := lyceum.All(tx.Users, tx, lyceum.UserFilter{Owners: true})
	if err == nil && len(members)+len(owners) >= MaxStaff {
		err = lyceum.Errorf(lyceum.Conflict, "At most %d people can work for a school. Remove somebody first.", MaxStaff)
	}
	return err
}

// Change gives another role to somebody who works for a school. It applies from the next
// request on, also to the keys that they created. The last owner who can sign in must remain an
// owner: the error is Conflict.
func (s *Staff) Change(
	ctx context.Context, by lyceum.By, id lyceum.UserID, role lyceum.StaffRole,
) (lyceum.User, error) {
	if err := checkRole(role); err != nil {
		return lyceum.User{}, err
	}
	return s.change(ctx, by, id, role)
}

// Remove takes away somebody's role among the staff. They remain a user of the school, and the
// keys and password links that they created are revoked. It fails like Change.
func (s *Staff) Remove(ctx context.Context, by lyceum.By, id lyceum.UserID) (lyceum.User, error) {
	return s.change(ctx, by, id, "")
}

func (s *Staff) change(
	ctx context.Context, by lyceum.By, id lyceum.UserID, role lyceum.StaffRole,
) (lyceum.User, error) {
	now := s.Clock()
	var user lyceum.User
	err := s.Store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) (err error) {
		if user, err = tx.Users.Get(tx, id); err != nil {
			return err
		}
		before, err := lyceum.StaffRoleOf(tx.Tables, tx, &user)
		switch {
		case err != nil:
			return err
		case before == "":
			return lyceum.Errorf(lyceum.NotFound, "user %d does not work for the school", id)
		case before == role:
			return nil
		case before == lyceum.OwnerRole:
			if err := notLast(tx, id); err != nil {
				return err
			}
		}
		return give(tx, &user, before, role, now)
	})
	s.Accounts.forgetAll()
	return user, err
}

// notLast fails with Conflict for the last owner who can sign in. Owners who were invited and have
// not chosen a password yet do not count: their link may expire unused.
func notLast(tx lyceum.Tx, id lyceum.UserID) error {
	others, err := lyceum.All(tx.Users, tx, lyceum.UserFilter{Owners: true, Enabled: true, Except: lyceum.Some(id)})
	if err == nil && !slices.ContainsFunc(others, func(u lyceum.User) bool { return u.PasswordHash.Present }) {
		err = &lyceum.Error{Kind: lyceum.Conflict, Code: "last_owner", Detail: fmt.Sprintf("user %d is the last owner "+
			"who can sign in; make somebody else an owner first", id)}
	}
	return err
}

// give changes a user's role among the staff from before to role; an empty one means none.
func give(tx lyceum.Tx, user *lyceum.User, before, role lyceum.StaffRole, now time.Time) error {
	if err := own(tx, user, role == lyceum.OwnerRole); err != nil {
		return err
	}
	switch {
	case before == "":
		tx.NoteDetail(lyceum.StaffMemberCreated, int32(user.ID), lyceum.EntryDetail{Role: role}.JSON())
		// Staff with fewer rights may have made links for this person, which would now let them in.
		if err := trimLinks(tx, user.ID, lyceum.SetPassword, 0); err != nil {
			return err
		}
	case role != "":
		tx.NoteDetail(lyceum.StaffMemberUpdated, int32(user.ID), lyceum.EntryDetail{Role: role}.JSON())
	default:
		tx.Note(lyceum.StaffMemberDeleted, int32(user.ID))
		if err := endKeys(tx, user.ID, now); err != nil {
			return err
		}
	}
	if before != "" && role != lyceum.OwnerRole {
		if err := endHanded(tx, user.ID); err != nil {
			return err
		}
	}
	member := lyceum.StaffMember{User: user.ID, Role: role, UpdatedAt: now}
	listed := func(role lyceum.StaffRole) bool { return role != "" && role != lyceum.OwnerRole }
	switch {
	case listed(role):
		_, err := tx.StaffMembers.Save(tx, member)
		return err
	case listed(before):
		return tx.StaffMembers.Delete(tx, user.ID)
	}
	return nil
}

// own makes a user an owner, or an owner a student.
func own(tx lyceum.Tx, user *lyceum.User, owns bool) error {
	switch {
	case owns == (user.Role == lyceum.Owner):
		return nil
	case owns:
		user.Role = lyceum.Owner
	default:
		user.Role = lyceum.Student
	}
	return tx.Users.Update(tx, *user)
}

func endKeys(tx lyceum.Tx, user lyceum.UserID, now time.Time) error {
	keys, err := keysOf(tx.Tables, tx, user)
	if err != nil {
		return err
	}
	return revokeKeys(tx, now, keys...)
}
