package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// CurrentHolding is a holding with its status at a given time.
type CurrentHolding struct {
	lyceum.Holding

	Status    lyceum.HoldingStatus
	ChangedAt time.Time // when the status last changed
}

func current(h *lyceum.Holding, now time.Time) CurrentHolding {
	return CurrentHolding{Holding: *h, Status: h.StatusAt(now), ChangedAt: h.ChangedAt(now)}
}

// Holdings returns a page of the holdings of a product. It fails with NotFound for a product
// that does not exist, and for an archived one other than a course.
func (s *Service) Holdings(
	ctx context.Context, by lyceum.By, f lyceum.HoldingFilter, p lyceum.Page,
) (list lyceum.Listing[CurrentHolding], err error) {
	f.At = s.clock()
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if err := shown(v.Tables, v, f.Product); err != nil {
			return err
		}
		found, err := v.FindHoldings(f, p)
		list = lyceum.Listing[CurrentHolding]{Page: found.Page, Total: found.Total}
		for i := range found.Rows {
			list.Rows = append(list.Rows, current(&found.Rows[i], f.At))
		}
		return err
	})
	return list, err
}

// OpenHoldings returns a page of the holdings that now give a user access to a product, the
// newest first. It fails with NotFound as Holdings does, and for an unknown user.
func (s *Service) OpenHoldings(
	ctx context.Context, by lyceum.By, q UserProduct, p lyceum.Page,
) (lyceum.Listing[CurrentHolding], error) {
	v := s.store.In(ctx, by.School)
	if _, err := v.Users.Get(v, q.User); err != nil {
		return lyceum.Listing[CurrentHolding]{}, err
	}
	return s.Holdings(ctx, by, openOf(q), p)
}

func openOf(q UserProduct) lyceum.HoldingFilter {
	return lyceum.HoldingFilter{
		Product: q.Product, User: lyceum.Some(q.User),
		Statuses: []lyceum.HoldingStatus{lyceum.HoldingActive, lyceum.HoldingCompleted},
	}
}

// Hold gives a user a product, from now on and without an end, and returns the new holding. A
// user who has access already keeps it, and Hold returns their newest holding. It fails with
// NotFound as Holdings does, and for an unknown user.
func (s *Service) Hold(ctx context.Context, by lyceum.By, q UserProduct) (CurrentHolding, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (CurrentHolding, error) {
		wanted := toEnroll(tx, now, q.User, q.Product)
		if q.Product.Kind == lyceum.CourseKind {
			wanted = append(wanted, lyceum.FirstOf(tx.Progress, progressIn(q.User, lyceum.CourseID(q.Product.ID))))
		}
		if err := tx.Ahead(wanted...); err != nil {
			return CurrentHolding{}, err
		}
		if err := shown(tx.Tables, tx, q.Product); err != nil {
			return CurrentHolding{}, err
		}
		given, enrolled, err := enroll(tx, now, q.User, q.Product)
		switch {
		case err != nil:
			return CurrentHolding{}, err
		case enrolled:
			return held(tx, now, given)
		}
		of := openOf(q)
		of.At = now
		found, err := tx.FindHoldings(of, lyceum.Page{Number: 1, Size: 1})
		if err != nil || len(found.Rows) == 0 {
			return CurrentHolding{}, err
		}
		return current(&found.Rows[0], now), nil
	})
}

// held returns the holding of an entitlement that was just given.
func held(tx lyceum.Tx, now time.Time, e lyceum.Entitlement) (CurrentHolding, error) {
	h := lyceum.Holding{Entitlement: e}
	if e.Product.Kind == lyceum.CourseKind {
		p, _, err := tx.Progress.First(tx, progressIn(e.User, lyceum.CourseID(e.Product.ID)))
		if err != nil {
			return CurrentHolding{}, err
		}
		h.PercentComplete, h.CompletedAt = p.PercentComplete, p.CompletedAt
	}
	return current(&h, now), nil
}

// Holding returns the newest holding that gives a user access to a product, or else the newest
// of all. It considers only the newest 100. It fails with NotFound as Holdings does, for an
// unknown user, and for one who never had the product.
func (s *Service) Holding(ctx context.Context, by lyceum.By, q UserProduct) (CurrentHolding, error) {
	v := s.store.In(ctx, by.School)
	if _, err := v.Users.Get(v, q.User); err != nil {
		return CurrentHolding{}, err
	}
	of := lyceum.HoldingFilter{Product: q.Product, User: lyceum.Some(q.User)}
	list, err := s.Holdings(ctx, by, of, lyceum.Page{Number: 1, Size: 100})
	if err != nil {
		return CurrentHolding{}, err
	}
	for i := range list.Rows {
		if h := &list.Rows[i]; h.Status == lyceum.HoldingActive || h.Status == lyceum.HoldingCompleted {
			return *h, nil
		}
	}
	if len(list.Rows) == 0 {
		return CurrentHolding{}, lyceum.Errorf(lyceum.NotFound, "user %d was never enrolled in %s", q.User, q.Product)
	}
	return list.Rows[0], nil
}

// shown fails with NotFound for a product that does not exist, and for an archived one other
// than a course, as in version 2.
func shown(t *lyceum.Tables, from lyceum.Source, p lyceum.Product) error {
	found, err := lyceum.FindProducts(t, from, p)
	if err != nil {
		return err
	}
	info, there := found[p]
	if !there || info.ArchivedAt.Present && p.Kind != lyceum.CourseKind {
		return lyceum.Errorf(lyceum.NotFound, "there is no %s", p)
	}
	return nil
}
