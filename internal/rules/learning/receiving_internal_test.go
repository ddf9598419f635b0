package learning

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestReceivingIsBounded checks that the number of files received at the same time is limited,
// and that one school can use only a part of it.
func TestReceivingIsBounded(t *testing.T) {
	var r receiving
	begin := func(school lyceum.SchoolID, n int) (begun int) {
		for range n {
			if r.begin(school) {
				begun++
			}
		}
		return begun
	}
	if n := begin(1, 1000); n != mostReceivingOfSchool {
		t.Errorf("one school: %d", n)
	}
	if n := begin(2, 200) + begin(3, 1000); n != mostReceiving-mostReceivingOfSchool {
		t.Errorf("the others: %d", n)
	}
	r.end(1)
	if n := begin(1, 10); n != 1 {
		t.Errorf("after one has ended: %d", n)
	}
	for school, n := range map[lyceum.SchoolID]int{1: mostReceivingOfSchool, 2: 200, 3: 56} {
		for range n {
			r.end(school)
		}
	}
	if r.all != 0 || len(r.school) > 0 {
		t.Errorf("in the end: %+v", r.school)
	}
}
