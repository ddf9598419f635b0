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

// Hasher makes the hash that is kept of a password, and tells whether it is one
// of the first that others would try, so that the user must choose another. It
// may wait for a free processor, and refuses with RateLimited when none becomes
// free.
type Hasher func(
	ctx context.Context, by lyceum.By, email, password string,
) (hash lyceum.Opt[string], common bool, err error)

// reach is the row at which a list by page ends (contract/v1.yaml,
// ListUsers); search_after has no end.
const reach = 10_000

// List lists users by ascending id. With f.After, which says where to begin,
// the page's number is 1 whatever it was.
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

// Detail is a user with their tags and, of each course they were ever enrolled
// in, the latest enrollment, the newest first.
type Detail struct {
	lyceum.User

	Tags        []string
	Enrollments []lyceum.Enrolled
	Now         time.Time // by which an enrollment is active
}

// Show shows a user.
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

// detail is what a user who was just saved has besides.
func (s *Service) detail(ctx context.Context, by lyceum.By, user lyceum.User) (d Detail, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) (err error) {
		d, err = s.detailOf(v, user)
		return err
	})
	return d, err
}

// afterChange returns what is shown after a change. Where the database fails then, the change is
// kept all the same, and an error may not say otherwise.
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
		case later(&e, &d.Enrollments[i], d.Now):
			d.Enrollments[i] = e
		}
	}
	slices.SortStableFunc(d.Enrollments, func(a, b lyceum.Enrolled) int { return b.EnrolledAt.Compare(a.EnrolledAt) })
	return d, nil
}

// later reports whether an enrollment in the same course says more of today: access that
// opens again begins when it did the first time, and may have begun before what has ended.
func later(a, b *lyceum.Enrolled, now time.Time) bool {
	if active := a.ActiveAt(now); active != b.ActiveAt(now) {
		return active
	}
	return a.EnrolledAt.After(b.EnrolledAt)
}

// NewUser is what is said of a user who is to be created.
type NewUser struct {
	Email               string
	Name, Password, Src lyceum.Opt[string]
}

// The bounds of what is said of a user.
const (
	minPassword = 6 // contract/v1.yaml
	MaxPassword = 256
	MaxEmail    = 254 // RFC 5321, section 4.5.3.1
	MaxUserText = 255
)

// Create creates a student. One who has the address already is shown and left
// as they are.
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

// welcome keeps a new user and tells of them.
func welcome(tx lyceum.Tx, user lyceum.User) error {
	err := tx.Users.Insert(tx, user)
	tx.Announce(lyceum.UserCreated, int32(user.ID), lyceum.UserCreatedEvent, "")
	return err
}

// CheckAddress refuses what cannot be the address or the name of a user.
func (s *Service) CheckAddress(email string, name lyceum.Opt[string]) error {
	return (&NewUser{Email: email, Name: name}).check()
}

// Register gives the user with an address, and makes a student of whoever has
// it where there is none. The address that stands for one who was erased is theirs.
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

// IsAddress reports whether a text can be the address of a user. Those at invalid
// are nobody's (RFC 2606), and stand for people who were erased.
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

// filled is a text that has letters; one without is none.
func filled(text lyceum.Opt[string]) lyceum.Opt[string] {
	if strings.TrimSpace(text.Value) == "" {
		return lyceum.None[string]()
	}
	return text
}

// Change is what becomes of a user's name and source: absent leaves one, and
// an absent text in it clears it.
type Change struct {
	User      lyceum.UserID
	Name, Src lyceum.Opt[lyceum.Opt[string]]
}

// Update changes a user.
func (s *Service) Update(ctx context.Context, by lyceum.By, c Change) (Detail, error) {
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
	return afterChange(s.detail(ctx, by, user))
}

// renamed is what User.updated tells besides the user.
type renamed struct {
	OldName  string `json:"old_name"`
	NewName  string `json:"new_name"`
	OldEmail string `json:"old_email"`
	NewEmail string `json:"new_email"`
}
