package salesindex_test

import (
	"math/rand/v2"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
)

// TestBuiltPostings builds postings of users whose ids are at the ends of pages and digits, and
// whose numbers of sales make short lists, long lists and bitmaps.
func TestBuiltPostings(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	of := map[lyceum.UserID]int{
		0: 1, 1: 127, 63: 128, 64: 129, 65: 1, 127: 1023, 128: 1024, 1 << 11: 1025, 1<<16 - 1: 2, 1 << 16: 200,
		1<<22 - 1: 1, 1 << 22: 3, 1<<30 + 7: 1500, lyceum.MaxID - 64: 126, lyceum.MaxID: 40_000,
	}
	m := newModel()
	for user, n := range of {
		for range n {
			s := randomSale(r, m.next, 2000)
			s.UserID = user
			m.sales[s.ID] = s
			m.next++
		}
	}
	b := salesindex.NewBuilder()
	for _, i := range r.Perm(len(m.sales)) {
		s := m.sales[lyceum.TransactionID(i+1)]
		if err := b.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	x := b.Build(lyceum.Version{})
	want := map[lyceum.UserID][]lyceum.Transaction{}
	for _, s := range m.sorted() {
		want[s.UserID] = append(want[s.UserID], s)
	}
	for user := range of {
		f := lyceum.TransactionFilter{UserID: lyceum.Some(user)}
		got := x.Find(f, lyceum.OldestFirst, lyceum.Page{Number: 1, Size: 50_000})
		if diff := gocmp.Diff(want[user], got.All()); diff != "" {
			t.Errorf("user %d: %d sales, want %d\n%.2000s", user, got.Total, len(want[user]), diff)
		}
	}
	for _, id := range []lyceum.TransactionID{1, m.next / 2, m.next - 1} {
		s := m.sales[id]
		s.CreatedAt = s.CreatedAt.Add(-time.Hour)
		m.sales[id] = s
		if err := put(x, s); err != nil {
			t.Fatal(err)
		}
	}
	m.check(t, x, []lyceum.TransactionFilter{{}, {UserID: lyceum.Some(lyceum.UserID(62))}})
}
