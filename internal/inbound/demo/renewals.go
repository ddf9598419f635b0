package demo

import "slices"

// renewal is a future payment of a recurring sale.
type renewal struct {
	purchase
	start, due moment
	made, left uint8 // payments made, including the first, and payments to come
}

// next returns the payment after this one, and false if it could not be paid, which takes
// at least an hour, before sales end. In a school with a clock it is paid immediately.
func (r renewal) next(cal calendar, months int) (renewal, bool) {
	r.due = cal.monthsLater(r.start, months*int(r.made))
	r.made++
	r.left--
	return r, r.due < closing-hour || cal.live && r.due < closing
}

// diary keeps the future renewals by day. It sorts a day when the day begins, which works
// because a renewal is added at least 28 days ahead. Its memory is bounded by the limit of
// renewals and reused.
type diary struct {
	pages []page
	spare int32            // first reusable page
	days  [salesDays]int32 // the first page of each day
	today int
	due   []renewal // today's, sorted
	taken int       // how many of due were taken
	limit int
	count int
}

// page has one renewal and the number of the next page of the same day, or of the next
// spare page. Pages are numbered from 1; 0 means none.
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

// first returns the earliest renewal that is due by now, or nil. It is valid until the
// next call.
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

// take removes the renewal that first returned.
func (d *diary) take() renewal {
	r := d.due[d.taken]
	d.taken++
	d.count--
	return r
}
