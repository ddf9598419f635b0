package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// make creates the school: a sandbox, whose learner has a token, and members.
func (b *bundle) make(ctx context.Context) error {
	args := append([]string{"sandbox", "--json", "--addr", "127.0.0.1:0", "--transactions", "100"}, b.place.database...)
	sandbox, err := start(ctx, b.s.binary, args...)
	if err != nil {
		return err
	}
	token, err := learnerToken(ctx, sandbox)
	if err := errors.Join(err, sandbox.stop()); err != nil {
		return err
	}
	b.key, b.token = sandbox.key, token
	store, err := b.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(b.fill(ctx, store), store.Close())
}

// learnerToken returns an access token of the sandbox's learner.
func learnerToken(ctx context.Context, sandbox *server) (string, error) {
	learner, err := signIn(ctx, sandbox, "name:read email:read courses:read")
	if err != nil {
		return "", err
	}
	codes, _, err := learner.authorize(ctx, 1)
	if err != nil {
		return "", err
	}
	_, got, err := sandbox.exchange(codes)
	return got.AccessToken, err
}

func (b *bundle) fill(ctx context.Context, store *sqlstore.Store) error {
	schools, err := store.FindSchools(ctx)
	if err != nil {
		return err
	}
	b.school = schools[0].ID
	plan := lyceum.PricingPlan{Name: "All", Price: 1999, Currency: "USD", Frequency: lyceum.OneTimePayment}
	if err := b.write(ctx, store, func(tx lyceum.Tx) error { return b.products(tx, &plan) }); err != nil {
		return err
	}
	known, err := b.learner(ctx, store)
	if err != nil {
		return err
	}
	members := []lyceum.UserID{known}
	for len(members) < bundleMembers && err == nil {
		err = b.write(ctx, store, func(tx lyceum.Tx) error {
			fresh, err := newMembers(tx, min(1000, bundleMembers-len(members)))
			members = append(members, fresh...)
			return err
		})
	}
	if err != nil {
		return err
	}
	return b.sell(ctx, store, plan.ID, members)
}

func (b *bundle) write(ctx context.Context, store *sqlstore.Store, change func(lyceum.Tx) error) error {
	return store.Write(ctx, lyceum.Stamp{School: b.school, At: time.Now(), Actor: "bench"}, change)
}

// products creates two courses, a collection without products, and its plan.
func (b *bundle) products(tx lyceum.Tx, plan *lyceum.PricingPlan) (err error) {
	now := time.Now()
	for i := range b.courses {
		if b.courses[i], err = tx.Courses.NextID(tx); err != nil {
			return err
		}
		_, err = tx.Courses.Save(tx, lyceum.Course{
			ID: b.courses[i], Name: "Course", IsPublished: true, CreatedAt: now, UpdatedAt: now,
		})
		if err != nil {
			return err
		}
	}
	if b.collection, err = tx.ProductCollections.NextID(tx); err != nil {
		return err
	}
	_, err = tx.ProductCollections.Save(tx, lyceum.ProductCollection{
		ID: b.collection, Name: "All", IsPublished: true, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return err
	}
	plan.Other = lyceum.Some(lyceum.Product{Kind: lyceum.CollectionKind, ID: int32(b.collection)})
	plan.CreatedAt, plan.UpdatedAt = now, now
	if plan.ID, err = tx.PricingPlans.NextID(tx); err != nil {
		return err
	}
	_, err = tx.PricingPlans.Save(tx, *plan)
	return err
}

func newMembers(tx lyceum.Tx, n int) (ids []lyceum.UserID, err error) {
	fresh := make([]lyceum.User, n)
	for i := range fresh {
		id, err := tx.Users.NextID(tx)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		fresh[i] = lyceum.User{
			ID: id, Email: fmt.Sprintf("member%d@example.com", id), Role: lyceum.Student, CreatedAt: time.Now(),
		}
	}
	_, err = tx.Users.Save(tx, fresh...)
	return ids, err
}

func (b *bundle) learner(ctx context.Context, store *sqlstore.Store) (lyceum.UserID, error) {
	v := store.In(ctx, b.school)
	user, found, err := v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some("learner@example.com")})
	if err == nil && !found {
		err = errors.New("the sandbox has no learner")
	}
	return user.ID, err
}

// sell sells the collection to all members.
func (b *bundle) sell(
	ctx context.Context, store *sqlstore.Store, plan lyceum.PricingPlanID, members []lyceum.UserID,
) error {
	desk := sales.New(store, time.Now, learning.New(store, time.Now), people.New(store, time.Now))
	var group sync.WaitGroup
	var next atomic.Int64
	failures := make([]error, writers)
	for writer := range writers {
		group.Go(func() {
			for failures[writer] == nil {
				n := next.Add(1) - 1
				if n >= int64(len(members)) {
					return
				}
				_, failures[writer] = desk.Record(ctx, lyceum.By{School: b.school, Actor: "bench"}, sales.NewSale{
					User: members[n], Plan: plan,
				})
			}
		})
	}
	group.Wait()
	return errors.Join(failures...)
}
