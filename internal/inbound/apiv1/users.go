package apiv1

import (
	"context"
	"encoding/json"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

func bindListUsers(in *wire.Input) gen.ListUsersParams {
	return gen.ListUsersParams{Email: in.Words("email"), Page: in.Int32From("page", 1), Per: in.Int32From("per", 1), SearchAfter: in.Int32From("search_after", 0)}
}

// ListUsers serves GET /v1/users.
func (f *Face) ListUsers(ctx context.Context, who wire.Principal, q gen.ListUsersParams) (userList, error) {
	filter := lyceum.UserFilter{Email: wire.Opt(q.Email), After: wire.OptNumber[lyceum.UserID](q.SearchAfter)}
	listing, err := f.people.List(ctx, who.Caller.School, filter, pageFrom(q.Page, q.Per))
	return userList{listing, filter.After}, err
}

// userList is gen.UserList on its way out, appended by hand.
type userList struct {
	lyceum.UserListing

	after lyceum.Opt[lyceum.UserID]
}

// AppendJSON implements wire.Body.
func (l userList) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"users":[`...)
	for i := range l.Users {
		u := &l.Users[i]
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
	meta, err := json.Marshal(userMeta(&l.UserListing, l.after))
	return append(append(append(b, `],"meta":`...), meta...), '}'), err
}

// userMeta says with search_after where to go on (contract/v1.yaml,
// UserListMeta).
func userMeta(l *lyceum.UserListing, after lyceum.Opt[lyceum.UserID]) gen.UserListMeta {
	m := metaOf(l.Total, l.Page, len(l.Users))
	meta := gen.UserListMeta{Page: m.Page, Total: m.Total, NumberOfPages: m.NumberOfPages, PerPage: m.PerPage}
	if !after.Present {
		meta.From, meta.To = &m.From, &m.To
		return meta
	}
	last := int32(after.Value)
	if n := len(l.Users); n > 0 {
		last = int32(l.Users[n-1].ID)
	}
	meta.HasMoreResults, meta.SearchAfter = &l.More, &[]int32{last}
	return meta
}

func bindUser(in *wire.Input) lyceum.UserID { return lyceum.UserID(in.PathID("user_id")) }

// ShowUser serves GET /v1/users/{user_id}.
func (f *Face) ShowUser(ctx context.Context, who wire.Principal, id lyceum.UserID) (wire.JSON, error) {
	return userDetail(f.people.Show(ctx, who.Caller.School, id))
}

func userDetail(d people.Detail, err error) (wire.JSON, error) {
	if err != nil {
		return wire.JSON{}, err
	}
	shown := gen.UserDetail{
		Email: d.Email, Name: wire.Optional(d.Name), Src: wire.Optional(d.Src), Role: string(d.Role), LastSignInIP: wire.Optional(d.LastSignInIP), ID: int32(d.ID),
		Courses: []gen.UserCourse{}, Tags: []gen.UserTag{},
	}
	for i := range d.Enrollments {
		e := &d.Enrollments[i]
		shown.Courses = append(shown.Courses, gen.UserCourse{
			CourseID: int32(e.Course), CourseName: e.CourseName, EnrolledAt: wire.Moment(e.EnrolledAt), IsActiveEnrollment: e.ActiveAt(d.Now),
			CompletedAt: wire.OptMoment(e.CompletedAt), PercentComplete: float64(e.PercentComplete),
		})
	}
	for _, name := range d.Tags {
		shown.Tags = append(shown.Tags, gen.UserTag{Name: name})
	}
	return wire.JSON{Value: shown}, nil
}

func bindCreateUser(in *wire.Input) people.NewUser {
	in.ReadJSON()
	return people.NewUser{Email: in.RequiredText("email"), Name: in.Text("name"), Password: in.Text("password"), Src: in.Text("src")}
}

// CreateUser serves POST /v1/users.
func (f *Face) CreateUser(ctx context.Context, who wire.Principal, n people.NewUser) (wire.JSON, error) {
	return userDetail(f.people.Create(ctx, who.Caller.School, n, f.hash, who.Caller.Actor()))
}

// userChange is what UpdateUser is asked.
type userChange struct {
	id     lyceum.UserID
	change people.Change
}

func bindUpdateUser(in *wire.Input) userChange {
	q := userChange{id: bindUser(in)}
	in.ReadJSON()
	if in.Has("name") {
		q.change.Name = lyceum.Some(in.Text("name"))
	}
	if in.Has("src") {
		q.change.Src = lyceum.Some(in.Text("src"))
	}
	return q
}

// UpdateUser serves PATCH /v1/users/{user_id}.
func (f *Face) UpdateUser(ctx context.Context, who wire.Principal, q userChange) (wire.JSON, error) {
	return userDetail(f.people.Update(ctx, who.Caller.School, q.id, q.change, who.Caller.Actor()))
}
