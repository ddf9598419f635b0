package lyceum

import "time"

// By says who asks, and in which school. Every rule that changes something takes
// one.
type By struct {
	School SchoolID
	// Actor is the name of who asks in the journal, such as api_key:7.
	Actor string
	// Learner is the user for whom an app acts; they see what is published in
	// the courses that they are enrolled in. Without one all of the school is
	// seen, as by a program of the school or its staff.
	Learner Opt[UserID]
	// Key and Permissions are those of the API key that was shown, if one was.
	Key         APIKeyID
	Permissions Permissions
	// V2 is set if version 2 was on for the school when the key was looked up.
	V2 bool
	// Staff is the role of Person, who is signed in or made the key. Both are empty
	// where the school itself asks, as by an owner's key or a command.
	Staff  StaffRole
	Person UserID
	// Shown is the fingerprint of what was shown of what is to be changed, where a change
	// of something else is to be refused; see CheckShown.
	Shown string
	// Once is set where a change happens once, however often it is asked for.
	Once *Once
}

// Permit fails with Forbidden if the API key that was shown lacks a permission.
func (b By) Permit(needs Permissions) error {
	if b.Permissions.Allows(needs) {
		return nil
	}
	return Errorf(Forbidden, "this API key does not have %s permission (it has: %s)", needs, b.Permissions)
}

// Stamp dates a change.
func (b By) Stamp(at time.Time) Stamp {
	return Stamp{School: b.School, At: at, Actor: b.Actor, Once: b.Once}
}

// StampMany dates a change of a great many rows.
func (b By) StampMany(at time.Time) Stamp {
	stamp := b.Stamp(at)
	stamp.Many = true
	return stamp
}
