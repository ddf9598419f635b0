// Package people decides about a school's users: who may be taken in and what
// becomes of those who are there already.
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

// Service takes users in.
type Service struct {
	store lyceum.Store
	clock func() time.Time

	Elsewhere Elsewhere // nil: nowhere
}

// New makes the service over a store.
func New(store lyceum.Store, clock func() time.Time) *Service {
	return &Service{store: store, clock: clock}
}

// Each visits the users of a school by ascending id, all of one moment. Those who
// were erased are among them: sales name them.
func (s *Service) Each(ctx context.Context, by lyceum.By, visit func(*lyceum.User) error) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	return v.Users.Each(v, lyceum.UserFilter{Erased: true}, visit)
}

// Import takes users of one school in, batch by batch. A user who is there
// already, by id, is brought up to date and keeps their password; the same
// batch twice changes nothing.
//
// A row without a role leaves a known user's role and makes a new one a
// student; a row without a creation time leaves a known user's and makes a new
// one now; a row without a name or src leaves a known user's. An address must
// not be that of another user, whatever its case, and nobody becomes the owner
// by having the owner's id alone.
type Import struct {
	service *Service
	by      lyceum.By
}

// Import begins an import into a school.
func (s *Service) Import(by lyceum.By) *Import {
	return &Import{service: s, by: by}
}

// Check tells which rows of a batch cannot be kept, and keeps none.
func (i *Import) Check(ctx context.Context, batch []lyceum.User) ([]lyceum.RowProblem, error) {
	v := i.service.store.In(ctx, i.by.School)
	kept, byEmail, err := known(v.Users, v, batch)
	return problems(batch, kept, byEmail), err
}

// Save keeps the rows of a batch that have no problem, all in one write, and
// gives the problems of the others.
func (i *Import) Save(ctx context.Context, batch []lyceum.User) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	var bad []lyceum.RowProblem
	now := i.service.clock()
	err := i.service.store.Write(ctx, i.by.StampMany(now), func(tx lyceum.Tx) error {
		kept, byEmail, err := known(tx.Users, tx, batch)
		if err != nil {
			return err
		}
		bad = problems(batch, kept, byEmail)
		rows := append([]lyceum.User(nil), lyceum.WithoutProblems(batch, bad)...)
		for n := range rows {
			complete(&rows[n], kept[rows[n].ID], now)
		}
		saved, err = tx.Users.Save(tx, rows...)
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import users: %w", err)
	}
	return saved, bad, nil
}

// known finds the users that have the ids of a batch, and those that have its
// addresses, by the address in lower case.
func known(
	users lyceum.Table[lyceum.UserID, lyceum.User, lyceum.UserFilter], from lyceum.Source, batch []lyceum.User,
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

// complete gives a row what it does not say. The zero User stands for one who
// is not there yet.
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
	row.DisabledAt = kept.DisabledAt
	// Whoever has another address may be another person.
	if !row.PasswordHash.Present && strings.EqualFold(row.Email, kept.Email) {
		row.PasswordHash, row.MustChangePassword = kept.PasswordHash, kept.MustChangePassword
	}
}

// completeErased makes a row that of a person who was erased, of whom nothing else
// is known.
func completeErased(row *lyceum.User, kept lyceum.User, now time.Time) {
	erased := lyceum.User{
		ID: row.ID, Email: row.Email, Role: row.Role, CreatedAt: row.CreatedAt, ErasedAt: lyceum.Some(lyceum.Second(now)),
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

// problems says which rows cannot be kept, given the users that have their ids
// and whose their addresses are.
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
