package demo

import (
	"slices"
	"testing"
)

func TestDiaryGivesRenewalsWhenDue(t *testing.T) {
	d := newDiary(3)
	for i, due := range []moment{40*day + 5, 40*day + 2, 31 * day} {
		if d.full() {
			t.Fatalf("full with %d of 3", i)
		}
		d.add(renewal{purchase: purchase{sale: 1}, due: due})
	}
	if !d.full() {
		t.Error("not full with 3 of 3")
	}
	for _, tc := range []struct {
		name string
		now  moment
		want []moment
	}{
		{"before the first", 31*day - 1, nil},
		{"at the first", 31 * day, []moment{31 * day}},
		{"not twice", 35 * day, nil},
		{"within a day", 40*day + 4, []moment{40*day + 2}},
		{"later that day", 40*day + 5, []moment{40*day + 5}},
		{"no more", closing - 1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []moment
			for d.first(tc.now) != nil {
				got = append(got, d.take().due)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestDiaryUsesItsPagesAgain(t *testing.T) {
	d := newDiary(2)
	for n := moment(0); n < 1000; n++ {
		d.add(renewal{due: (n + 30) * day})
		if n >= 1 {
			if d.first((n+29)*day) == nil {
				t.Fatalf("nothing due on day %d", n+29)
			}
			d.take()
		}
	}
	if len(d.pages) > 3 {
		t.Errorf("%d pages for 2 renewals at a time", len(d.pages)-1)
	}
}

func TestNextPayment(t *testing.T) {
	start := closing - 70*day
	for _, tc := range []struct {
		name string
		r    renewal
		due  moment
		want bool
	}{
		{"the second", renewal{start: start, made: 1, left: 2}, usual.monthsLater(start, 1), true},
		{"the third, counted from the start", renewal{start: start, made: 2, left: 1}, usual.monthsLater(start, 2), true},
		{"after the last day", renewal{start: start, made: 3, left: 1}, usual.monthsLater(start, 3), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next, ok := tc.r.next(usual, 1)
			if ok != tc.want || next.due != tc.due || next.left != tc.r.left-1 || next.made != tc.r.made+1 {
				t.Errorf("%+v, %t", next, ok)
			}
		})
	}
}
