package apiv2

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

func (f *Face) users() []wire.Operation {
	const each = usersPath + "/{user_id}"
	return []wire.Operation{
		many("listUsers", usersPath, perPage, bindUsers, f.people.Profiles, user),
		one("createUser", wire.Create, usersPath, bindNewUser, f.createUser, user),
		one("showUser", wire.Get, each, oneUser, f.people.Profile, measuredUser),
		one("updateUser", wire.Patch, each, bindUserChange, f.updateUser, user),
		erasing(wire.New("deleteUser", wire.Delete, each, wire.Serve(
			oneUser, wire.Rendered(refusing(f.eraseUser), wire.As("", erasure))))),
	}
}

var oneUser = wire.ByID[lyceum.UserID]("user_id")

func bindUsers(in *wire.Input) lyceum.UserFilter {
	keys := map[string]lyceum.UserKey{
		"id": lyceum.UserByID, "name": lyceum.UserByName, "email": lyceum.UserByEmail,
		"created_at": lyceum.UserByCreated, "updated_at": lyceum.UserByUpdated, "last_sign_in_at": lyceum.UserBySignIn,
	}
	key := wire.OneOf(in.Query("sort_by"), "id", "name", "email", "created_at", "updated_at", "last_sign_in_at")
	q := lyceum.UserFilter{
		Name: in.Query("name").Text(1, wire.Unbounded), Email: in.Query("email").Text(1, wire.Unbounded),
		Created: wire.Period(in.Query("created_after"), in.Query("created_before")),
		Order: lyceum.UserOrder{
			By: keys[key.Value], Descending: wire.OneOf(in.Query("sort_direction"), "asc", "desc").Value == "desc",
		},
	}
	if id := wire.AnyInt[lyceum.UserID](in.Query("user_id")); id.Present {
		q.IDs = []lyceum.UserID{id.Value}
	}
	if role := in.Query("role").Text(1, wire.Unbounded); role.Present {
		q.Role = lyceum.Some(lyceum.Role(role.Value))
	}
	return q
}

func bindNewUser(in *wire.Input) people.Account {
	b, a := in.Body, bindAccount(in)
	a.Name = lyceum.Some(b("name").Required().Text(1, people.MaxUserText))
	a.Email = b("email").Required().Text(1, people.MaxEmail)
	a.Role = bindRole(b("role").Required())
	a.Notes = b("notes").Text(0, lyceum.MaxUserNotes)
	return a
}

func bindUserChange(in *wire.Input) people.Account {
	b, a := in.Body, bindAccount(in)
	a.User = oneUser(in)
	if b("name").Given() {
		a.Name = lyceum.Some(b("name").Text(0, people.MaxUserText))
	}
	a.Email, a.Role = b("email").Text(0, people.MaxEmail), bindRole(b("role"))
	return a
}

func bindRole(f wire.Field) lyceum.Opt[lyceum.Role] {
	return wire.OneOfOrNull(f, lyceum.Student, lyceum.Owner, lyceum.Author, lyceum.Affiliate)
}

// bindAccount binds the members that creating and updating a user share.
func bindAccount(in *wire.Input) people.Account {
	b := in.Body
	return people.Account{
		Password:       b("password").Text(0, people.MaxPassword),
		Marketing:      b("allow_marketing_emails").Bool(),
		AuthorShare:    b("author_revenue_share").Fraction(0),
		AffiliateShare: b("affiliate_revenue_share").Fraction(0),
	}
}

func (f *Face) createUser(ctx context.Context, by lyceum.By, a people.Account) (people.Profile, error) {
	return f.people.CreateAccount(ctx, by, a, f.doors)
}

func (f *Face) updateUser(ctx context.Context, by lyceum.By, a people.Account) (people.Profile, error) {
	return f.people.UpdateAccount(ctx, by, a, f.doors)
}

// erasing marks an operation that is accepted now and completed later (202).
func erasing(op wire.Operation) wire.Operation {
	op.Success = http.StatusAccepted
	return op
}

func (f *Face) eraseUser(ctx context.Context, by lyceum.By, id lyceum.UserID) (people.Erased, error) {
	return f.people.Erase(ctx, by, id, f.doors)
}

func erasure(e people.Erased) gen.Message {
	message := fmt.Sprintf("User %d is being erased; within a minute nothing is left of them but what they bought. "+
		"Backups from before still have them", e.User)
	for i, b := range e.Backups {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		message += fmt.Sprintf("%s%s (last day %s", separator, filepath.Base(b.Path), b.LastDay.UTC().Format(time.DateOnly))
		if b.Files != "" {
			message += ", uploaded files in " + filepath.Base(b.Files)
		}
		message += ")"
	}
	return gen.Message{Message: message + "."}
}

func user(p people.Profile) gen.User {
	shown := gen.User{
		ID: int32(p.ID), Email: p.Email, Name: p.Name.Value, PhoneNumber: wire.Optional(p.PhoneNumber),
		Role: gen.UserRole(p.Role), AuthorBioID: wire.Number(p.Author),
		FirstEnrolledAt: wire.OptMoment(p.FirstEnrolled), LastSignInAt: wire.OptMoment(p.LastSignInAt),
		CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt),
	}
	if p.Role.Custom() {
		shown.Role = gen.UserRole(lyceum.Student)
	}
	return shown
}

func measuredUser(m people.MeasuredProfile) gen.UserWithMetrics {
	u := user(m.Profile)
	return gen.UserWithMetrics{
		ID: u.ID, Email: u.Email, Name: u.Name, PhoneNumber: u.PhoneNumber, Role: gen.UserWithMetricsRole(u.Role),
		AuthorBioID: u.AuthorBioID, FirstEnrolledAt: u.FirstEnrolledAt, LastSignInAt: u.LastSignInAt,
		CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
		Metrics: gen.UserMetrics{
			Transactions: gen.TransactionMetrics{Count: int32(m.Transactions), TotalSpent: int64(m.Spent)},
			Enrollments:  gen.EnrollmentMetrics{Count: int32(m.Courses)},
			Quizzes:      gen.QuizMetrics{Total: int32(m.Quizzes), Passed: int32(m.Passed)},
		},
	}
}
