package templates

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// MaxSubject is the maximum length of the template of a subject, and of the subject that it
// renders, in characters.
const MaxSubject = 500

// Message is an email as it is passed to the mail server.
type Message struct {
	ID            string // for Message-ID, without the domain
	To            string
	Subject, Text string
}

// Send sends an email and returns when the mail server has accepted it. The error is of kind
// Invalid if the server will never accept it.
type Send func(ctx context.Context, m Message) error

// Service decides what the emails of schools say, and which are sent.
type Service struct {
	store lyceum.Store
	clock func() time.Time
	o     Options
}

// Options are what a Service needs besides a store.
type Options struct {
	Ring *lyceum.Keyring
	Log  *slog.Logger
	Send Send                // nil: the server has no mail server
	Name func(string) string // makes a name that a user chose safe to show; nil: names are used as they are
}

// New returns a service that uses a store.
func New(store lyceum.Store, clock func() time.Time, o Options) *Service {
	if o.Name == nil {
		o.Name = func(name string) string { return name }
	}
	return &Service{store: store, clock: clock, o: o}
}

// Email is a school's email of one kind.
type Email struct {
	Name          EmailName
	Description   string
	Variables     []Variable
	Subject, Body string
	Optional      bool // the school can turn it on or off
	Enabled       bool // it is on
	// ChangedAt is when the school wrote its own text; absent for Lyceum's text.
	ChangedAt lyceum.Opt[time.Time]
}

// Shown returns the fingerprint of the parts of an email that can be changed.
func (e *Email) Shown() string { return lyceum.Fingerprint(e.Subject, e.Body) }

// Draft is an unsaved subject and body.
type Draft struct {
	Name          EmailName
	Subject, Body lyceum.Opt[string]
	Enabled       lyceum.Opt[bool] // used only by Change
}

// Composed is an email as its recipient reads it.
type Composed struct{ Subject, Text string }

// Emails lists the emails of a school.
func (s *Service) Emails(ctx context.Context, by lyceum.By, _ struct{}) ([]Email, error) {
	v := s.store.In(ctx, by.School)
	own, err := v.EmailTemplates.Find(v, storedKinds()...)
	if err != nil {
		return nil, err
	}
	school, err := v.GetSchool()
	if err != nil {
		return nil, err
	}
	all := make([]Email, len(kinds))
	for i := range kinds {
		all[i] = kinds[i].email(own, school.Emails)
	}
	return all, nil
}

// storedKinds returns the kinds of emails, and the snippet of pages.
func storedKinds() []lyceum.EmailKind {
	all := []lyceum.EmailKind{lyceum.PageSnippet}
	for i := range kinds {
		all = append(all, kinds[i].stored)
	}
	return all
}

func (k *kind) email(own map[lyceum.EmailKind]lyceum.EmailTemplate, on lyceum.EmailSet) Email {
	e := Email{
		Name: k.name, Description: k.description, Variables: k.variables, Optional: k.optional,
		Enabled: !k.optional || on.Has(k.stored),
	}
	if written, is := own[k.stored]; is {
		e.Subject, e.Body, e.ChangedAt = written.Subject, written.Body, lyceum.Some(written.UpdatedAt)
		return e
	}
	e.Subject, e.Body = k.standard()
	return e
}

// Email returns one email of a school.
func (s *Service) Email(ctx context.Context, by lyceum.By, name EmailName) (Email, error) {
	k, err := kindOf(name)
	if err != nil {
		return Email{}, err
	}
	v := s.store.In(ctx, by.School)
	own, err := v.EmailTemplates.Find(v, k.stored)
	if err != nil {
		return Email{}, err
	}
	school, err := v.GetSchool()
	return k.email(own, school.Emails), err
}

