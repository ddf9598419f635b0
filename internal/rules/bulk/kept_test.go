package bulk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestUnenrollingFromWhatWasKept unenrolls a member from a course that left the collection to
// which they subscribe. That ends the subscription, and the job says what they lose with it.
func TestUnenrollingFromWhatWasKept(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		const all, member = lyceum.ProductCollectionID(1), lyceum.UserID(9)
		glass, wood := lyceum.CourseID(3).Product(), lyceum.CourseID(4).Product()
		storetest.Write(t, c.stores[0], c.school, func(tx lyceum.Tx) error {
			at := storetest.Begin
			_, err := tx.Courses.Save(tx, lyceum.Course{ID: 3, Name: "Glass", CreatedAt: at, UpdatedAt: at},
				lyceum.Course{ID: 4, Name: "Wood", CreatedAt: at, UpdatedAt: at})
			if err != nil {
				return err
			}
			if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: all, Name: "All"}); err != nil {
				return err
			}
			_, err = tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: 1, In: all, Product: glass},
				lyceum.CollectionProduct{ID: 2, In: all, Product: wood})
			if err != nil {
				return err
			}
			_, err = tx.PricingPlans.Save(tx, lyceum.PricingPlan{
				ID: 1, Name: "All", Price: 1000, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month"),
				Other: lyceum.Some(lyceum.Product{Kind: lyceum.CollectionKind, ID: int32(all)}),
			})
			return err
		})
		lessons := learning.New(c.stores[0], c.clock.Now)
		_, err := sales.New(c.stores[0], c.clock.Now, lessons, nil).Record(t.Context(), c.by(), sales.NewSale{User: member, Plan: 1})
		if err != nil {
			t.Fatal(err)
		}
		leave := learning.Removal[lyceum.ProductCollectionID]{ProductIn: learning.ProductIn[lyceum.ProductCollectionID]{In: all, Product: glass}}
		if err := lessons.CollectionProducts().Remove(t.Context(), c.by(), leave); err != nil {
			t.Fatal(err)
		}
		if err := lessons.Settle(t.Context(), c.school); err != nil {
			t.Fatal(err)
		}
		job := c.prepare(t, bulk.NewJob{Action: lyceum.BulkUnenroll, Product: lyceum.Some(glass), Users: []lyceum.UserID{member}})
		rows, err := c.service(0).Rows(t.Context(), c.by(), bulk.RowFilter{Job: job.ID}, lyceum.Page{Number: 1, Size: 10})
		if err != nil || len(rows.Rows) != 1 {
			t.Fatal(rows, err)
		}
		if diff := cmp.Diff("ends access to Glass; ends access to Wood", rows.Rows[0].Message); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
		if want := (lyceum.AccessCount{Losing: 1}); job.Access != want || job.Expected.EndedSales != 1 {
			t.Errorf("%+v, %+v", job.Access, job.Expected)
		}
		c.do(t, job.ID)
		for _, p := range []lyceum.Product{glass, wood} {
			held, err := lessons.AccessTo(t.Context(), c.by(), learning.UserProduct{User: member, Product: p})
			if err != nil || held.HasAccess {
				t.Errorf("%s: access %v, %v", p, held.HasAccess, err)
			}
		}
	})
}
