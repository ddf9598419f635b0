package learning

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Gift is access that is given by hand.
type Gift struct {
	UserProduct

	EndsAt lyceum.Opt[time.Time]
}

// Give gives a user a product by hand, from now on, whatever other access they have, and lifts a
// block. It fails with Invalid for an unknown user, for an unknown or archived product, and for
// an end that is not in the future.
func (s *Service) Give(ctx context.Context, by lyceum.By, q Gift) (lyceum.Entitlement, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Entitlement, error) {
		return s.GiveIn(tx, now, q.User, q.Product, q.EndsAt)
	})
}

// GiveIn is Give as part of a larger change.
func (s *Service) GiveIn(
	tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product, end lyceum.Opt[time.Time],
) (lyceum.Entitlement, error) {
	wrong, err := s.CheckGift(tx.Tables, tx, now, p, end)
	if err != nil {
		return lyceum.Entitlement{}, err
	}
	users, err := tx.Users.Find(tx, user)
	if err != nil {
		return lyceum.Entitlement{}, err
	}
	if len(users) == 0 {
		wrong = append(wrong, lyceum.FieldError{
			Field: "user_id", Message: fmt.Sprintf("%d matches no user of this school", user),
		})
	}
	if len(wrong) > 0 {
		return lyceum.Entitlement{}, lyceum.InvalidFields(wrong...)
	}
	gift := lyceum.Entitlement{User: user, Product: p, StartsAt: lyceum.Second(now)}
	if end.Present {
		gift.EndsAt = lyceum.Some(lyceum.Second(end.Value))
	}
	return grant(tx, now, gift)
}

// Reached returns how many products a product reaches, itself included.
func (s *Service) Reached(t *lyceum.Tables, from lyceum.Source, p lyceum.Product) (int, error) {
	if !p.Holds() {
		return 1, nil
	}
	all, err := reached(t, from, p)
	return len(all), err
}

// CheckGift returns the reasons why a product cannot be given until the given end.
func (s *Service) CheckGift(
	t *lyceum.Tables, from lyceum.Source, now time.Time, p lyceum.Product, end lyceum.Opt[time.Time],
) (wrong []lyceum.FieldError, err error) {
	_, problem, err := lyceum.SellableProduct(t, from, p)
	if problem != "" {
		wrong = append(wrong, lyceum.FieldError{Field: "product_id", Message: problem})
	}
	if end.Present && !lyceum.Second(end.Value).After(now) {
		wrong = append(wrong, lyceum.FieldError{Field: "ends_at", Message: "must be in the future"})
	}
	return wrong, err
}
