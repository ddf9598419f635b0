// Package people has the rules for a school's users: who may be imported, created, changed and
// erased.
//
// It must not know HTTP, SQL or a file format.
package people

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service has the rules for users.
type Service struct {
	store lyceum.Store
	clock func() time.Time

	Elsewhere Elsewhere // nil: there is no other place
}

// New returns a service that uses a store.
func New(store lyceum.Store, clock func() time.Time) *Service {
	return &Service{store: store, clock: clock}
}

// Each visits the users of a school by ascending id, all from one snapshot. It includes erased
// users, because sales refer to them.
func (s *Service) Each(ctx context.Context, by lyceum.By, visit func(*lyceum.User) error) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	return v.Users.Each(v, lyceum.UserFilter{Erased: true}, visit)
}

// Import imports the users of one school, batch by batch. A user who exists already, by id, is
// updated and keeps their password; importing the same batch twice changes nothing.
//
// A row without a role keeps a known user's role and makes a new one a student; a row without a
// creation time keeps a known user's and creates a new one now; a row without a name or src
// keeps a known user's. An address must not be that of another user, ignoring case, and nobody
// becomes the owner only by having the owner's id. An owner who can sign in is left in the school.
type Import struct {
	service *Service
	by      lyceum.By
	// leading says of rows that were checked but not saved yet whether they are about an owner
	// who can sign in.
	leading map[lyceum.UserID]bool
}

// Import begins an import into a school.
func (s *Service) Import(by lyceum.By) *Import {
	return &Import{service: s, by: by, leading: map[lyceum.UserID]bool{}}
}

// Check returns the problems of the rows of a batch that cannot be imported, and saves nothing.
func (i *Import) Check(ctx context.Context, batch []lyceum.User) ([]lyceum.RowProblem, error) {
	v := i.service.store.In(ctx, i.by.School)
	kept, bad, err := i.examine(v.Users, v, batch)
	if err != nil {
		return nil, err
	}
	for _, row := range lyceum.WithoutProblems(batch, bad) {
		if was, is := leading(row, kept[row.ID]); was || is {
			i.leading[row.ID] = is
		}
	}
	return bad, nil
}

// Save saves the rows of a batch that have no problem, all in one write, and returns the
// problems of the others.
func (i *Import) Save(ctx context.Context, batch []lyceum.User) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	var bad []lyceum.RowProblem
	now := i.service.clock()
	clear(i.leading) // from now on they are in the database
	err := i.service.store.Write(ctx, i.by.StampMany(now), func(tx lyceum.Tx) error {
		var kept map[lyceum.UserID]lyceum.User
		var err error
		if kept, bad, err = i.examine(tx.Users, tx, batch); err != nil {
			return err
		}
		rows := append([]lyceum.User(nil), lyceum.WithoutProblems(batch, bad)...)
		for n := range rows {
			old := kept[rows[n].ID]
			complete(&rows[n], old, now)
			if err := leave(tx, &old, &rows[n], now); err != nil {
				return err
			}
		}
		saved, err = tx.Users.Save(tx, rows...)
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import users: %w", err)
	}
	return saved, bad, nil
}

// usersTable is the table of users.
type usersTable = lyceum.Table[lyceum.UserID, lyceum.User, lyceum.UserFilter]

// examine returns the users that have the ids of a batch, and the problems of the rows that cannot
// be imported.
func (i *Import) examine(
	users usersTable, from lyceum.Source, batch []lyceum.User,
) (kept map[lyceum.UserID]lyceum.User, bad []lyceum.RowProblem, err error) {
	kept, byEmail, err := known(users, from, batch)
	if err != nil {
		return nil, nil, err
	}
	bad = problems(batch, kept, byEmail)
	last, err := i.ownerless(users, from, batch, kept, bad)
	return kept, append(bad, last...), err
}

