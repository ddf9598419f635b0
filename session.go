package lyceum

import "time"

// Session is a person's stay in the browser. Only the hash of its id is kept,
// and of where it is as much as its owner recognises it by.
type Session struct {
	Hash      KeyHash
	User      UserID
	CreatedAt time.Time
	SeenAt    time.Time
	Address   string // the network it began from, such as 192.0.2.0/24; may be empty
	Browser   string // its family and system, such as Firefox on Linux; may be empty
}

// SessionFilter narrows sessions; an absent part holds always. They are listed
// oldest first.
type SessionFilter struct {
	User Opt[UserID]
}
