package apiv2

import (
	"regexp"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

func (f *Face) sessions() []wire.Operation {
	const all = usersPath + "/{user_id}/sessions"
	return []wire.Operation{
		many("listUserSessions", all, perPage, bindSessions, f.accounts.Sessions, session),
		wire.None("deleteUserSession", wire.Delete, all+"/{session_id}", bindSession, f.accounts.EndSession),
		wire.None("deleteUserSessions", wire.Delete, all, oneUser, f.accounts.EndSessions),
	}
}

func bindSessions(in *wire.Input) access.SessionsQuery {
	return access.SessionsQuery{
		User: oneUser(in), From: in.Query("last_seen_after").Time(), Until: in.Query("last_seen_before").Time(),
	}
}

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func bindSession(in *wire.Input) access.SessionOf {
	q := access.SessionOf{User: oneUser(in), ID: strings.ToLower(in.PathText("session_id"))}
	if !uuid.MatchString(q.ID) {
		in.Refuse("session_id", "must be a UUID such as 0e37df36-f698-4d10-8b6d-4a2b5f0d3c11")
	}
	return q
}

func session(s lyceum.Session) gen.Session {
	seen := wire.Moment(s.SeenAt)
	return gen.Session{
		ID: s.ID(), User: reference(usersPath, s.User), IPAddress: filled(s.Address), UserAgent: filled(s.Browser),
		LastSeenAt: &seen, CreatedAt: wire.Moment(s.CreatedAt),
	}
}

// filled returns nil for an empty string.
func filled(text string) *string {
	return wire.Optional(lyceum.Opt[string]{Value: text, Present: text != ""})
}
