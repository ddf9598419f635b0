package main

import (
	"cmp"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
)

const (
	// variants is how many different requests a class has, so that caching a single response
	// gains nothing.
	variants = 32
	// freshARound is how many requests are prepared for a round of a class that sends each
	// request once.
	freshARound = 1 << 16
)

// The period in which sales are generated (internal/inbound/demo).
var (
	salesBegin = time.Date(2023, 1, 2, 0, 0, 0, 0, time.UTC)
	salesEnd   = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
)

// listRequest is one request with the total that its response must have.
type listRequest struct {
	filter lyceum.TransactionFilter
	order  lyceum.Order
	page   int
	per    int
	total  int
}

// class is a kind of request.
type class struct {
	name     string
	requests []listRequest
	// fresh returns the next of the requests that are sent only once; requests are then the
	// first of them, to compare their totals. If fresh is nil, requests are sent over and
	// over.
	fresh func() listRequest
}

// path returns the path and query of the request.
func (q listRequest) path() string {
	v := url.Values{"page": {strconv.Itoa(q.page)}, "per": {strconv.Itoa(q.per)}}
	number := func(name string, id int32, present bool) {
		if present {
			v.Set(name, strconv.Itoa(int(id)))
		}
	}
	number("user_id", int32(q.filter.UserID.Value), q.filter.UserID.Present)
	number("affiliate_id", int32(q.filter.AffiliateID.Value), q.filter.AffiliateID.Present)
	number("course_id", int32(q.filter.CourseID.Value), q.filter.CourseID.Present)
	number("pricing_plan_id", int32(q.filter.PricingPlanID.Value), q.filter.PricingPlanID.Present)
	if f := q.filter.FullyRefunded; f.Present {
		v.Set("is_fully_refunded", strconv.FormatBool(f.Value))
	}
	if f := q.filter.Chargeback; f.Present {
		v.Set("is_chargeback", strconv.FormatBool(f.Value))
	}
	if t := q.filter.Created.After; !t.IsZero() {
		v.Set("start", string(lyceum.AppendTime(nil, t)))
	}
	if t := q.filter.Created.Until; !t.IsZero() {
		v.Set("end", string(lyceum.AppendTime(nil, t)))
	}
	if q.order == lyceum.OldestFirst {
		v.Set("sort_direction", "asc")
	}
	return "/v1/transactions?" + v.Encode()
}

// paths returns what is requested in one round.
func (c *class) paths() []string {
	var all []string
	if c.fresh == nil {
		for _, q := range c.requests {
			all = append(all, q.path())
		}
		return all
	}
	for range freshARound {
		all = append(all, c.fresh().path())
	}
	return all
}

// book returns the requests of every class with their exact totals. These are counted while the
// sales are generated, without storing any.
func book(seed uint64, size int) []class {
	school := demo.New(seed, size)
	school.Users = nil // not needed for the sales, and they would take most of the memory here
	classes := classes(school, seed, size)
	t := newTally(school)
	for i := range classes {
		for _, q := range classes[i].requests {
			t.add(q.filter)
		}
	}
	for batch := range school.Batches(1000) {
		for i := range batch.Transactions {
			t.count(&batch.Transactions[i])
		}
	}
	for i := range classes {
		for j := range classes[i].requests {
			q := &classes[i].requests[j]
			q.total = t.totals[q.filter].n
			q.page = 1 + (q.page-1)%pages(q.total, q.per)
		}
	}
	return classes
}

// pages is at least 1: the first page exists even if it is empty.
func pages(total, per int) int { return max(1, (total+per-1)/per) }

// tally counts sales by filter.
type tally struct {
	courses map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]
	totals  map[lyceum.TransactionFilter]*total
	// bySubject has the same totals by what the filter selects, so that a sale is compared with
	// only a few of them.
	bySubject map[subject][]*total
}

type total struct {
	filter lyceum.TransactionFilter
	n      int
}

// subject is the first thing that a filter selects by; the zero value is nothing.
type subject struct {
	kind string
	id   int32
}

func newTally(school *demo.School) *tally {
	t := &tally{
		map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]{},
		map[lyceum.TransactionFilter]*total{},
		map[subject][]*total{},
	}
	for _, p := range school.PricingPlans {
		t.courses[p.ID] = p.CourseID
	}
	return t
}

func (t *tally) add(f lyceum.TransactionFilter) {
	if t.totals[f] != nil {
		return
	}
	named := subject{}
	switch {
	case f.UserID.Present:
		named = subject{"user", int32(f.UserID.Value)}
	case f.PricingPlanID.Present:
		named = subject{"plan", int32(f.PricingPlanID.Value)}
	case f.AffiliateID.Present:
		named = subject{"affiliate", int32(f.AffiliateID.Value)}
	case f.CourseID.Present:
		named = subject{"course", int32(f.CourseID.Value)}
	}
	t.totals[f] = &total{filter: f}
	t.bySubject[named] = append(t.bySubject[named], t.totals[f])
}

func (t *tally) count(sale *lyceum.Transaction) {
	course := t.courses[sale.PricingPlanID]
	for _, named := range [...]subject{
		{},
		{"user", int32(sale.UserID)},
		{"plan", int32(sale.PricingPlanID)},
		{"affiliate", int32(sale.AffiliateID.Value)},
		{"course", int32(course.Value)},
	} {
		for _, total := range t.bySubject[named] {
			if total.filter.Match(sale, course) {
				total.n++
			}
		}
	}
}

