package salesindex_test

import (
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestCompareWhileOthersWrite checks that a comparison ends, and finds no difference, while
// another process changes the school continuously.
func TestCompareWhileOthersWrite(t *testing.T) {
	t.Parallel()
	for engine, open := range map[string]func(*testing.T) (own, other lyceum.Store){
		"sqlite": func(t *testing.T) (lyceum.Store, lyceum.Store) {
			p := place{t, t.TempDir()}
			return p.database(), p.database()
		},
		"postgres": func(t *testing.T) (lyceum.Store, lyceum.Store) {
			address := storetest.Postgres(t)
			return samePostgres(t, address), samePostgres(t, address)
		},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			own, other := open(t)
			defer other.Close()
			s := over(t, own, salesindex.Options{Memory: enough})
			school := storetest.MakeSchool(t, other)
			sales, _ := storetest.Ledger(t, other, school, 5, 100)
			stop := make(chan struct{})
			var writer sync.WaitGroup
			writer.Go(func() {
				for n := lyceum.TransactionID(5000); ; n++ {
					select {
					case <-stop:
						return
					default:
						storetest.Write(t, other, school, save(numbered(sales[0], n)...))
					}
				}
			})
			for range 5 {
				written := 0
				got, err := s.Compare(t.Context(), school, func(int) {
					last, _ := other.In(t.Context(), school).LastEntry()
					storetest.Await(func() bool { // another process has written during the comparison
						now, _ := other.In(t.Context(), school).LastEntry()
						return now > last
					})
					written++
				})
				if err != nil || len(got.Differences) > 0 || written == 0 {
					t.Errorf("%+v %v", got, err)
				}
			}
			close(stop)
			writer.Wait()
		})
	}
}
