package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// BenchmarkUsers reads pages of 20 users of a school of 20,000.
func BenchmarkUsers(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir(), Options{Synchronous: Off})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateSchool(b.Context(), lyceum.School{ID: 1, Name: "Fernwood", CreatedAt: storetest.Begin}, "bench"); err != nil {
		b.Fatal(err)
	}
	err = s.Write(b.Context(), lyceum.Stamp{School: 1, At: storetest.Begin, Actor: "bench"}, func(tx lyceum.Tx) error {
		users := make([]lyceum.User, 20_000)
		for i := range users {
			users[i] = lyceum.User{
				ID: lyceum.UserID(i + 1), Email: fmt.Sprintf("learner%d@example.com", i), Role: lyceum.Student,
				Name: lyceum.Some(fmt.Sprintf("Learner %d", i)), CreatedAt: storetest.Begin.Add(time.Duration(i) * time.Second),
			}
		}
		return tx.Users.Insert(tx, users...)
	})
	if err != nil {
		b.Fatal(err)
	}
	v := s.In(b.Context(), 1)
	for _, bb := range []struct {
		name   string
		memory int64
		page   int32
	}{{"first", 0, 1}, {"last", 0, 1000}, {"last, indexed", 1 << 20, 1000}} {
		b.Run(bb.name, func(b *testing.B) {
			s.IndexLists(bb.memory)
			b.ReportAllocs()
			for b.Loop() {
				l, err := v.UserSummaries.List(v, lyceum.UserFilter{}, lyceum.Page{Number: bb.page, Size: 20})
				if err != nil || len(l.Rows) != 20 {
					b.Fatal(len(l.Rows), err)
				}
			}
		})
	}
}

// eachEngine runs a benchmark on a store of each engine.
func eachEngine(b *testing.B, bench func(b *testing.B, s *Store)) {
	b.Helper()
	for name, open := range map[string]func() (*Store, error){
		"SQLite":     func() (*Store, error) { return Open(b.Context(), b.TempDir(), Options{Synchronous: Off}) },
		"PostgreSQL": func() (*Store, error) { return OpenPostgres(b.Context(), storetest.Postgres(b), Options{}) },
	} {
		b.Run(name, func(b *testing.B) {
			s, err := open()
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			bench(b, s)
		})
	}
}

// BenchmarkDeliveries reads pages of 20 deliveries of a webhook that has 120,000.
func BenchmarkDeliveries(b *testing.B) {
	eachEngine(b, func(b *testing.B, s *Store) {
		school := storetest.MakeSchool(b, s)
		made := make([]lyceum.WebhookEvent, 120_000)
		for i := range made {
			made[i] = lyceum.WebhookEvent{
				ID: lyceum.WebhookEventID(i + 1), Webhook: 1, State: lyceum.DeliveryDelivered, ObjectType: "User", ObjectID: 1,
				CreatedAt: storetest.Begin.Add(time.Duration(i) * time.Second),
			}
		}
		storetest.Write(b, s, school, func(tx lyceum.Tx) error {
			_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 1, State: lyceum.WebhookVerified, CreatedAt: storetest.Begin})
			return errors.Join(err, tx.CreateDeliveries(made))
		})
		v := s.In(b.Context(), school)
		for _, bb := range []struct {
			name   string
			memory int64
			page   int32
		}{{"first", 0, 1}, {"page 5000", 0, 5000}, {"first, indexed", 1 << 20, 1}, {"page 5000, indexed", 1 << 20, 5000}} {
			b.Run(bb.name, func(b *testing.B) {
				s.IndexLists(bb.memory)
				f, p := lyceum.WebhookEventFilter{Webhook: 1, Newest: true}, lyceum.Page{Number: bb.page, Size: 20}
				for range 2 { // the first one triggers the index
					if l, err := v.Deliveries.List(v, f, p); err != nil || len(l.Rows) != 20 || l.Total != 120_000 {
						b.Fatal(l.Total, err)
					}
					s.lists.work.Wait()
				}
				for b.Loop() {
					if _, err := v.Deliveries.List(v, f, p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

// BenchmarkPages reads pages of 20 of a school of 20,000 users, all of whom hold a course that
// is in three collections: as pages are normally read, and planned for their values, which
// costs PostgreSQL one more round trip and makes no difference on SQLite.
func BenchmarkPages(b *testing.B) {
	eachEngine(b, func(b *testing.B, s *Store) {
		school := storetest.MakeSchool(b, s)
		populate(b, s, school, 20_000)
		course := lyceum.Product{Kind: lyceum.CourseKind, ID: 1}
		storetest.Write(b, s, school, func(tx lyceum.Tx) error {
			rows := make([]lyceum.Entitlement, 20_000)
			for i := range rows {
				rows[i] = lyceum.Entitlement{
					ID: lyceum.EntitlementID(i + 1), User: lyceum.UserID(i + 1), Product: course,
					StartsAt: storetest.Begin.Add(time.Duration(i) * time.Second),
				}
			}
			err := tx.Entitlements.Insert(tx, rows...)
			for id := range int32(3) {
				err = errors.Join(err,
					tx.ProductCollections.Insert(tx, lyceum.ProductCollection{ID: lyceum.ProductCollectionID(id + 1), Name: "Bundle"}),
					tx.CollectionProducts.Insert(tx, lyceum.CollectionProduct{
						ID: lyceum.CollectionProductID(id + 1), In: lyceum.ProductCollectionID(id + 1), Product: course,
					}))
			}
			return err
		})
		for _, list := range []struct {
			name string
			read func(lyceum.View, lyceum.Page) error
		}{
			{"users", func(v lyceum.View, p lyceum.Page) error {
				_, err := v.UserSummaries.List(v, lyceum.UserFilter{}, p)
				return err
			}},
			{"enrollments", func(v lyceum.View, p lyceum.Page) error {
				_, err := v.FindHoldings(lyceum.HoldingFilter{Product: course, At: storetest.Begin}, p)
				return err
			}},
		} {
			for way, with := range map[string]func(context.Context, func(*session) error) error{
				"as they are read": s.reads.snapshot, "planned for their values": s.reads.survey,
			} {
				b.Run(list.name+" "+way, func(b *testing.B) {
					page := int32(0)
					for b.Loop() {
						page = page%3 + 1
						err := with(b.Context(), func(q *session) error {
							v := &view{ctx: b.Context(), store: s, q: q, school: school, moment: true}
							return list.read(lyceum.View{Tables: &tables, Reads: v}, lyceum.Page{Number: page, Size: 20})
						})
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	})
}