// classes returns the classes without totals. Every other request is for the oldest sales
// first. Page numbers beyond the last page are reduced to existing pages when the total is
// known.
func classes(school *demo.School, seed uint64, size int) []class {
	type filter = lyceum.TransactionFilter
	chance := rand.New(rand.NewPCG(seed, 77))
	buyers := sample(school, chance, size)
	courses := sold(school)
	plans, affiliates := school.PricingPlans, school.Affiliates
	all := pages(size, 20)
	filters := freshFilters(courses)
	once, next := kind("three filters, fresh", filters), variants
	once.fresh = func() listRequest {
		next++
		return completed(filters(next-1), next-1)
	}
	month := func(i int) lyceum.Period {
		begin := salesEnd.AddDate(0, -1-i, 0)
		return lyceum.Period{After: begin.Add(-time.Second), Until: begin.AddDate(0, 1, 0).Add(-time.Second)}
	}
	// Both orders of the same request are adjacent: i/2 numbers the requests, and with n things
	// i/(2*n) is how often all of them have been requested.
	return []class{
		kind("first page", func(i int) listRequest { return listRequest{page: 1 + i/2} }),
		kind("middle page", func(i int) listRequest { return listRequest{page: 1 + all/2 + i/2} }),
		kind("last page", func(i int) listRequest { return listRequest{page: max(1, all-i/2)} }),
		kind("one month", func(i int) listRequest { return listRequest{filter: filter{Created: month(i)}} }),
		kind("user", func(i int) listRequest { return listRequest{filter: filter{UserID: lyceum.Some(buyers[i])}} }),
		kind("course", func(i int) listRequest {
			return listRequest{page: 1 + i/(2*len(courses)), filter: filter{CourseID: lyceum.Some(courses[i/2%len(courses)])}}
		}),
		kind("pricing plan", func(i int) listRequest {
			return listRequest{filter: filter{PricingPlanID: lyceum.Some(plans[i*len(plans)/variants].ID)}}
		}),
		kind("affiliate", func(i int) listRequest {
			return listRequest{
				page: 1 + i/(2*len(affiliates)), filter: filter{AffiliateID: lyceum.Some(affiliates[i/2%len(affiliates)].ID)},
			}
		}),
		kind("full refunds", func(i int) listRequest {
			return listRequest{page: 1 + i/2, filter: filter{FullyRefunded: lyceum.Some(true)}}
		}),
		kind("chargebacks", func(i int) listRequest {
			return listRequest{page: 1 + i/2, filter: filter{Chargeback: lyceum.Some(true)}}
		}),
		kind("three filters, paged", func(i int) listRequest {
			return listRequest{
				page: 1 + i/2,
				filter: filter{
					CourseID: lyceum.Some(courses[0]), FullyRefunded: lyceum.Some(false), Chargeback: lyceum.Some(false),
				},
			}
		}),
		once,
		kind("per=100", func(i int) listRequest { return listRequest{page: 1 + i/2, per: 100} }),
	}
}

// kind returns a class of the requests that nth returns for 0, 1, 2 and so on.
func kind(name string, nth func(i int) listRequest) class {
	c := class{name: name}
	for i := range variants {
		c.requests = append(c.requests, completed(nth(i), i))
	}
	return c
}

// completed sets what most requests have in common: the first page, of 20.
func completed(q listRequest, i int) listRequest {
	q.page, q.per = cmp.Or(q.page, 1), cmp.Or(q.per, 20)
	if i%2 == 1 {
		q.order = lyceum.OldestFirst
	}
	return q
}

// freshFilters returns a function that returns numbered requests for a course, a month starting
// at any second and one or two flags. No two of a hundred million are equal.
func freshFilters(courses []lyceum.CourseID) func(i int) listRequest {
	// In seconds. It jumps from one part of the period to another, and has no factor in common
	// with the whole period, so that every second gets its turn.
	const step = 66_533_911
	begins := int(salesEnd.Sub(salesBegin)/time.Second) - 30*24*3600
	no, yes := lyceum.Some(false), lyceum.Some(true)
	flags := [...]lyceum.TransactionFilter{
		{FullyRefunded: no}, {Chargeback: no}, {FullyRefunded: yes}, {FullyRefunded: no, Chargeback: no},
	}
	return func(i int) listRequest {
		f := flags[i/2%len(flags)]
		f.CourseID = lyceum.Some(courses[i%len(courses)])
		f.Created.After = salesBegin.Add(time.Duration(i*step%begins) * time.Second)
		f.Created.Until = f.Created.After.AddDate(0, 0, 30)
		return listRequest{filter: f}
	}
}

// sold returns the courses that can be bought.
func sold(school *demo.School) []lyceum.CourseID {
	var courses []lyceum.CourseID
	for _, p := range school.PricingPlans {
		if p.CourseID.Present {
			courses = append(courses, p.CourseID.Value)
		}
	}
	slices.Sort(courses)
	return slices.Compact(courses)
}

// sample picks buyers in proportion to their sales: frequent buyers are picked often.
func sample(school *demo.School, chance *rand.Rand, size int) []lyceum.UserID {
	var buyers []lyceum.UserID
	for batch := range school.Batches(1000) {
		for i := range batch.Transactions {
			if chance.IntN(size) < variants*4 {
				buyers = append(buyers, batch.Transactions[i].UserID)
			}
		}
	}
	chance.Shuffle(len(buyers), func(i, j int) { buyers[i], buyers[j] = buyers[j], buyers[i] })
	for len(buyers) < variants {
		buyers = append(buyers, demo.LearnerID)
	}
	return buyers
}
