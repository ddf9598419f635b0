package templates

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

const (
	// MaxSecrets is how many secrets of templates a school has at most.
	MaxSecrets = 50
	// MaxSecret is how long a secret may be, in bytes.
	MaxSecret = 512
	// MaxSecretName is how long the name of a secret may be, in characters.
	MaxSecretName = 40

	sealing = "template secret"
)

var secretNames = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// NewSecret is a secret and what templates call it.
type NewSecret struct{ Name, Secret string }

// NextSecret is what takes the place of a secret.
type NextSecret struct {
	ID     lyceum.TemplateSecretID
	Secret string
}

// Secrets lists the secrets of a school by name.
func (s *Service) Secrets(ctx context.Context, by lyceum.By, _ struct{}) ([]lyceum.TemplateSecret, error) {
	v := s.Store.In(ctx, by.School)
	all, err := lyceum.All(v.TemplateSecrets, v, lyceum.TemplateSecretFilter{})
	slices.SortFunc(all, func(a, b lyceum.TemplateSecret) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// AddSecret keeps a secret under a name that the school has not used.
func (s *Service) AddSecret(ctx context.Context, by lyceum.By, n NewSecret) (row lyceum.TemplateSecret, err error) {
	if len(n.Name) > MaxSecretName || !secretNames.MatchString(n.Name) {
		return row, lyceum.InvalidFields(lyceum.FieldError{Field: "name", Message: fmt.Sprintf(
			"must be 1 to %d lower-case letters, digits and underscores, and begin with a letter", MaxSecretName)})
	}
	sealed, err := s.seal(n.Secret)
	if err != nil {
		return row, err
	}
	now := s.Clock()
	return lyceum.Change(ctx, s.Store, by.Stamp(now), func(tx lyceum.Tx) (row lyceum.TemplateSecret, err error) {
		all, err := lyceum.All(tx.TemplateSecrets, tx, lyceum.TemplateSecretFilter{})
		switch {
		case err != nil:
			return row, err
		case slices.ContainsFunc(all, func(s lyceum.TemplateSecret) bool { return s.Name == n.Name }):
			return row, lyceum.Errorf(lyceum.Conflict,
				"the school has a secret %s already; change that one, or use another name", n.Name)
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

// ChangeSecret replaces a secret under its name.
func (s *Service) ChangeSecret(ctx context.Context, by lyceum.By, n NextSecret) (row lyceum.TemplateSecret, err error) {
	sealed, err := s.seal(n.Secret)
	if err != nil {
		return row, err
	}
	now := s.Clock()
	err = s.Store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		if row, err = tx.TemplateSecrets.Get(tx, n.ID); err != nil {
			return err
		}
		row.Sealed, row.UpdatedAt = sealed, now
		_, err := tx.TemplateSecrets.Save(tx, row)
		return err
	})
	return row, err
}

// DeleteSecret deletes a secret that no email of the school signs with.
func (s *Service) DeleteSecret(ctx context.Context, by lyceum.By, id lyceum.TemplateSecretID) error {
	return s.Store.Write(ctx, by.Stamp(s.Clock()), func(tx lyceum.Tx) error {
		row, err := tx.TemplateSecrets.Get(tx, id)
		if err != nil {
			return err
		}
		left, err := s.secretsIn(tx.Tables, tx)
		if err != nil {
			return err
		}
		delete(left, row.Name)
		own, err := tx.EmailTemplates.Find(tx, storedKinds()...)
		if err != nil {
			return err
		}
		for i := range kinds {
			email := kinds[i].email(own)
			if _, wrong, err := compose(ctx, &email, kinds[i].examples(), left); err != nil || len(wrong) > 0 {
				return lyceum.Errorf(lyceum.Conflict, "the email %s signs with this secret; change the email first", email.Name)
			}
		}
		tx.Note(lyceum.TemplateSecretDeleted, int32(id))
		return tx.TemplateSecrets.Delete(tx, id)
	})
}

// seal makes of a secret what is stored.
func (s *Service) seal(secret string) (string, error) {
	if secret == "" || len(secret) > MaxSecret {
		return "", lyceum.InvalidFields(lyceum.FieldError{
			Field: "secret", Message: fmt.Sprintf("must have 1 to %d bytes", MaxSecret),
		})
	}
	sealed, ok := s.Ring.Seal(sealing, secret)
	if !ok {
		return "", lyceum.Errorf(lyceum.Conflict, "the server has no secret key, so it cannot keep a secret")
	}
	return sealed, nil
}

func (s *Service) secrets(ctx context.Context, school lyceum.SchoolID) (Secrets, error) {
	v := s.Store.In(ctx, school)
	return s.secretsIn(v.Tables, v)
}

// secretsIn reads the secrets of a school.
func (s *Service) secretsIn(rows *lyceum.Tables, from lyceum.Source) (Secrets, error) {
	all, err := lyceum.All(rows.TemplateSecrets, from, lyceum.TemplateSecretFilter{})
	if err != nil {
		return nil, err
	}
	secrets := Secrets{}
	for i := range all {
		text, err := s.Ring.Open(sealing, all[i].Sealed)
		if err != nil {
			return nil, fmt.Errorf("open the secret %s: %w", all[i].Name, err)
		}
		secrets[all[i].Name] = []byte(text)
	}
	return secrets, nil
}

// NeededKeys counts, by the secret key that it needs, the secrets of all schools.
func (s *Service) NeededKeys(ctx context.Context) (map[lyceum.SecretKeyID]int, error) {
	schools, err := s.Store.FindSchools(ctx)
	if err != nil {
		return nil, err
	}
	needed := map[lyceum.SecretKeyID]int{}
	for _, school := range schools {
		v := s.Store.In(ctx, school.ID)
		all, err := lyceum.All(v.TemplateSecrets, v, lyceum.TemplateSecretFilter{})
		if err != nil {
			return nil, err
		}
		for i := range all {
			needed[lyceum.SealedBy(all[i].Sealed)]++
		}
	}
	return needed, nil
}
