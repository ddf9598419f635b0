package demo

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// salesOf returns all sales and transactions of a school, generated in batches of a size.
func salesOf(s *School, size int) (sales []lyceum.Sale, transactions []lyceum.Transaction) {
	for b := range s.Batches(size) {
		sales = append(sales, b.Sales...)
		transactions = append(transactions, b.Transactions...)
	}
	return sales, transactions
}

// studied returns what the learners of a school do, generated in batches of a size.
func studied(s *School, size int) (*lessons, studies) {
	l := s.makeLessons()
	classes := s.newClasses(l)
	all := classes.begin()
	for b := range s.Batches(size) {
		more := classes.take(b)
		all.Enrollments = append(all.Enrollments, more.Enrollments...)
		all.Progress = append(all.Progress, more.Progress...)
		all.LectureProgress = append(all.LectureProgress, more.LectureProgress...)
		all.QuizResponses = append(all.QuizResponses, more.QuizResponses...)
	}
	return l, all
}

func hash(s *School, size int) [32]byte {
	sales, transactions := salesOf(s, size)
	lessons, learned := studied(s, size)
	return sha256.Sum256(fmt.Append(nil, s.School, s.Users, s.Courses, s.PricingPlans, s.Coupons,
		s.Affiliates, s.Authors, s.Secrets, sales, transactions, lessons.sections, lessons.lectures,
		fmt.Sprintf("%+v", learned)))
}

func TestSameSeedSameSchool(t *testing.T) {
	for _, tc := range []struct {
		seed         uint64
		transactions int
	}{
		{0, 0}, {1, 1}, {1, 2}, {1, 20}, {1, 2000}, {2, 2000}, {1<<64 - 1, 5000},
	} {
		t.Run(fmt.Sprint(tc.seed, " ", tc.transactions), func(t *testing.T) {
			want := hash(New(tc.seed, tc.transactions), 100)
			if hash(New(tc.seed, tc.transactions), 100) != want {
				t.Error("a second school of the same seed differs")
			}
			if hash(New(tc.seed, tc.transactions), 37) != want {
				t.Error("the school depends on the size of the batches")
			}
			if hash(New(tc.seed+1, tc.transactions), 100) == want {
				t.Error("the next seed gives the same school")
			}
		})
	}
}

func TestMoreTransactionsKeepTheSchool(t *testing.T) {
	for _, tc := range []struct{ fewer, more int }{{0, 100}, {100, 1000}, {1000, 30_000}} {
		t.Run(fmt.Sprint(tc.fewer, " and ", tc.more), func(t *testing.T) {
			a, b := New(5, tc.fewer), New(5, tc.more)
			same := func(what string, x, y any) {
				t.Helper()
				if !reflect.DeepEqual(x, y) {
					t.Errorf("the %s differ: %v, %v", what, x, y)
				}
			}
			same("schools", a.School, b.School)
			same("courses", a.Courses, b.Courses)
			same("plans", a.PricingPlans, b.PricingPlans)
			same("coupons", a.Coupons, b.Coupons)
			same("affiliates", a.Affiliates, b.Affiliates)
			same("authors", a.Authors, b.Authors)
			same("secrets", a.Secrets, b.Secrets)
			for i, u := range a.Users {
				v := b.Users[i]
				u.CreatedAt, v.CreatedAt = time.Time{}, time.Time{}
				u.LastSignInAt, v.LastSignInAt = lyceum.None[time.Time](), lyceum.None[time.Time]()
				if u != v {
					t.Fatalf("user %d differs: %v, %v", i+1, u, v)
				}
			}
		})
	}
}

func TestBatchesOfEverySize(t *testing.T) {
	const n = 1000
	s := New(1, n)
	wantSales, want := salesOf(s, n)
	for _, tc := range []struct {
		name            string
		size, most, num int
	}{
		{"one each", 1, 1, 1000},
		{"a remainder", 300, 300, 4},
		{"exactly all", 1000, 1000, 1},
		{"more than there are", 5000, 1000, 1},
		{"zero is taken as one", 0, 1, 1000},
		{"less than zero too", -3, 1, 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			num := 0
			for b := range s.Batches(tc.size) {
				num++
				if len(b.Transactions) == 0 || len(b.Transactions) > tc.most {
					t.Fatalf("a batch of %d, want 1 to %d", len(b.Transactions), tc.most)
				}
			}
			if num != tc.num {
				t.Errorf("%d batches, want %d", num, tc.num)
			}
			sales, transactions := salesOf(s, tc.size)
			if !slices.Equal(sales, wantSales) || !slices.Equal(transactions, want) {
				t.Error("not the same sales and transactions as in one batch")
			}
		})
	}
}

func TestBatchesStopAndBeginAgain(t *testing.T) {
	s := New(1, 100)
	first := func() (got []lyceum.Transaction) {
		for b := range s.Batches(10) {
			return slices.Clone(b.Transactions)
		}
		return nil
	}
	once := first()
	if len(once) != 10 || !slices.Equal(once, first()) {
		t.Error("a loop left early does not begin again from the first transaction")
	}
}

func TestBatchesDoNotNeedTheRows(t *testing.T) {
	s := New(1, 500)
	_, want := salesOf(s, 50)
	s.Users, s.Courses, s.PricingPlans, s.Coupons, s.Affiliates, s.Authors = nil, nil, nil, nil, nil, nil
	if _, got := salesOf(s, 50); !slices.Equal(got, want) {
		t.Error("the transactions changed when the caller dropped the rows")
	}
}

func TestBatchesInBoundedMemory(t *testing.T) {
	const n, most = 300_000, 6 << 20
	s := New(1, n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range s.Batches(500) {
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d bytes for %d transactions in all, want at most %d", got, n, most)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(1, 1_000_000)
	}
}

func BenchmarkBatches(b *testing.B) {
	const n = 1_000_000
	s := New(1, n)
	b.ReportAllocs()
	for b.Loop() {
		for range s.Batches(1000) {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/transaction")
}
