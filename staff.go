package lyceum

import "time"

// StaffRole is what a member of a school's staff may do there. A table in rules/access defines
// the rights of each role.
type StaffRole string

// The roles of staff.
const (
	OwnerRole      StaffRole = "owner"
	ManagerRole    StaffRole = "manager"
	BookkeeperRole StaffRole = "bookkeeper"
	AuthorRole     StaffRole = "author" // of their own courses
	SupportRole    StaffRole = "support"
)

// StaffRoles lists the roles of staff, the most powerful first.
func StaffRoles() []StaffRole {
	return []StaffRole{OwnerRole, ManagerRole, BookkeeperRole, AuthorRole, SupportRole}
}

// StaffMember is somebody who works for a school and does not own it. Owners are users with the
// role owner instead.
type StaffMember struct {
	User      UserID
	Role      StaffRole // not OwnerRole
	UpdatedAt time.Time // when the role was assigned
}

// The journal entries of staff. Their object is the user.
const (
	StaffMemberCreated EntryType = "staff_member.created"
	StaffMemberUpdated EntryType = "staff_member.updated"
	StaffMemberDeleted EntryType = "staff_member.deleted"
)

// StaffRoleOf returns a user's role in the staff, or "" if they do not work for the school.
func StaffRoleOf(t *Tables, from Source, user *User) (StaffRole, error) {
	if user.Role == Owner {
		return OwnerRole, nil
	}
	member, err := t.StaffMembers.Get(from, user.ID)
	if err != nil && KindOf(err) == NotFound {
		return "", nil
	}
	return member.Role, err
}

// RoleOfKey returns the role of the member of staff who created a key, or "" if the key belongs
// to the school. A key is not good if it was revoked, or if its member of staff is disabled or
// no longer works for the school.
func RoleOfKey(t *Tables, from Source, key *APIKey) (role StaffRole, good bool, err error) {
	if key.RevokedAt.Present || !key.UserID.Present {
		return "", !key.RevokedAt.Present, nil
	}
	user, err := t.Users.Get(from, key.UserID.Value)
	if err != nil && KindOf(err) == NotFound || err == nil && user.DisabledAt.Present {
		return "", false, nil
	}
	if err == nil {
		role, err = StaffRoleOf(t, from, &user)
	}
	return role, role != "", err
}

// PermitOver fails with Forbidden if staff who do not own the school would change the account
// of an owner or a member of staff, through which they could change what they may do
// themselves.
func (b By) PermitOver(t *Tables, from Source, user *User) error {
	if b.Staff == "" || b.Staff == OwnerRole {
		return nil
	}
	role, err := StaffRoleOf(t, from, user)
	if err == nil && role != "" {
		err = Errorf(Forbidden, "User %d works for the school. Only an owner can change their account.", user.ID)
	}
	return err
}
