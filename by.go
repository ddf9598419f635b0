package lyceum

import "time"

// By is who makes a request, and in which school. Every rule that changes something takes one.
type By struct {
	School SchoolID
	// Actor is the caller's name in the journal, such as api_key:7.
	Actor string
	// Learner is the user for whom an app acts; the app sees what is published in the courses
	// they are enrolled in. If absent, the caller is a program or the staff of the school, and
	// sees all of it.
	Learner Opt[UserID]
	// Key and Permissions are those of the API key that was sent, if any.
	Key         APIKeyID
	Permissions Permissions
	// V2 is set if version 2 was enabled for the school when the key was looked up.
	V2 bool
	// Staff is the role of Person, who is signed in or created the key. Both are empty if the
	// caller is the school itself, as with an owner's key or a command.
	Staff  StaffRole
	Person UserID
	// Shown, if set, is the fingerprint of the values that the caller was shown before changing
	// them. If they have changed since then, the change is rejected; see CheckShown.
	Shown string
	// Once is set if the change must happen only once, however often it is requested.
	Once *Once
}

// Permit fails with Forbidden if the API key that was sent lacks a permission.
func (b By) Permit(needs Permissions) error {
	if b.Permissions.Allows(needs) {
		return nil
	}
	return Errorf(Forbidden, "this API key does not have %s permission (it has: %s)", needs, b.Permissions)
}

// Stamp returns the stamp of a change made by b at the given time.
func (b By) Stamp(at time.Time) Stamp {
	return Stamp{School: b.School, At: at, Actor: b.Actor, Once: b.Once}
}

// StampMany returns the stamp of a change of a great many rows.
func (b By) StampMany(at time.Time) Stamp {
	stamp := b.Stamp(at)
	stamp.Many = true
	return stamp
}