// known returns the users that have the ids of a batch, and the ids of those that have its
// addresses, by address in lower case.
func known(
	users usersTable, from lyceum.Source, batch []lyceum.User,
) (kept map[lyceum.UserID]lyceum.User, byEmail map[string]lyceum.UserID, err error) {
	ids := make([]lyceum.UserID, len(batch))
	for n := range batch {
		ids[n] = batch[n].ID
	}
	kept, byEmail = make(map[lyceum.UserID]lyceum.User, len(batch)), map[string]lyceum.UserID{}
	for part := range slices.Chunk(ids, lyceum.MaxUsers) {
		err = users.Each(from, lyceum.UserFilter{IDs: part, Erased: true}, func(user *lyceum.User) error {
			kept[user.ID] = *user
			byEmail[strings.ToLower(user.Email)] = user.ID
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	var others []string
	for n := range batch {
		if _, found := byEmail[strings.ToLower(batch[n].Email)]; !found {
			others = append(others, batch[n].Email)
		}
	}
	if len(others) == 0 {
		return kept, byEmail, nil
	}
	err = users.Each(from, lyceum.UserFilter{Emails: others}, func(user *lyceum.User) error {
		byEmail[strings.ToLower(user.Email)] = user.ID
		return nil
	})
	return kept, byEmail, err
}

// complete fills in what a row leaves out. kept is the zero User for a new one.
func complete(row *lyceum.User, kept lyceum.User, now time.Time) {
	if row.Email == lyceum.ErasedEmail(row.ID) {
		completeErased(row, kept, now)
		return
	}
	if kept.ID == 0 {
		kept = lyceum.User{Role: lyceum.Student, CreatedAt: lyceum.Second(now)}
	}
	if row.Role == "" {
		row.Role = kept.Role
	}
	if row.CreatedAt.IsZero() {
		row.CreatedAt = kept.CreatedAt
	}
	if !row.Name.Present {
		row.Name = kept.Name
	}
	if !row.Src.Present {
		row.Src = kept.Src
	}
	if !row.LastSignInAt.Present {
		row.LastSignInAt = kept.LastSignInAt
	}
	if !row.LastSignInIP.Present {
		row.LastSignInIP = kept.LastSignInIP
	}
	if !row.PhoneNumber.Present {
		row.PhoneNumber = kept.PhoneNumber
	}
	if !row.Marketing.Present {
		row.Marketing = kept.Marketing
	}
	if !row.Notes.Present {
		row.Notes = kept.Notes
	}
	if !row.DisabledAt.Present {
		row.DisabledAt = kept.DisabledAt
	}
	if !row.PasswordHash.Present && samePerson(&kept, row) {
		row.PasswordHash, row.MustChangePassword = kept.PasswordHash, kept.MustChangePassword
	}
}

// samePerson reports whether a row is about the person that the school has under its id. A user
// with another address may be another person.
func samePerson(kept, row *lyceum.User) bool { return strings.EqualFold(row.Email, kept.Email) }

// leave ends everything that lets the person in whom the school has under the id of a row, and
// the access of apps that act for them, if the row is about another person or disables them.
// Nobody could ever sign in at a placeholder's address.
func leave(tx lyceum.Tx, kept, row *lyceum.User, now time.Time) error {
	same := samePerson(kept, row) || strings.HasSuffix(kept.Email, "@missing.invalid")
	disabled := row.DisabledAt.Present && !kept.DisabledAt.Present
	if kept.ID == 0 || same && !disabled {
		return nil
	}
	if disabled {
		tx.Note(lyceum.UserDisabled, int32(kept.ID))
	}
	if err := lyceum.EndAccess(tx, kept.ID, now); err != nil || same {
		return err
	}
	return lyceum.DropSecondFactor(tx, kept.ID)
}

// completeErased turns a row into that of an erased person, of whom nothing else is known.
func completeErased(row *lyceum.User, kept lyceum.User, now time.Time) {
	erased := lyceum.User{
		ID: row.ID, Email: row.Email, Role: row.Role, CreatedAt: row.CreatedAt, DisabledAt: row.DisabledAt,
		ErasedAt: lyceum.Some(lyceum.Second(now)),
	}
	if kept.ID != 0 {
		erased = kept
	}
	if erased.Role == "" {
		erased.Role = lyceum.Student
	}
	if erased.CreatedAt.IsZero() {
		erased.CreatedAt = lyceum.Second(now)
	}
	*row = erased
}

// problems returns the problems of rows that cannot be imported, given the stored users with
// their ids and the owners of their addresses.
func problems(
	batch []lyceum.User, kept map[lyceum.UserID]lyceum.User, byEmail map[string]lyceum.UserID,
) []lyceum.RowProblem {
	var bad []lyceum.RowProblem
	refuse := func(n int, field, message string) {
		bad = append(bad, lyceum.RowProblem{Index: n, FieldError: lyceum.FieldError{Field: field, Message: message}})
	}
	for n := range batch {
		row, key := &batch[n], strings.ToLower(batch[n].Email)
		if old := kept[row.ID]; row.Role == "" && old.Role == lyceum.Owner && !strings.EqualFold(row.Email, old.Email) {
			refuse(n, "id", fmt.Sprintf("%d is the school's owner, with another email address; set the row's role to "+
				"owner to replace them, or use another id", row.ID))
			continue
		}
		old := kept[row.ID]
		if row.Email == lyceum.ErasedEmail(row.ID) && (old.ID == 0 || old.Erased()) && row.Role != lyceum.Owner {
			continue
		}
		if old.Erased() {
			refuse(n, "id", fmt.Sprintf("%d was a person who was erased; leave the row out, or use another id", row.ID))
			continue
		}
		if strings.HasSuffix(key, "@invalid") {
			refuse(n, "email", "must not end with @invalid, which stands for people who were erased")
			continue
		}
		if id, taken := byEmail[key]; taken && id != row.ID {
			refuse(n, "email", fmt.Sprintf("is already the email address of user %d; every user needs their own", id))
			continue
		}
		byEmail[key] = row.ID
	}
	return bad
}

// leads reports whether somebody is an owner who can sign in.
func leads(u *lyceum.User) bool {
	return u.Role == lyceum.Owner && !u.DisabledAt.Present && !u.Erased()
}

// leading reports whether a row is about an owner who can sign in, before and after it is imported.
// kept is the zero User for a new one.
func leading(row, kept lyceum.User) (was, is bool) {
	if was = leads(&kept); was || row.Role == lyceum.Owner {
		complete(&row, kept, time.Time{})
		is = leads(&row)
	}
	return was, is
}

// ownerless returns a problem for each row that would leave the school without an owner who can
// sign in, given the problems that the rows have besides.
func (i *Import) ownerless(
	users usersTable, from lyceum.Source, batch []lyceum.User, kept map[lyceum.UserID]lyceum.User,
	bad []lyceum.RowProblem,
) (problems []lyceum.RowProblem, err error) {
	refused := make(map[int]bool, len(bad))
	for _, p := range bad {
		refused[p.Index] = true
	}
	var leaving []int
	owners := map[lyceum.UserID]bool{}
	for n := range batch {
		if refused[n] {
			continue
		}
		switch was, is := leading(batch[n], kept[batch[n].ID]); {
		case is:
			owners[batch[n].ID] = true
		case was:
			leaving = append(leaving, n)
		}
	}
	if len(leaving) == 0 {
		return nil, nil
	}
	err = users.Each(from, lyceum.UserFilter{Owners: true, Enabled: true}, func(user *lyceum.User) error {
		if is, checked := i.leading[user.ID]; is || !checked {
			owners[user.ID] = true
		}
		return nil
	})
	for id, is := range i.leading {
		if is {
			owners[id] = true
		}
	}
	for _, n := range leaving {
		id := batch[n].ID
		if delete(owners, id); len(owners) > 0 {
			continue
		}
		owners[id] = true
		field, must := "role", "owner"
		if role := batch[n].Role; role == lyceum.Owner || role == "" {
			field, must = "disabled_at", "empty"
		}
		problems = append(problems, lyceum.RowProblem{Index: n, FieldError: lyceum.FieldError{
			Field: field, Message: fmt.Sprintf("must be %s: user %d is the last owner who can sign in; import another "+
				"owner first, or use another id", must, id),
		}})
	}
	return problems, err
}
