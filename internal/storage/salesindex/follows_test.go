package salesindex

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// Erasing a user may change the details of the last entry, but nothing else of it.
func TestAJournalIsTheSameAfterAPersonIsErased(t *testing.T) {
	t.Parallel()
	last := lyceum.Entry{Number: 7, Type: "user.tagged", ObjectID: 3, Detail: lyceum.Some(`{"name":"vip"}`)}
	s := state{origin: "a", last: last}
	erased, other := last, last
	erased.Detail, other.ObjectID = lyceum.Some(`{"name":null}`), 4
	for _, tc := range []struct {
		origin string
		last   lyceum.Entry
		want   bool
	}{
		{"a", last, true}, {"a", erased, true}, {"a", other, false}, {"b", last, false},
	} {
		if got := s.follows(tc.origin, tc.last); got != tc.want {
			t.Errorf("a journal of %s that ends with %+v follows: %t", tc.origin, tc.last, got)
		}
	}
}
