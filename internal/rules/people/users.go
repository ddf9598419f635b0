package people

import (
	"context"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// Hasher hashes a password for storage, and reports whether it is a common one that attackers
// would try first, so that the user must choose another. It may wait for a free processor, and
// fails with RateLimited if none becomes free.
type Hasher func(
	ctx context.Context, by lyceum.By, email, password string,
) (hash lyceum.Opt[string], common bool, err error)

// reach is the number of rows that a list by page can reach (contract/v1.yaml, ListUsers);
// search_after has no limit.
const reach = 10_000

// List lists users by ascending id. With f.After, which sets where the list begins, the page
// number is always 1.
func (s *Service) List(
	ctx context.Context, by lyceum.By, f lyceum.UserFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.UserSummary], error) {
	switch {
	case f.After.Present:
		p.Number = 1
	case p.Offset() >= reach:
		return lyceum.Listing[lyceum.UserSummary]{}, lyceum.InvalidFields(lyceum.FieldError{
			Field: "page", Message: "reaches past the 10,000th user; use search_after with the last id of the previous page",
		})
	}
	v := s.store.In(ctx, by.School)
	return v.UserSummaries.List(v, f, p)
}

// Detail is a user with their tags and, for each course they were ever enrolled in, the latest
// enrollment, the newest first.
type Detail struct {
	lyceum.User

	Tags        []string
	Enrollments []lyceum.Enrolled
	Now         time.Time // the time at which enrollments are active or not
}

// Show returns a user with their details.
func (s *Service) Show(ctx context.Context, by lyceum.By, id lyceum.UserID) (d Detail, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		user, err := v.Users.Get(v, id)
		if err == nil {
			d, err = s.detailOf(v, user)
		}
		return err
	})
	return d, err
}

// detail returns the details of a user who was just saved.
func (s *Service) detail(ctx context.Context, by lyceum.By, user lyceum.User) (d Detail, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) (err error) {
		d, err = s.detailOf(v, user)
		return err
	})
	return d, err
}

// afterChange returns what is shown after a change. If the database fails at that point, the
// change is saved nevertheless, and the error must say so.
func afterChange[T any](shown T, err error) (T, error) {
	if err != nil && lyceum.KindOf(err) == lyceum.Unavailable {
		err = &lyceum.Error{
			Kind: lyceum.Unavailable, Code: lyceum.OutcomeUnknown, Err: err, Detail: "the change was saved, but the database " +
				"could not be reached to show the result; check before you retry, or retry with the same Idempotency-Key",
		}
	}
	return shown, err
}

func (s *Service) detailOf(v lyceum.View, user lyceum.User) (Detail, error) {
	d := Detail{User: user, Now: s.clock()}
	var err error
	if d.Tags, err = tagsOf(v, user.ID); err != nil {
		return Detail{}, err
	}
	all, err := v.FindEnrolledOf(user.ID)
	if err != nil {
		return Detail{}, err
	}
	at := map[lyceum.CourseID]int{}
	for _, e := range slices.Backward(all) {
		i, seen := at[e.Course]
		switch {
		case !seen:
			at[e.Course] = len(d.Enrollments)
			d.Enrollments = append(d.Enrollments, e)
		case e.Outranks(&d.Enrollments[i].Enrollment, d.Now):
			d.Enrollments[i] = e
		}
	}
	slices.SortStableFunc(d.Enrollments, func(a, b lyceum.Enrolled) int { return b.EnrolledAt.Compare(a.EnrolledAt) })
	return d, nil
}

// NewUser is a user to create.
type NewUser struct {
	Email               string
	Name, Password, Src lyceum.Opt[string]
}

// Limits of a user's fields.
const (
	minPassword = 6 // contract/v1.yaml
	MaxPassword = 256
	MaxEmail    = 254 // RFC 5321, section 4.5.3.1
	MaxUserText = 255
)

// Create creates a student. If a user has the address already, it returns that user unchanged.
func (s *Service) Create(ctx context.Context, by lyceum.By, n NewUser, hash Hasher) (Detail, error) {
	if err := n.check(); err != nil {
		return Detail{}, err
	}
	user := lyceum.User{Email: n.Email, Name: filled(n.Name), Src: filled(n.Src), Role: lyceum.Student}
	v, same := s.store.In(ctx, by.School), lyceum.UserFilter{Email: lyceum.Some(n.Email)}
	switch kept, found, err := v.Users.First(v, same); {
	case err != nil:
		return Detail{}, err
	case found:
		return s.detail(ctx, by, kept)
	}
	if n.Password.Present {
		var err error
		if user.PasswordHash, user.MustChangePassword, err = hash(ctx, by, n.Email, n.Password.Value); err != nil {
			return Detail{}, err
		}
	}
	now := s.clock()
	user.CreatedAt = lyceum.Second(now)
	var made lyceum.User
	err := s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		id, err := tx.Users.NextID(tx)
		if err != nil {
			return err
		}
		kept, found, err := tx.Users.First(tx, same)
		if err != nil || found {
			made = kept
			return err
		}
		made = user
		made.ID = id
		return welcome(tx, made)
	})
	if err != nil {
		return Detail{}, err
	}
	return afterChange(s.detail(ctx, by, made))
}

