package sqlstore

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// BenchmarkPeople finds users by the beginning of their name or email address, in a school with
// LYCEUM_PEOPLE users (default 10,000), and reports the slowest of a hundred searches:
//
//	LYCEUM_PEOPLE=1000000 go test ./internal/storage/sqlstore -run '^$' -bench People -benchtime 100x
func BenchmarkPeople(b *testing.B) {
	users := 10_000
	if n, err := strconv.Atoi(os.Getenv("LYCEUM_PEOPLE")); err == nil {
		users = n
	}
	eachEngine(b, func(b *testing.B, store *Store) {
		school := storetest.MakeSchool(b, store)
		populate(b, store, school, users)
		for _, text := range []string{"a", "an", "person 99", "person99999@", "zz", "%"} {
			b.Run(text, func(b *testing.B) {
				v := store.In(b.Context(), school)
				of := lyceum.UserFilter{
					Begins: lyceum.Some(text), Order: lyceum.UserOrder{By: lyceum.UserByCreated, Descending: true},
				}
				var took []time.Duration
				for b.Loop() {
					begun := time.Now()
					if _, err := v.Users.List(v, of, lyceum.Page{Number: 1, Size: 20}); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(begun))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	})
}

// populate adds users to a school. The names of half of them begin with "an".
func populate(b *testing.B, store *Store, school lyceum.SchoolID, users int) {
	b.Helper()
	names := []string{"Ana Silva ", "Person "}
	for first := 0; first < users; first += 5000 {
		storetest.Write(b, store, school, func(tx lyceum.Tx) error {
			var rows []lyceum.User
			for id := first + 1; id <= min(first+5000, users); id++ {
				number := strconv.Itoa(id)
				rows = append(rows, lyceum.User{
					ID: lyceum.UserID(id), Email: []string{"ana", "person"}[id%2] + number + "@example.com", Role: lyceum.Student,
					Name: lyceum.Some(names[id%2] + number), CreatedAt: storetest.Begin.Add(time.Duration(id) * time.Second),
				})
			}
			return tx.Users.Insert(tx, rows...)
		})
	}
}
