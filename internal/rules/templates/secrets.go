package templates

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

const (
	// MaxSecrets is the maximum number of template secrets of a school.
	MaxSecrets = 50
	// MaxSecret is the maximum length of a secret, in bytes.
	MaxSecret = 512
	// MaxSecretName is the maximum length of a secret's name, in characters.
	MaxSecretName = 40

	sealing = "template secret"
)

var secretNames = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// NewSecret is a secret and its name in templates.
type NewSecret struct{ Name, Secret string }

// NextSecret is the replacement of a secret.
type NextSecret struct {
	ID     lyceum.TemplateSecretID
	Secret string
}

// Secrets lists the secrets of a school by name.
func (s *Service) Secrets(ctx context.Context, by lyceum.By, _ struct{}) ([]lyceum.TemplateSecret, error) {
	v := s.store.In(ctx, by.School)
	all, err := lyceum.All(v.TemplateSecrets, v, lyceum.TemplateSecretFilter{})
	slices.SortFunc(all, func(a, b lyceum.TemplateSecret) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// AddSecret saves a secret under a name that the school does not use yet.
func (s *Service) AddSecret(ctx context.Context, by lyceum.By, n NewSecret) (row lyceum.TemplateSecret, err error) {
	if len(n.Name) > MaxSecretName || !secretNames.MatchString(n.Name) {
		return row, lyceum.InvalidFields(lyceum.FieldError{Field: "name", Message: fmt.Sprintf(
			"must be 1 to %d lower-case letters, digits and underscores, and begin with a letter", MaxSecretName)})
	}
	sealed, err := s.seal(n.Secret)
	if err != nil {
		return row, err
	}
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (row lyceum.TemplateSecret, err error) {
		all, err := lyceum.All(tx.TemplateSecrets, tx, lyceum.TemplateSecretFilter{})
		switch {
		case err != nil:
			return row, err
		case slices.ContainsFunc(all, func(s lyceum.TemplateSecret) bool { return s.Name == n.Name }):
			return row, lyceum.Errorf(lyceum.Conflict,
				"the school already has a secret %s; change that one, or use another name", n.Name)
		case len(all) >= MaxSecrets:
			return row, lyceum.Errorf(lyceum.Conflict,
				"a school has at most %d secrets for templates; delete one first", MaxSecrets)
		}
		row = lyceum.TemplateSecret{Name: n.Name, Sealed: sealed, CreatedAt: now, UpdatedAt: now}
		if row.ID, err = tx.TemplateSecrets.NextID(tx); err == nil {
			_, err = tx.TemplateSecrets.Save(tx, row)
		}
		return row, err
	})
}

// ChangeSecret replaces a secret and keeps its name.
func (s *Service) ChangeSecret(ctx context.Context, by lyceum.By, n NextSecret) (row lyceum.TemplateSecret, err error) {
	sealed, err := s.seal(n.Secret)
	if err != nil {
		return row, err
	}
	now := s.clock()
	err = s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		if row, err = tx.TemplateSecrets.Get(tx, n.ID); err != nil {
			return err
		}
		row.Sealed, row.UpdatedAt = sealed, now
		_, err := tx.TemplateSecrets.Save(tx, row)
		return err
	})
	return row, err
}

// DeleteSecret deletes a secret unless a template of the school signs with it. It fails with
// Conflict if one does, and if the templates are changed meanwhile.
func (s *Service) DeleteSecret(ctx context.Context, by lyceum.By, id lyceum.TemplateSecretID) error {
	v := s.store.In(ctx, by.School)
	row, err := v.TemplateSecrets.Get(v, id)
	if err != nil {
		return err
	}
	tried, err := findSet(v.Tables, v)
	if err != nil {
		return err
	}
	left, err := s.open(tried.secrets)
	if err != nil {
		return err
	}
	delete(left, row.Name)
	for i := range kinds {
		email := kinds[i].email(tried.own, tried.on)
		if _, wrong, err := compose(ctx, &email, kinds[i].examples(), left); err != nil || len(wrong) > 0 {
			return lyceum.Errorf(lyceum.Conflict, "the email %s signs with this secret; change the email first", email.Name)
		}
	}
	if _, err := renderSnippet(ctx, tried.own[lyceum.PageSnippet].Body, examples(snippetVariables), left); err != nil {
		return lyceum.Errorf(lyceum.Conflict, "the snippet for learners' pages signs with this secret; change it first")
	}
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		if _, err := tx.TemplateSecrets.Get(tx, id); err != nil {
			return err
		}
		if err := tried.check(tx); err != nil {
			return err
		}
		tx.Note(lyceum.TemplateSecretDeleted, int32(id))
		return tx.TemplateSecrets.Delete(tx, id)
	})
}

