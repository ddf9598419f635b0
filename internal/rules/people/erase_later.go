package people

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// UndoTime is how long the erasure of a person can be undone.
const UndoTime = 10 * time.Minute

// PlanErasure schedules a person to be erased after UndoTime; until then nothing about them
// changes. If the erasure is planned already, its time stays. It fails like Erase.
func (s *Service) PlanErasure(ctx context.Context, by lyceum.By, id lyceum.UserID) (lyceum.PlannedErasure, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.PlannedErasure, error) {
		user, err := tx.Users.Get(tx, id)
		if err != nil {
			return lyceum.PlannedErasure{}, err
		}
		if err := mayErase(tx, &user); err != nil {
			return lyceum.PlannedErasure{}, err
		}
		kept, err := tx.PlannedErasures.Find(tx, id)
		if plan, planned := kept[id]; planned || err != nil {
			return plan, err
		}
		plan := lyceum.PlannedErasure{User: id, DueAt: lyceum.Second(now).Add(UndoTime), Actor: by.Actor}
		tx.Note(lyceum.ErasurePlanned, int32(id))
		return plan, tx.PlannedErasures.Insert(tx, plan)
	})
}

// UndoErasure cancels the planned erasure of a person, if there is one. It fails with NotFound
// for a person who has been erased or never existed.
func (s *Service) UndoErasure(ctx context.Context, by lyceum.By, id lyceum.UserID) error {
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		if _, err := tx.Users.Get(tx, id); err != nil {
			return err
		}
		return dropPlan(tx, id, lyceum.ErasureUndone)
	})
}

// dropPlan deletes the planned erasure of a person, and notes why in the journal unless why is
// empty.
func dropPlan(tx lyceum.Tx, id lyceum.UserID, why lyceum.EntryType) error {
	kept, err := tx.PlannedErasures.Find(tx, id)
	if err != nil || len(kept) == 0 {
		return err
	}
	if why != "" {
		tx.Note(why, int32(id))
	}
	return tx.PlannedErasures.Delete(tx, id)
}

// PlannedErasures returns the planned erasures of those of some people who have one.
func (s *Service) PlannedErasures(
	ctx context.Context, by lyceum.By, ids ...lyceum.UserID,
) (map[lyceum.UserID]lyceum.PlannedErasure, error) {
	v := s.store.In(ctx, by.School)
	return v.PlannedErasures.Find(v, ids...)
}

// EraseDue erases the people of a school whose UndoTime is over. A person who can no longer be
// erased, because they bought a subscription meanwhile or because whoever asked for it no longer
// may, is kept, and the journal says so. The texts that name them are left to FinishErasures, because
// what else is due waits for EraseDue.
func (s *Service) EraseDue(ctx context.Context, school lyceum.SchoolID, d Doors) error {
	now := s.clock()
	v := s.store.In(ctx, school)
	plans, err := lyceum.All(v.PlannedErasures, v, struct{}{})
	if err != nil {
		return err
	}
	for _, plan := range plans {
		if plan.DueAt.After(now) {
			continue
		}
		by := lyceum.By{School: school, Actor: plan.Actor}
		_, failed := s.eraseIf(ctx, by, plan.User, d, func(tx lyceum.Tx) error { return stillPlanned(tx, &plan, d) })
		if errors.Is(failed, errUndone) {
			continue
		}
		refusals := []lyceum.Kind{lyceum.Invalid, lyceum.NotFound, lyceum.Forbidden}
		if failed != nil && slices.Contains(refusals, lyceum.KindOf(failed)) {
			failed = s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
				return dropPlan(tx, plan.User, lyceum.ErasureRefused)
			})
		}
		err = errors.Join(err, failed)
	}
	return err
}

// errUndone is the error for an erasure that was undone, or done by another process, since its
// plan was read.
var errUndone = errors.New("the erasure is no longer planned")

func stillPlanned(tx lyceum.Tx, plan *lyceum.PlannedErasure, d Doors) error {
	kept, err := tx.PlannedErasures.Find(tx, plan.User)
	if err == nil && !kept[plan.User].DueAt.Equal(plan.DueAt) {
		err = errUndone
	}
	if err == nil && d.StillErases != nil {
		err = d.StillErases(tx, plan.Actor)
	}
	return err
}
