package apiv1

import (
	"context"
	"encoding/json"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

func (f *Face) users() []wire.Operation {
	const all, each = "/v1/users", "/v1/users/{user_id}"
	return []wire.Operation{
		appended("ListUsers", wire.Get, all, bindUsers, f.listUsers),
		one("CreateUser", wire.Create, all, bindNewUser, f.createUser, "", user),
		one("ShowUser", wire.Get, each, bindUser, f.People.Show, "", user),
		one("UpdateUser", wire.Patch, each, bindUserChange, f.updateUser, "", user),
	}
}

// users holds the parameters of ListUsers.
type users struct {
	filter lyceum.UserFilter
	page   lyceum.Page
}

func bindUsers(in *wire.Input) users {
	q := users{filter: lyceum.UserFilter{Email: in.Query("email").Text(1, wire.Unbounded)}}
	q.page = bindPage(in, defaultPer)
	q.filter.After = wire.Amount[lyceum.UserID](in.Query("search_after"), 0)
	return q
}

func (f *Face) listUsers(ctx context.Context, by lyceum.By, q users) (userList, error) {
	listing, err := f.People.List(ctx, by, q.filter, q.page)
	return userList{listing, q.filter.After}, err
}

// userList is a gen.UserList whose rows are encoded by hand.
type userList struct {
	lyceum.Listing[lyceum.UserSummary]

	after lyceum.Opt[lyceum.UserID]
}

func (l userList) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"users":[`...)
	for i := range l.Rows {
		u := &l.Rows[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `{"email":`...), u.Email)
		b = append(b, `,"name":`...)
		if u.Name.Present {
			b = wire.AppendString(b, u.Name.Value)
		} else {
			b = append(b, "null"...)
		}
		b = append(wire.AppendNumber(b, `,"id":`, u.ID), '}')
	}
	meta, err := json.Marshal(userMeta(&l.Listing, l.after))
	return append(append(append(b, `],"meta":`...), meta...), '}'), err
}

// userMeta returns the meta, with the search_after of the next page (contract/v1.yaml,
// UserListMeta).
func userMeta(l *lyceum.Listing[lyceum.UserSummary], after lyceum.Opt[lyceum.UserID]) gen.UserListMeta {
	m := meta{l.Total, l.Page, len(l.Rows)}
	shown := gen.UserListMeta{
		Page: l.Page.Number, Total: int32(l.Total), NumberOfPages: int32(m.pages()), PerPage: l.Page.Size,
	}
	if !after.Present {
		first, last := m.bounds()
		from, to := int32(first), int32(last)
		shown.From, shown.To = &from, &to
		return shown
	}
	last := int32(after.Value)
	if n := len(l.Rows); n > 0 {
		last = int32(l.Rows[n-1].ID)
	}
	shown.HasMoreResults, shown.SearchAfter = &l.More, &[]int32{last}
	return shown
}

func bindUser(in *wire.Input) lyceum.UserID { return wire.PathID[lyceum.UserID](in, "user_id") }

func user(d people.Detail) gen.UserDetail {
	shown := gen.UserDetail{
		Email: d.Email, Name: wire.Optional(d.Name), Src: wire.Optional(d.Src), Role: string(d.Role),
		LastSignInIP: wire.Optional(d.LastSignInIP), ID: int32(d.ID),
		Courses: []gen.UserCourse{}, Tags: []gen.UserTag{},
	}
	for i := range d.Enrollments {
		e := &d.Enrollments[i]
		shown.Courses = append(shown.Courses, gen.UserCourse{
			CourseID: int32(e.Course), CourseName: e.CourseName, EnrolledAt: wire.Moment(e.EnrolledAt),
			IsActiveEnrollment: e.ActiveAt(d.Now),
			CompletedAt:        wire.OptMoment(e.CompletedAt), PercentComplete: float64(e.PercentComplete),
		})
	}
	for _, name := range d.Tags {
		shown.Tags = append(shown.Tags, gen.UserTag{Name: name})
	}
	return shown
}

// bindNewUser leaves the lengths of strings to the rules, which the consent pages share.
func bindNewUser(in *wire.Input) people.NewUser {
	return people.NewUser{
		Email:    in.Body("email").Required().Text(1, wire.Unbounded).Value,
		Name:     in.Body("name").Text(0, wire.Unbounded),
		Password: in.Body("password").Text(0, wire.Unbounded),
		Src:      in.Body("src").Text(0, wire.Unbounded),
	}
}

func (f *Face) createUser(ctx context.Context, by lyceum.By, n people.NewUser) (people.Detail, error) {
	return f.People.Create(ctx, by, n, f.Doors.Hash)
}

func (f *Face) updateUser(ctx context.Context, by lyceum.By, c people.Change) (people.Detail, error) {
	return f.People.Update(ctx, by, c, f.Doors)
}

func bindUserChange(in *wire.Input) people.Change {
	c := people.Change{User: bindUser(in)}
	if name := in.Body("name"); name.Given() {
		c.Name = lyceum.Some(name.Text(0, wire.Unbounded))
	}
	if src := in.Body("src"); src.Given() {
		c.Src = lyceum.Some(src.Text(0, wire.Unbounded))
	}
	return c
}