// set has the templates of a school, and the secrets that they can sign with.
type set struct {
	own     map[lyceum.EmailKind]lyceum.EmailTemplate
	secrets []lyceum.TemplateSecret // by id
	on      lyceum.EmailSet
}

func findSet(rows *lyceum.Tables, from lyceum.Reads) (found set, err error) {
	if found.own, err = rows.EmailTemplates.Find(from, storedKinds()...); err != nil {
		return found, err
	}
	if found.secrets, err = lyceum.All(rows.TemplateSecrets, from, lyceum.TemplateSecretFilter{}); err != nil {
		return found, err
	}
	school, err := from.GetSchool()
	found.on = school.Emails
	return found, err
}

// check rejects a change if the set that was tried has changed since.
func (tried *set) check(tx lyceum.Tx) error {
	now, err := findSet(tx.Tables, tx)
	if err != nil {
		return err
	}
	sameText := func(a, b lyceum.EmailTemplate) bool { return a.Subject == b.Subject && a.Body == b.Body }
	sameName := func(a, b lyceum.TemplateSecret) bool { return a.Name == b.Name }
	if maps.EqualFunc(tried.own, now.own, sameText) && slices.EqualFunc(tried.secrets, now.secrets, sameName) {
		return nil
	}
	return lyceum.Errorf(lyceum.Conflict, "the school's emails or secrets were changed in the meantime; try again")
}

// seal encrypts a secret for storage.
func (s *Service) seal(secret string) (string, error) {
	if secret == "" || len(secret) > MaxSecret {
		return "", lyceum.InvalidFields(lyceum.FieldError{
			Field: "secret", Message: fmt.Sprintf("must have 1 to %d bytes", MaxSecret),
		})
	}
	sealed, ok := s.o.Ring.Seal(sealing, secret)
	if !ok {
		return "", lyceum.Errorf(lyceum.Conflict, "the server has no secret key, so it cannot keep a secret")
	}
	return sealed, nil
}

// secrets returns the secrets of a school.
func (s *Service) secrets(ctx context.Context, school lyceum.SchoolID) (Secrets, error) {
	v := s.store.In(ctx, school)
	all, err := lyceum.All(v.TemplateSecrets, v, lyceum.TemplateSecretFilter{})
	if err != nil {
		return nil, err
	}
	return s.open(all)
}

func (s *Service) open(all []lyceum.TemplateSecret) (Secrets, error) {
	secrets := Secrets{}
	for i := range all {
		text, err := s.o.Ring.Open(sealing, all[i].Sealed)
		if err != nil {
			return nil, fmt.Errorf("open the secret %s: %w", all[i].Name, err)
		}
		secrets[all[i].Name] = []byte(text)
	}
	return secrets, nil
}

// NeededKeys counts the secrets of all schools, and the waiting emails that are sealed, by the
// secret key that they need.
func (s *Service) NeededKeys(ctx context.Context) (map[lyceum.SecretKeyID]int, error) {
	schools, err := s.store.FindSchools(ctx)
	if err != nil {
		return nil, err
	}
	needed := map[lyceum.SecretKeyID]int{}
	for _, school := range schools {
		v := s.store.In(ctx, school.ID)
		err := v.TemplateSecrets.Each(v, lyceum.TemplateSecretFilter{}, func(secret *lyceum.TemplateSecret) error {
			needed[lyceum.SealedBy(secret.Sealed)]++
			return nil
		})
		if err != nil {
			return nil, err
		}
		waiting := lyceum.EmailFilter{State: lyceum.Some(lyceum.EmailWaiting)}
		err = v.Emails.Each(v, waiting, func(e *lyceum.QueuedEmail) error {
			if k, err := storedKind(e.Kind); err == nil && k.secret() {
				needed[lyceum.SealedBy(e.Values)]++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return needed, nil
}