// welcome inserts a new user and announces them.
func welcome(tx lyceum.Tx, user lyceum.User) error {
	err := tx.Users.Insert(tx, user)
	tx.Announce(lyceum.UserCreated, int32(user.ID), lyceum.UserCreatedEvent, "")
	return err
}

// CheckAddress rejects an address or a name that a user cannot have.
func (s *Service) CheckAddress(email string, name lyceum.Opt[string]) error {
	return (&NewUser{Email: email, Name: name}).check()
}

// Register returns the user with an address, and creates a student if there is none. The address
// that represents an erased person belongs to that person.
func (s *Service) Register(tx lyceum.Tx, now time.Time, email string, name lyceum.Opt[string]) (lyceum.UserID, error) {
	id, err := tx.Users.NextID(tx)
	if err != nil {
		return 0, err
	}
	kept, found, err := tx.Users.First(tx, lyceum.UserFilter{Email: lyceum.Some(email), Erased: true})
	if err != nil || found {
		return kept.ID, err
	}
	return id, welcome(tx, lyceum.User{
		ID: id, Email: email, Name: filled(name), Role: lyceum.Student,
		CreatedAt: lyceum.Second(now),
	})
}

const addressTaken = "must be an email address such as learner@example.com"

// IsAddress reports whether a string can be the address of a user. Addresses at invalid belong
// to nobody (RFC 2606), and represent people who were erased.
func IsAddress(email string) bool {
	at, err := mail.ParseAddress(email)
	return err == nil && at.Address == email && len(email) <= MaxEmail && !strings.HasSuffix(email, "@invalid")
}

func (n *NewUser) check() error {
	var wrong []lyceum.FieldError
	refuse := func(field, message string) {
		wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
	}
	if !IsAddress(n.Email) {
		refuse("email", addressTaken)
	}
	if length := utf8.RuneCountInString(n.Password.Value); n.Password.Present &&
		(length < minPassword || length > MaxPassword) {
		refuse("password", "must have 6 to 256 characters")
	}
	return refused(append(wrong, checkTexts(n.Name, n.Src)...))
}

func checkTexts(name, src lyceum.Opt[string]) (wrong []lyceum.FieldError) {
	for _, text := range []struct {
		field string
		value lyceum.Opt[string]
	}{{"name", name}, {"src", src}} {
		if message := lyceum.CheckText(text.value.Value, 0, MaxUserText); message != "" {
			wrong = append(wrong, lyceum.FieldError{Field: text.field, Message: message})
		}
	}
	return wrong
}

func refused(wrong []lyceum.FieldError) error {
	if len(wrong) == 0 {
		return nil
	}
	return lyceum.InvalidFields(wrong...)
}

// filled returns a text, or none if it is blank.
func filled(text lyceum.Opt[string]) lyceum.Opt[string] {
	if strings.TrimSpace(text.Value) == "" {
		return lyceum.None[string]()
	}
	return text
}

// Change is a change to a user's name and source. An absent field stays unchanged, and an absent
// text in it clears the field.
type Change struct {
	User      lyceum.UserID
	Name, Src lyceum.Opt[lyceum.Opt[string]]
}

// Update changes a user.
func (s *Service) Update(ctx context.Context, by lyceum.By, c Change, d Doors) (Detail, error) {
	if err := refused(checkTexts(c.Name.Value, c.Src.Value)); err != nil {
		return Detail{}, err
	}
	var user lyceum.User
	err := s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		var err error
		if user, err = tx.Users.Get(tx, c.User); err != nil {
			return err
		}
		before := user
		if c.Name.Present {
			user.Name = filled(c.Name.Value)
		}
		if c.Src.Present {
			user.Src = filled(c.Src.Value)
		}
		if user == before {
			return nil
		}
		return change(tx, &before, &user)
	})
	if err != nil {
		return Detail{}, err
	}
	d.Forget()
	return afterChange(s.detail(ctx, by, user))
}

// renamed has the fields of User.updated besides those of the user.
type renamed struct {
	OldName  *string `json:"old_name"` // nil if the user had none, like NewName
	NewName  *string `json:"new_name"`
	OldEmail string  `json:"old_email"`
	NewEmail string  `json:"new_email"`
}

func renaming(before, user *lyceum.User) renamed {
	r := renamed{OldEmail: before.Email, NewEmail: user.Email}
	if before.Name.Present {
		r.OldName = &before.Name.Value
	}
	if user.Name.Present {
		r.NewName = &user.Name.Value
	}
	return r
}