// Change saves a draft. It rejects templates that fail with the examples. It fails with Conflict
// if the templates or secrets are changed meanwhile.
func (s *Service) Change(ctx context.Context, by lyceum.By, d Draft) (email Email, err error) {
	k, err := kindOf(d.Name)
	if err != nil {
		return Email{}, err
	}
	v := s.store.In(ctx, by.School)
	tried, err := findSet(v.Tables, v)
	if err != nil {
		return Email{}, err
	}
	secrets, err := s.open(tried.secrets)
	if err != nil {
		return Email{}, err
	}
	if k.always(d.Enabled) {
		return Email{}, lyceum.InvalidFields(lyceum.FieldError{
			Field: "enabled", Message: fmt.Sprintf("must be true: the email %s is about an account, and always sent", k.name),
		})
	}
	email = k.email(tried.own, tried.on)
	before, shown := email, email.Shown()
	if _, err := d.applied(ctx, k, &email, secrets); err != nil {
		return Email{}, err
	}
	if err := by.CheckShown(shown, email.Shown()); err != nil {
		return Email{}, err
	}
	now := s.clock()
	row := lyceum.EmailTemplate{Kind: k.stored, Subject: email.Subject, Body: email.Body, UpdatedAt: now}
	rewritten := (d.Subject.Present || d.Body.Present) && (before.Subject != row.Subject || before.Body != row.Body)
	switched := d.Enabled.Present && d.Enabled.Value != email.Enabled
	if !rewritten && !switched {
		return email, nil
	}
	if rewritten {
		email.ChangedAt = lyceum.Some(now)
	}
	email.Enabled = d.Enabled.Else(email.Enabled)
	return email, s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		if err := tried.check(tx); err != nil {
			return err
		}
		tx.Note(lyceum.EmailTemplateUpdated, int32(k.stored))
		if switched {
			err := tx.ChangeSchool(func(s *lyceum.School) { s.Emails = s.Emails.With(k.stored, email.Enabled) })
			if err != nil {
				return err
			}
		}
		if !rewritten {
			return nil
		}
		_, err := tx.EmailTemplates.Save(tx, row)
		return err
	})
}

// Reset restores Lyceum's own text.
func (s *Service) Reset(ctx context.Context, by lyceum.By, name EmailName) error {
	k, err := kindOf(name)
	if err != nil {
		return err
	}
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		own, err := tx.EmailTemplates.Find(tx, k.stored)
		if err != nil || len(own) == 0 {
			return err
		}
		tx.Note(lyceum.EmailTemplateDeleted, int32(k.stored))
		return tx.EmailTemplates.Delete(tx, k.stored)
	})
}

// Preview renders a draft with the examples. It saves nothing.
func (s *Service) Preview(ctx context.Context, by lyceum.By, d Draft) (Composed, error) {
	k, err := kindOf(d.Name)
	if err != nil {
		return Composed{}, err
	}
	email, err := s.Email(ctx, by, d.Name)
	if err != nil {
		return Composed{}, err
	}
	secrets, err := s.secrets(ctx, by.School)
	if err != nil {
		return Composed{}, err
	}
	return d.applied(ctx, k, &email, secrets)
}

// Sends reports whether the server has a mail server.
func (s *Service) Sends() bool { return s.o.Send != nil }

// ErrNotTaken is wrapped by the error of Test if the mail server did not accept the email.
var ErrNotTaken = errors.New("the mail server did not take the email")

// Test sends a draft, rendered with the examples, to the school's owner, and returns their
// address.
func (s *Service) Test(ctx context.Context, by lyceum.By, d Draft) (to string, err error) {
	composed, err := s.Preview(ctx, by, d)
	if err != nil {
		return "", err
	}
	if s.o.Send == nil {
		return "", lyceum.Errorf(lyceum.Conflict, "this server has no mail server, so it cannot send emails")
	}
	v := s.store.In(ctx, by.School)
	owner, found, err := v.Users.First(v, lyceum.UserFilter{Owners: true, Enabled: true})
	if err == nil && !found {
		err = lyceum.Errorf(lyceum.Conflict, "the school has no owner to send a test to")
	}
	if err != nil {
		return "", err
	}
	m := Message{ID: rand.Text(), To: owner.Email, Subject: composed.Subject, Text: composed.Text}
	if err := s.o.Send(ctx, m); err != nil {
		return "", &lyceum.Error{
			Kind: lyceum.Unavailable, Err: fmt.Errorf("%w: %w", ErrNotTaken, err),
			Detail: "the mail server did not take the email; the server's log has the details",
		}
	}
	return owner.Email, nil
}

