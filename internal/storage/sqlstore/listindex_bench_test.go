package sqlstore

import (
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
