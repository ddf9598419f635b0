package demo

import "slices"

// renewal is a payment to come of a sale that recurs.
type renewal struct {
	purchase
	start, due moment
	made, left uint8 // payments made, the first included, and payments to come
}

// next gives the payment after this one, and false when it would be too late
// for its money, which takes an hour at least, to come while there are sales.
// In a school that goes on it comes at once.
func (r renewal) next(cal calendar, months int) (renewal, bool) {
	r.due = cal.monthsLater(r.start, months*int(r.made))
	r.made++
	r.left--
	return r, r.due < closing-hour || cal.live && r.due < closing
}

// diary keeps the renewals to come by day. It sorts a day when the day
// begins, which works because a renewal is at least 28 days ahead when it is
// added. Its memory is bounded by the limit of renewals and used again.
type diary struct {
	pages []page
	spare int32            // a page to use again
	days  [salesDays]int32 // the first page of each day
	today int
	due   []renewal // of today, sorted
	taken int       // of due
	limit int
	count int
}

// page has one renewal and the number of another page of the same day, or of
// another spare page. Pages are numbered from 1; 0 is none.
type page struct {
	renewal
	next int32
}

func newDiary(limit int) *diary { return &diary{pages: make([]page, 1, limit+1), limit: limit} }

func (d *diary) full() bool { return d.count >= d.limit }

func (d *diary) add(r renewal) {
	d.count++
	n := d.spare
	if n == 0 {
		n = int32(len(d.pages))
		d.pages = append(d.pages, page{})
	}
	d.spare = d.pages[n].next
	day := r.due / day
	d.pages[n] = page{r, d.days[day]}
	d.days[day] = n
}

// first gives the earliest renewal that is due by now, or nil. It holds until
// the next is asked for.
func (d *diary) first(now moment) *renewal {
	for d.taken == len(d.due) && d.today < int(now/day) {
		d.today++
		d.begin()
	}
	if d.taken < len(d.due) && d.due[d.taken].due <= now {
		return &d.due[d.taken]
	}
	return nil
}

// begin moves the pages of today to due.
func (d *diary) begin() {
	d.due, d.taken = d.due[:0], 0
	for n := d.days[d.today]; n != 0; {
		p := &d.pages[n]
		d.due = append(d.due, p.renewal)
		n, p.next, d.spare = p.next, d.spare, n
	}
	slices.SortFunc(d.due, func(a, b renewal) int {
		if a.due != b.due {
			return int(a.due - b.due)
		}
		return int(a.sale - b.sale)
	})
}

// take removes what first gave.
func (d *diary) take() renewal {
	r := d.due[d.taken]
	d.taken++
	d.count--
	return r
}
