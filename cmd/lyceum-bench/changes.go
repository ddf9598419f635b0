package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// changed is how many learners each kind of change is made for.
const changed = buyers

// The plans of desk in addition to those of its market.
const (
	monthlyPlan    lyceum.PricingPlanID = 1001 // of the first course
	collectionPlan lyceum.PricingPlanID = 1002 // of a collection of two other courses
)

// desk makes changes of each kind for the learners of a market, one after another.
type desk struct {
	*market

	learning *learning.Service
	people   *people.Service
	paid     [changed]lyceum.TransactionID
	sold     [changed]lyceum.SaleID
	orders   [changed]lyceum.OrderID
	comments [changed]lyceum.CommentID
}

// changeKind is a kind of change, which is made once for each learner.
type changeKind struct {
	name string
	make func(ctx context.Context, learner int) error
}

// measureChanges measures changes that follow a sale, and compares them with first sales of the
// same round.
func measureChanges(ctx context.Context, s settings) error {
	fmt.Printf("## Changes\n\nWriters make %d changes of each kind, one for each learner. First sales are of a course; "+
		"median of %d rounds, each in a new school.\n\n| engine | writers | change | changes/s | of first sales |\n"+
		"|---|---|---|---|---|\n", changed, s.rounds)
	dir := filepath.Join(s.work, "changes")
	defer os.RemoveAll(dir)
	store, err := sqlstore.Open(ctx, dir, sqlstore.Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(compareChanges(ctx, s, store), store.Close()); err != nil {
		return err
	}
	if address := os.Getenv("LYCEUM_TEST_POSTGRES"); address != "" {
		if store, err = sqlstore.OpenPostgres(ctx, address, sqlstore.Options{}); err != nil {
			return err
		}
		if err := errors.Join(compareChanges(ctx, s, store), store.Close()); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// compareChanges prints a row for each number of writers and kind of change.
func compareChanges(ctx context.Context, s settings, store *sqlstore.Store) error {
	for _, writers := range s.connections {
		var kinds []changeKind
		rates := map[string][]float64{}
		for range s.rounds {
			d, err := openDesk(ctx, store)
			if err != nil {
				return err
			}
			kinds = d.kinds()
			for _, k := range kinds {
				perSecond, err := changeAll(ctx, writers, k)
				if err != nil {
					return fmt.Errorf("%s: %w", k.name, err)
				}
				rates[k.name] = append(rates[k.name], perSecond)
			}
		}
		for _, k := range kinds {
			var ofFirst []float64
			for round, perSecond := range rates[k.name] {
				ofFirst = append(ofFirst, perSecond/rates[kinds[0].name][round])
			}
			fmt.Printf("| %s | %d | %s | %.0f | %.2f |\n",
				store.Engine(), writers, k.name, median(rates[k.name]), median(ofFirst))
		}
	}
	return nil
}

// changeAll makes one change for each learner with a number of writers, and returns the changes
// per second.
func changeAll(ctx context.Context, writers int, k changeKind) (float64, error) {
	var next atomic.Int64
	begin, failed := time.Now(), make(chan error, writers)
	for range writers {
		go func() {
			for {
				learner := int(next.Add(1)) - 1
				if learner >= changed {
					failed <- nil
					return
				}
				if err := k.make(ctx, learner); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	var all []error
	for range writers {
		all = append(all, <-failed)
	}
	return changed / time.Since(begin).Seconds(), errors.Join(all...)
}

func openDesk(ctx context.Context, store *sqlstore.Store) (*desk, error) {
	m, err := openMarket(ctx, store)
	if err != nil {
		return nil, err
	}
	now := m.clock()
	err = store.Write(ctx, lyceum.Stamp{School: m.school, At: now, Actor: "bench"}, func(tx lyceum.Tx) error {
		_, e1 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "Collection", CreatedAt: now})
		var in []lyceum.CollectionProduct
		for n := range lyceum.CollectionProductID(2) {
			course := lyceum.CourseID(2 + n).Product()
			in = append(in, lyceum.CollectionProduct{ID: n + 1, In: 1, Product: course, CreatedAt: now})
		}
		_, e2 := tx.CollectionProducts.Save(tx, in...)
		plan := lyceum.PricingPlan{Price: 1999, Currency: "USD", CreatedAt: now, UpdatedAt: now}
		monthly, collection := plan, plan
		monthly.ID, monthly.Name, monthly.CourseID = monthlyPlan, "Monthly", lyceum.Some(lyceum.CourseID(1))
		monthly.Frequency = lyceum.Subscription
		monthly.BillingInterval, monthly.BillingIntervalCount = lyceum.Some("month"), lyceum.Some(int32(1))
		collection.ID, collection.Name, collection.Frequency = collectionPlan, "Collection", lyceum.OneTimePayment
		collection.Other = lyceum.Some(lyceum.Product{Kind: lyceum.CollectionKind, ID: 1})
		_, e3 := tx.PricingPlans.Save(tx, monthly, collection)
		_, e4 := tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 1, Course: 1, IsPublished: true, Position: 1})
		_, e5 := tx.Lectures.Save(tx, lyceum.Lecture{ID: 1, Course: 1, Section: 1, IsPublished: true, Position: 1},
			lyceum.Lecture{ID: 2, Course: 1, Section: 1, IsPublished: true, Position: 2})
		course, e6 := tx.Courses.Get(tx, 1)
		course.IsPublished = true
		return errors.Join(e1, e2, e3, e4, e5, e6, tx.Courses.Update(tx, course))
	})
	return &desk{market: m, learning: learning.New(store, m.clock), people: people.New(store, m.clock)}, err
}

func (d *desk) by() lyceum.By { return lyceum.By{School: d.school, Actor: "bench"} }

// record returns a function that sells a plan to a learner.
func (d *desk) record(plan lyceum.PricingPlanID) func(context.Context, int) error {
	return func(ctx context.Context, learner int) error {
		sale, err := d.sales.Record(ctx, d.by(), sales.NewSale{User: lyceum.UserID(1 + learner), Plan: plan})
		if err == nil {
			d.sold[learner], d.paid[learner] = sale.ID, sale.Transactions[0].ID
		}
		return err
	}
}

func (d *desk) kinds() []changeKind {
	course := func(learner int) learning.UserProduct {
		return learning.UserProduct{User: lyceum.UserID(1 + learner), Product: lyceum.CourseID(1).Product()}
	}
	return []changeKind{
		{"first sale", d.record(1)},
		{"second sale of the course", d.record(1)},
		{"refund of that", func(ctx context.Context, learner int) error {
			_, err := d.sales.Refund(ctx, d.by(), sales.Refund{Transaction: d.paid[learner]})
			return err
		}},
		{"subscription to it", d.record(monthlyPlan)},
		{"renewal", func(ctx context.Context, learner int) error {
			_, err := d.sales.Renew(ctx, d.by(), sales.Renewal{Sale: d.sold[learner]})
			return err
		}},
		{"cancellation", func(ctx context.Context, learner int) error {
			_, err := d.sales.Cancel(ctx, d.by(), sales.Ending{Sale: d.sold[learner]})
			return err
		}},
		{"sale of a collection", d.record(collectionPlan)},
		{"unenrolling", func(ctx context.Context, learner int) error {
			return d.learning.Unenroll(ctx, d.by(), course(learner))
		}},
		{"enrolling by version 2", func(ctx context.Context, learner int) error {
			_, err := d.learning.Hold(ctx, d.by(), course(learner))
			return err
		}},
		{"completed lecture", d.complete},
		{"lecture uncompleted", func(ctx context.Context, learner int) error {
			return d.learning.Uncomplete(ctx, d.ofLearner(learner), lyceum.UserID(1+learner), 1, 1)
		}},
		{"comment", d.comment},
		{"comment withdrawn", func(ctx context.Context, learner int) error {
			return d.learning.WithdrawComment(ctx, d.ofLearner(learner), learning.InComments{
				Lecture: learning.InCourse[lyceum.LectureID]{Course: 1, ID: 1}, ID: d.comments[learner],
			})
		}},
		{"order of a new buyer", func(ctx context.Context, learner int) error {
			o, err := d.sales.OpenOrder(ctx, d.by(), sales.NewOrder{Email: fmt.Sprintf("new%d@example.com", learner), Plan: 1})
			d.orders[learner] = o.ID
			return err
		}},
		{"completion of that", func(ctx context.Context, learner int) error {
			_, err := d.sales.CompleteOrder(ctx, d.by(), sales.OrderPayment{Order: d.orders[learner]})
			return err
		}},
		{"a mix", d.mix},
	}
}

// mix makes a sale, a sign-in, a completed lecture, a comment or a change of name, in turn.
func (d *desk) mix(ctx context.Context, learner int) error {
	user := lyceum.UserID(1 + learner)
	switch learner % 5 {
	case 0:
		return d.record(4)(ctx, learner)
	case 1:
		now := d.clock()
		return d.store.Write(ctx, lyceum.Stamp{School: d.school, At: now, Actor: "bench"}, func(tx lyceum.Tx) error {
			return tx.SignedIn(user, "192.0.2.1", now)
		})
	case 2:
		return d.complete(ctx, learner)
	case 3:
		return d.comment(ctx, learner)
	}
	change := people.Change{User: user, Name: lyceum.Some(lyceum.Some("Ada"))}
	_, err := d.people.Update(ctx, d.by(), change, people.Doors{Forget: func() {}})
	return err
}

func (d *desk) ofLearner(learner int) lyceum.By {
	by := d.by()
	by.Learner = lyceum.Some(lyceum.UserID(1 + learner))
	return by
}

func (d *desk) complete(ctx context.Context, learner int) error {
	_, err := d.learning.Complete(ctx, d.ofLearner(learner), lyceum.UserID(1+learner), 1, 1)
	return err
}

func (d *desk) comment(ctx context.Context, learner int) error {
	c, err := d.learning.CommentAsLearner(ctx, d.ofLearner(learner), learning.NewComment{
		Course: lyceum.Some(lyceum.CourseID(1)), Lecture: 1, Body: "Well said",
	})
	d.comments[learner] = c.ID
	return err
}
