package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// loadSize is the number of transactions per write.
const loadSize = 1000

// Load saves a school's rows. Existing rows stay as they are, so that an interrupted load
// can be repeated. progress is called with the number of transactions saved; it may be
// nil.
func (s *School) Load(ctx context.Context, store lyceum.Store, progress func(kept int)) error {
	// Schools of different seeds are equally old, but must not pass for two versions of
	// one school: their times differ below the second.
	at := s.School.CreatedAt.Add(time.Duration(s.seed%1e6) * time.Microsecond)
	stamp := lyceum.Stamp{School: s.School.ID, At: at, Actor: "sandbox"}
	lessons := s.makeLessons()
	hooks, events := s.webhooks()
	err := store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		for _, save := range []func() (lyceum.Saved, error){
			func() (lyceum.Saved, error) { return tx.Authors.Save(tx, s.Authors...) },
			func() (lyceum.Saved, error) { return s.saveProducts(tx) },
			func() (lyceum.Saved, error) { return tx.LectureSections.Save(tx, lessons.sections...) },
			func() (lyceum.Saved, error) { return tx.Lectures.Save(tx, lessons.lectures...) },
			func() (lyceum.Saved, error) { return tx.Attachments.Save(tx, lessons.attachments...) },
			func() (lyceum.Saved, error) { return tx.PricingPlans.Save(tx, s.PricingPlans...) },
			func() (lyceum.Saved, error) { return tx.Coupons.Save(tx, s.Coupons...) },
			func() (lyceum.Saved, error) { return tx.Affiliates.Save(tx, s.Affiliates...) },
			func() (lyceum.Saved, error) { return tx.Sellers.Save(tx, s.seller()) },
			func() (lyceum.Saved, error) { return tx.Webhooks.Save(tx, hooks...) },
			func() (lyceum.Saved, error) { return tx.Deliveries.Save(tx, events...) },
		} {
			if _, err := save(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load catalogue: %w", err)
	}
	for rest := s.Users; len(rest) > 0; {
		n := min(loadSize, len(rest))
		err := store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			if _, err := tx.Users.Save(tx, rest[:n]...); err != nil {
				return err
			}
			for i := range rest[:n] {
				if own := s.tagsOf(rest[i].ID); own != nil {
					if _, err := tx.SetTags(rest[i].ID, own); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("load users: %w", err)
		}
		rest = rest[n:]
	}
	classes := s.newClasses(lessons)
	first := classes.begin()
	if err := store.Write(ctx, stamp, func(tx lyceum.Tx) error { return first.save(tx, at) }); err != nil {
		return fmt.Errorf("load the learner: %w", err)
	}
	kept, refunded := 0, refunds{}
	for batch := range s.Batches(loadSize) {
		studies, doubtful := classes.take(batch), refunded.mark(batch)
		err := store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			if _, err := tx.Sales.Save(tx, batch.Sales...); err != nil {
				return err
			}
			if _, err := tx.Transactions.Save(tx, batch.Transactions...); err != nil {
				return err
			}
			if err := s.receipts(tx, batch.Transactions); err != nil {
				return err
			}
			if err := studies.save(tx, at); err != nil {
				return err
			}
			if err := sales.Release(tx, doubtful...); err != nil {
				return err
			}
			if err := learning.LinkSales(tx, at, studies.buyers); err != nil {
				return err
			}
			return goOn(tx, batch.Billed)
		})
		if err != nil {
			return fmt.Errorf("load transactions: %w", err)
		}
		if kept += len(batch.Transactions); progress != nil {
			progress(kept)
		}
	}
	return nil
}

// goOn schedules the next payments of sales.
func goOn(tx lyceum.Tx, billed []Billed) error {
	ids := make([]lyceum.SaleID, len(billed))
	for i, b := range billed {
		ids[i] = b.Sale
	}
	kept, err := tx.Sales.Find(tx, ids...)
	if err != nil {
		return err
	}
	sold := make([]lyceum.Sale, len(billed))
	for i, b := range billed {
		sale := kept[b.Sale]
		sale.BilledSince = lyceum.Some(sale.CreatedAt)
		sale.BillingAnchor, sale.PaidUntil = lyceum.Some(b.Anchor), lyceum.Some(b.Due)
		sold[i] = sale
	}
	_, err = tx.Sales.Save(tx, sold...)
	return err
}

// save saves studies.
func (s studies) save(tx lyceum.Tx, at time.Time) error {
	if _, err := tx.Enrollments.Save(tx, s.Enrollments...); err != nil {
		return err
	}
	if err := learning.LinkEnrollments(tx, at, s.Enrollments); err != nil {
		return err
	}
	for _, save := range []func() (lyceum.Saved, error){
		func() (lyceum.Saved, error) { return tx.Progress.Save(tx, s.Progress...) },
		func() (lyceum.Saved, error) { return tx.LectureProgress.Save(tx, s.LectureProgress...) },
		func() (lyceum.Saved, error) { return tx.QuizResponses.Save(tx, s.QuizResponses...) },
		func() (lyceum.Saved, error) { return tx.Comments.Save(tx, s.Comments...) },
	} {
		if _, err := save(); err != nil {
			return err
		}
	}
	return nil
}

// The two users who have a password.
const (
	OwnerID      = ownerID
	OwnerEmail   = "owner@example.com"
	LearnerID    = learnerID
	LearnerEmail = "learner@example.com"
)
