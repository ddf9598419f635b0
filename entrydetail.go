package lyceum

import "encoding/json"

// EntryDetail is what entries without an event say besides their type. It has nothing
// personal.
type EntryDetail struct {
	With  string    `json:"with,omitempty"`  // of SignedIn: WithPassword and so on
	Wrong string    `json:"wrong,omitempty"` // of SignInFailed: WrongPassword and so on
	Role  StaffRole `json:"role,omitempty"`  // of StaffMemberCreated and StaffMemberUpdated
}

// What somebody signed in with.
const (
	WithPassword     = "password"
	WithAppCode      = "app_code"      // after the password
	WithRecoveryCode = "recovery_code" // after the password
	WithPasskey      = "passkey"       // alone
	WithNextPasskey  = "next_passkey"  // after the password
)

// Why a sign-in failed.
const (
	WrongPassword   = "password"
	WrongCode       = "code"
	WrongPasskey    = "passkey"
	CopiedPasskey   = "copied_passkey" // it has counted fewer uses than before
	DisabledAccount = "disabled"
)

// JSON returns the detail as a journal keeps it; empty for none.
func (d EntryDetail) JSON() string {
	if d == (EntryDetail{}) {
		return ""
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // it has strings alone
	}
	return string(text)
}

// DetailOf returns the detail of an entry, which may have none.
func DetailOf(e *Entry) (d EntryDetail) {
	if e.Detail.Present && !e.Event.Present {
		_ = json.Unmarshal([]byte(e.Detail.Value), &d) // of another kind: none
	}
	return d
}
