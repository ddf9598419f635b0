// Package people decides about a school's users: who may be taken in and what
// becomes of those who are there already.
//
// It must not know HTTP, SQL or a file format.
package people

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service takes users in.
type Service struct {
	store lyceum.Store
	clock func() time.Time
}

// New makes the service over a store.
func New(store lyceum.Store, clock func() time.Time) *Service {
	return &Service{store: store, clock: clock}
}

// Each visits the users of a school by ascending id, all of one moment.
func (s *Service) Each(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.User) error) error {
	if _, err := s.store.GetSchool(ctx, school); err != nil {
		return err
	}
	return s.store.EachUser(ctx, school, visit)
}

// Import takes users of one school in, batch by batch. A user who is there
// already, by id, is brought up to date and keeps their password; the same
// batch twice changes nothing.
//
// A row without a role leaves a known user's role and makes a new one a
// student; a row without a creation time leaves a known user's and makes a new
// one now. An address must not be that of another user, whatever its case.
type Import struct {
	service *Service
	school  lyceum.SchoolID
	actor   string
}

// Import begins an import into a school.
func (s *Service) Import(school lyceum.SchoolID, actor string) *Import {
	return &Import{service: s, school: school, actor: actor}
}

// Check tells which rows of a batch cannot be kept, and keeps none.
func (i *Import) Check(ctx context.Context, batch []lyceum.User) ([]lyceum.RowProblem, error) {
	return problems(batch, func(emails []string) (map[string]lyceum.UserID, error) {
		return i.service.store.FindUserIDsByEmail(ctx, i.school, emails)
	})
}

// Save keeps the rows of a batch that have no problem, all in one write, and
// gives the problems of the others.
func (i *Import) Save(ctx context.Context, batch []lyceum.User) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	var bad []lyceum.RowProblem
	now := i.service.clock()
	err := i.service.store.Write(ctx, lyceum.Stamp{School: i.school, At: now, Actor: i.actor}, func(tx lyceum.Tx) error {
		var err error
		if bad, err = problems(batch, tx.FindUserIDsByEmail); err != nil {
			return err
		}
		rows := append([]lyceum.User(nil), lyceum.WithoutProblems(batch, bad)...)
		ids := make([]lyceum.UserID, len(rows))
		for n := range rows {
			ids[n] = rows[n].ID
		}
		kept, err := tx.FindUsers(ids)
		if err != nil {
			return err
		}
		for n := range rows {
			complete(&rows[n], kept[rows[n].ID], now)
		}
		saved, err = tx.SaveUsers(rows)
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import users: %w", err)
	}
	return saved, bad, nil
}

// complete gives a row what it does not say. The zero User stands for one who
// is not there yet.
func complete(row *lyceum.User, kept lyceum.User, now time.Time) {
	if kept.ID == 0 {
		kept = lyceum.User{Role: lyceum.Student, CreatedAt: lyceum.Second(now)}
	}
	if row.Role == "" {
		row.Role = kept.Role
	}
	if row.CreatedAt.IsZero() {
		row.CreatedAt = kept.CreatedAt
	}
	if !row.PasswordHash.Present {
		row.PasswordHash = kept.PasswordHash
	}
}

func problems(batch []lyceum.User, byEmail func([]string) (map[string]lyceum.UserID, error)) ([]lyceum.RowProblem, error) {
	emails := make([]string, len(batch))
	for n := range batch {
		emails[n] = batch[n].Email
	}
	owner, err := byEmail(emails)
	if err != nil {
		return nil, err
	}
	var bad []lyceum.RowProblem
	for n := range batch {
		key := strings.ToLower(batch[n].Email)
		if id, taken := owner[key]; taken && id != batch[n].ID {
			bad = append(bad, lyceum.RowProblem{Index: n, FieldError: lyceum.FieldError{
				Field: "email", Message: fmt.Sprintf("is the address of user %d already; every user needs one of their own", id),
			}})
			continue
		}
		owner[key] = batch[n].ID
	}
	return bad, nil
}
