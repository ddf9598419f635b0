package mirror

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// users copies the users; the phase of the learners adds the rest.
func (m *mirror) users(ctx context.Context) error {
	to := m.People.Import(m.by())
	return m.userPages(ctx, func(page []gen.UserSummary) error {
		rows := make([]lyceum.User, len(page))
		for i, u := range page {
			rows[i] = lyceum.User{ID: lyceum.UserID(u.ID), Email: u.Email, Name: wire.Opt(u.Name)}
		}
		return keep(ctx, m, to, "user", userID, rows...)
	})
}

// keepUsers saves users. Nobody takes the place of an owner of the copy: a row with the id of one
// and another address is rejected. The last owner stays one if the other server gives them another
// role.
func (m *mirror) keepUsers(ctx context.Context, rows []lyceum.User) error {
	v, to := m.Store.In(ctx, m.School), m.People.Import(m.by())
	ids := make([]lyceum.UserID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	here, err := v.Users.Find(v, ids...)
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		if old := here[row.ID]; old.Role == lyceum.Owner && !strings.EqualFold(old.Email, row.Email) {
			row.Role = ""
		}
	}
	problems, err := to.Check(ctx, rows)
	if err != nil {
		return err
	}
	for _, p := range problems {
		if p.Field == "role" {
			rows[p.Index].Role = ""
		}
	}
	return keep(ctx, m, to, "user", userID, rows...)
}

func userID(u *lyceum.User) string { return strconv.Itoa(int(u.ID)) }

// userPages calls visit with every page of users from the cursor on: the last id, or, as a
// negative number, the number of pages if the server does not support search_after.
func (m *mirror) userPages(ctx context.Context, visit func([]gen.UserSummary) error) error {
	for {
		page, next, err := m.userPage(ctx, m.State.Cursor)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := visit(page); err != nil {
			return err
		}
		if err := m.reached(ctx, next); err != nil {
			return err
		}
	}
}

// mostPaged is how many users can be listed by page number.
const mostPaged = 10_000

// userPage returns the page at a cursor, empty after the last one, and the next cursor.
// Version 1 promises search_after only beyond mostPaged users, and says in the meta
// whether it was used.
func (m *mirror) userPage(ctx context.Context, at int64) (users []gen.UserSummary, next int64, err error) {
	query := url.Values{"page": {"1"}, "per": {strconv.Itoa(per)}}
	if at >= 0 {
		query.Set("search_after", strconv.FormatInt(at, 10))
	} else {
		query.Set("page", strconv.FormatInt(1-at, 10))
	}
	var list gen.UserList
	if err := m.client.get(ctx, "/v1/users", query, &list); err != nil {
		return nil, 0, err
	}
	if at >= 0 && list.Meta.HasMoreResults != nil {
		for _, u := range list.Users {
			if int64(u.ID) <= max(at, next) {
				return nil, 0, lyceum.Invalidf("%s does not list users in the order of their ids after user %d, so they "+
					"cannot be copied", m.From, at)
			}
			next = int64(u.ID)
		}
		return list.Users, next, nil
	}
	done := min(at, 0)
	switch {
	case list.Meta.Total > mostPaged:
		return nil, 0, lyceum.Invalidf("%s has %d users and ignores search_after; pages reach only %d, so they cannot be "+
			"copied", m.From, list.Meta.Total, mostPaged)
	case -done >= int64(list.Meta.NumberOfPages):
		return nil, 0, nil
	}
	return list.Users, done - 1, nil
}
