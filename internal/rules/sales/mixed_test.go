package sales_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestAllKindsGoTogether checks that what buyers and learners do at the same time shares a
// commit, whatever it is, and that none of it needs the rows of the others in the database
// first.
func TestAllKindsGoTogether(t *testing.T) {
	t.Parallel()
	var savepoints storetest.Savepoints
	for name, store := range enginesWith(t, sqlstore.Options{Trace: savepoints.Trace}) {
		b := openBooks(t, store)
		b.soldBy(t, "Books Ltd", "B-")
		storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
			_, e1 := tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 1, Course: 1, Name: "Begin", IsPublished: true, Position: 1})
			_, e2 := tx.Lectures.Save(tx, lyceum.Lecture{ID: 1, Course: 1, Section: 1, IsPublished: true, Position: 1})
			_, e3 := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Sketches"})
			_, e4 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{
				ID: 10, CourseID: some(lyceum.CourseID(2)), Name: "Monthly", Price: 500, Currency: "USD", Frequency: lyceum.Subscription,
				BillingInterval: some("month"), BillingIntervalCount: some(int32(1)),
			})
			_, e5 := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", IsPublished: true, CreatedAt: b.now})
			_, e6 := tx.OAuthApps.Save(tx, lyceum.OAuthApp{ID: 1, Name: "App", ClientID: "app", RedirectURL: "https://app.example/", CreatedAt: b.now})
			return errors.Join(e1, e2, e3, e4, e5, e6, sellBundles(tx))
		})
		for round := range 3 {
			var acts []func() error
			for range 3 {
				for _, kind := range b.kinds(t) {
					var user lyceum.UserID
					storetest.Write(t, store, b.school, func(tx lyceum.Tx) (err error) {
						if user, err = tx.Users.NextID(tx); err != nil {
							return err
						}
						return tx.Users.Insert(tx, lyceum.User{ID: user, Email: fmt.Sprintf("%d@example.com", user), Role: lyceum.Student})
					})
					acts = append(acts, kind(user))
				}
			}
			savepoints.Together(t, fmt.Sprintf("%s, round %d", name, round), len(acts), func(i int) error { return acts[i]() })
		}
		b.healthy(t, store)
	}
}