// applied applies a draft to an email, and renders the email with the examples.
func (d Draft) applied(ctx context.Context, k *kind, email *Email, secrets Secrets) (Composed, error) {
	email.Subject, email.Body = d.Subject.Else(email.Subject), d.Body.Else(email.Body)
	composed, wrong, err := compose(ctx, email, k.examples(), secrets)
	if err != nil {
		return composed, err
	}
	if example := k.examples()[k.shows]; k.shows != "" && len(wrong) == 0 && !strings.Contains(composed.Text, example) {
		wrong = append(wrong, lyceum.FieldError{Field: "body", Message: "must show {{ " + k.shows + " }}"})
	}
	if k.secret() && len(wrong) == 0 {
		wrong = checkLink(email, composed, k.examples()[k.shows])
	}
	if len(wrong) > 0 {
		return composed, lyceum.InvalidFields(wrong...)
	}
	return composed, nil
}

// compose renders both templates of an email.
func compose(
	ctx context.Context, email *Email, values Values, secrets Secrets,
) (made Composed, wrong []lyceum.FieldError, err error) {
	render := func(field, source string) (text string) {
		if err != nil {
			return ""
		}
		parsed, failed := Parse(source)
		if failed == nil {
			text, failed = parsed.Render(ctx, values.nested(), secrets)
		}
		if failed != nil && lyceum.KindOf(failed) == lyceum.Invalid {
			wrong = append(wrong, broken(field, failed))
			return ""
		}
		err = failed
		return text
	}
	made.Subject = strings.Join(strings.Fields(render("subject", email.Subject)), " ")
	made.Text = render("body", email.Body)
	if len(wrong) > 0 || err != nil {
		return made, wrong, err
	}
	if n := len([]rune(made.Subject)); n == 0 || n > MaxSubject {
		wrong = append(wrong, lyceum.FieldError{
			Field: "subject", Message: fmt.Sprintf("must produce 1 to %d characters; it produces %d", MaxSubject, n),
		})
	}
	if strings.TrimSpace(made.Text) == "" {
		wrong = append(wrong, lyceum.FieldError{Field: "body", Message: "must produce some text"})
	}
	return made, wrong, nil
}

// broken returns the error of a template that does not work.
func broken(field string, err error) lyceum.FieldError {
	return lyceum.FieldError{Field: field, Message: "is not a valid template: " + lyceum.Public(err).Detail}
}

// Compose renders an email of a school. If the school's own text fails, which was only tried
// with the examples, or would give away its link, it uses Lyceum's text and logs which part failed. It does not log the
// template's error, because that may contain a value.
func (s *Service) Compose(
	ctx context.Context, school lyceum.SchoolID, name EmailName, values Values,
) (Composed, error) {
	k, err := kindOf(name)
	if err != nil {
		return Composed{}, err
	}
	email, err := s.Email(ctx, lyceum.By{School: school}, name)
	if err != nil {
		return Composed{}, err
	}
	if email.ChangedAt.Present {
		secrets, err := s.secrets(ctx, school)
		if err == nil {
			made, wrong, failed := compose(ctx, &email, values, secrets)
			if k.secret() && len(wrong) == 0 {
				wrong = checkLink(&email, made, values[k.shows])
			}
			if failed == nil && len(wrong) == 0 {
				return made, nil
			}
			if err = failed; err == nil {
				err = failing(wrong)
			}
		}
		s.o.Log.WarnContext(ctx, "an email of the school could not be made and is sent with the standard text",
			"school", school, "email", string(name), "err", err)
	}
	email.Subject, email.Body = k.standard()
	made, wrong, err := compose(ctx, &email, values, nil)
	if err == nil && len(wrong) > 0 {
		err = failing(wrong)
	}
	return made, err
}

// failing names the parts of an email that could not be rendered, without their values.
func failing(wrong []lyceum.FieldError) error {
	fields := make([]string, len(wrong))
	for i := range wrong {
		fields[i] = wrong[i].Field
	}
	return fmt.Errorf("the template of the %s fails", strings.Join(fields, " and of the "))
}
