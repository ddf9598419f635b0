package lyceum

import "encoding/json"

// EntryDetail is what entries without an event record besides their type. It contains no
// personal data.
type EntryDetail struct {
	With  string    `json:"with,omitempty"`  // of SignedIn: WithPassword etc.
	Wrong string    `json:"wrong,omitempty"` // of SignInFailed: WrongPassword etc.
	Role  StaffRole `json:"role,omitempty"`  // of StaffMemberCreated and StaffMemberUpdated
}

// What a user signed in with.
const (
	WithPassword     = "password"
	WithAppCode      = "app_code"      // after the password
	WithRecoveryCode = "recovery_code" // after the password
	WithPasskey      = "passkey"       // without a password
	WithNextPasskey  = "next_passkey"  // after the password
)

// Why a sign-in failed.
const (
	WrongPassword   = "password"
	WrongCode       = "code"
	WrongPasskey    = "passkey"
	CopiedPasskey   = "copied_passkey" // its counter of uses went back
	DisabledAccount = "disabled"
)

// JSON returns the detail as the journal stores it; empty if there is none.
func (d EntryDetail) JSON() string {
	if d == (EntryDetail{}) {
		return ""
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // it has only strings
	}
	return string(text)
}

// DetailOf returns the detail of an entry, or the zero value if it has none.
func DetailOf(e *Entry) (d EntryDetail) {
	if e.Detail.Present && !e.Event.Present {
		_ = json.Unmarshal([]byte(e.Detail.Value), &d) // a detail of another form counts as none
	}
	return d
}