// kinds returns changes of a user, each of which is prepared first.
func (b *books) kinds(t *testing.T) []func(lyceum.UserID) (act func() error) {
	t.Helper()
	accounts := people.New(b.store, func() time.Time { return b.now })
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	write := func(do func(tx lyceum.Tx) error) error {
		return b.store.Write(t.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "test"}, do)
	}
	sell := func(user lyceum.UserID, plan lyceum.PricingPlanID) (sales.SaleDetail, error) {
		n := sales.NewSale{User: user, Plan: plan, Reference: some(fmt.Sprint("ch_", user, "_", plan))}
		return b.service.Record(t.Context(), b.by(), n)
	}
	sold := func(user lyceum.UserID, plan lyceum.PricingPlanID) sales.SaleDetail {
		d, err := sell(user, plan)
		must(err)
		return d
	}
	learner := func(user lyceum.UserID) lyceum.By {
		return lyceum.By{School: b.school, Actor: "test", Learner: lyceum.Some(user)}
	}
	course := func(user lyceum.UserID) learning.UserProduct {
		return learning.UserProduct{User: user, Product: lyceum.CourseID(1).Product()}
	}
	comment := func(user lyceum.UserID) (learning.CommentDetail, error) {
		return b.learning.CommentAsLearner(t.Context(), learner(user), learning.NewComment{
			Course: lyceum.Some(lyceum.CourseID(1)), Lecture: 1, Body: fmt.Sprint("From ", user),
		})
	}
	stay := func(user lyceum.UserID) lyceum.Session {
		return lyceum.Session{Hash: lyceum.KeyHash{byte(user >> 8), byte(user)}, User: user, CreatedAt: b.now, SeenAt: b.now}
	}
	return []func(lyceum.UserID) func() error{
		func(user lyceum.UserID) func() error { // a sale
			return func() error { _, err := sell(user, 1); return err }
		},
		func(user lyceum.UserID) func() error { // a sale of a tier
			return func() error { _, err := sell(user, 13); return err }
		},
		func(user lyceum.UserID) func() error { // an order of a new buyer
			o, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: fmt.Sprintf("new%d@example.com", user), Plan: 1})
			must(err)
			return func() error {
				_, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: o.ID})
				return err
			}
		},
		func(user lyceum.UserID) func() error { // an account
			return func() error {
				_, err := accounts.Create(t.Context(), b.by(), people.NewUser{Email: fmt.Sprintf("made%d@example.com", user)}, nil)
				return err
			}
		},
		func(user lyceum.UserID) func() error { // a sign-in
			return func() error {
				return write(func(tx lyceum.Tx) error {
					_, err := tx.Sessions.Save(tx, stay(user))
					return errors.Join(err, tx.SignedIn(user, "192.0.2.1", b.now))
				})
			}
		},
		func(user lyceum.UserID) func() error { // a sign-out
			must(write(func(tx lyceum.Tx) error { _, err := tx.Sessions.Save(tx, stay(user)); return err }))
			return func() error {
				return write(func(tx lyceum.Tx) error { return tx.Sessions.Delete(tx, stay(user).Hash) })
			}
		},
		func(user lyceum.UserID) func() error { // tags
			must(write(func(tx lyceum.Tx) error { _, err := tx.SetTags(user, []string{"early", "loud"}); return err }))
			return func() error {
				_, err := accounts.SetTags(t.Context(), b.by(), lyceum.UserTags{User: user, Tags: []string{"late", "loud"}})
				return err
			}
		},
		func(user lyceum.UserID) func() error { // a renewal
			d := sold(user, 10)
			return func() error { _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: d.ID}); return err }
		},
		func(user lyceum.UserID) func() error { // a refund
			d := sold(user, 1)
			return func() error {
				_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: d.Transactions[0].ID})
				return err
			}
		},
		func(user lyceum.UserID) func() error { // a cancellation
			d := sold(user, 10)
			return func() error { _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: d.ID}); return err }
		},
		func(user lyceum.UserID) func() error { // an enrollment
			return func() error { return b.learning.Enroll(t.Context(), b.by(), user, 1) }
		},
		func(user lyceum.UserID) func() error { // an unenrollment
			sold(user, 1)
			return func() error { return b.learning.Unenroll(t.Context(), b.by(), course(user)) }
		},
		func(user lyceum.UserID) func() error { // a completed lecture
			sold(user, 1)
			return func() error {
				_, err := b.learning.Complete(t.Context(), learner(user), user, 1, 1)
				return err
			}
		},
		func(user lyceum.UserID) func() error { // a lecture marked as not complete
			sold(user, 1)
			_, err := b.learning.Complete(t.Context(), learner(user), user, 1, 1)
			must(err)
			return func() error { return b.learning.Uncomplete(t.Context(), learner(user), user, 1, 1) }
		},
		func(user lyceum.UserID) func() error { // a comment
			sold(user, 1)
			return func() error { _, err := comment(user); return err }
		},
		func(user lyceum.UserID) func() error { // an edited comment
			sold(user, 1)
			c, err := comment(user)
			must(err)
			in := learning.InComments{Lecture: learning.InCourse[lyceum.LectureID]{Course: 1, ID: 1}, ID: c.ID}
			return func() error {
				_, err := b.learning.EditComment(t.Context(), learner(user), learning.CommentText{Comment: in, Body: some("Better")})
				return err
			}
		},
		func(user lyceum.UserID) func() error { // a change of name
			return func() error {
				_, err := accounts.Update(t.Context(), b.by(), people.Change{User: user, Name: some(some("Ada"))}, people.Doors{Forget: func() {}})
				return err
			}
		},
		func(user lyceum.UserID) func() error { // an order
			return func() error {
				n := sales.NewOrder{Email: fmt.Sprintf("%d@example.com", user), Plan: 1}
				_, err := b.service.OpenOrder(t.Context(), b.by(), n)
				return err
			}
		},
		func(user lyceum.UserID) func() error { // a partial refund
			d := sold(user, 1)
			return func() error {
				n := sales.Refund{Transaction: d.Transactions[0].ID, Amount: some(lyceum.Minor(100))}
				_, err := b.service.Refund(t.Context(), b.by(), n)
				return err
			}
		},
		func(user lyceum.UserID) func() error { // a chargeback
			d := sold(user, 1)
			return func() error {
				_, err := b.service.OpenChargeback(t.Context(), b.by(), sales.Chargeback{Transaction: d.Transactions[0].ID})
				return err
			}
		},
		func(user lyceum.UserID) func() error { // an end
			d := sold(user, 10)
			return func() error { _, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: d.ID}); return err }
		},
		func(user lyceum.UserID) func() error { // an app
			return func() error {
				return write(func(tx lyceum.Tx) error {
					id, err := tx.Grants.NextID(tx)
					if err != nil {
						return err
					}
					e1 := tx.Grants.Insert(tx, lyceum.Grant{ID: id, App: 1, User: user, CreatedAt: b.now})
					return errors.Join(e1, tx.AuthorizationCodes.Insert(tx, lyceum.AuthorizationCode{
						Hash: stay(user).Hash, Grant: id, CreatedAt: b.now, ExpiresAt: b.now.Add(time.Minute),
					}))
				})
			}
		},
		func(user lyceum.UserID) func() error { // an app whose grant is revoked
			grant := lyceum.GrantFilter{User: lyceum.Some(user)}
			must(write(func(tx lyceum.Tx) error {
				id, err := tx.Grants.NextID(tx)
				if err != nil {
					return err
				}
				return tx.Grants.Insert(tx, lyceum.Grant{ID: id, App: 1, User: user, CreatedAt: b.now})
			}))
			return func() error {
				return write(func(tx lyceum.Tx) error { _, err := tx.RevokeGrants(grant, 0, b.now); return err })
			}
		},
		func(user lyceum.UserID) func() error { // an enrollment again
			must(b.learning.Enroll(t.Context(), b.by(), user, 1))
			must(b.learning.Unenroll(t.Context(), b.by(), course(user)))
			return func() error { return b.learning.Enroll(t.Context(), b.by(), user, 1) }
		},
		func(user lyceum.UserID) func() error { // a withdrawn comment
			sold(user, 1)
			c, err := comment(user)
			must(err)
			in := learning.InComments{Lecture: learning.InCourse[lyceum.LectureID]{Course: 1, ID: 1}, ID: c.ID}
			return func() error { return b.learning.WithdrawComment(t.Context(), learner(user), in) }
		},
	}
}
