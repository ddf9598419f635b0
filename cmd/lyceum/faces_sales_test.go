package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// member returns a user's membership in a course.
func (w *facesWalk) member(m walkMember) *walkMembership {
	if w.members[m] == nil {
		w.members[m] = &walkMembership{sales: map[int]bool{}, done: map[int]bool{}}
	}
	return w.members[m]
}

func (w *facesWalk) enroll(t *testing.T) {
	t.Helper()
	m := walkMember{pick(w.random, w.users), pick(w.random, w.courses)}
	if w.member(m).enrolled() { // the histories of access test what a second reason does
		return
	}
	w.either(
		func() {
			w.s.call(t, "POST", "/v1/enroll", text(t, map[string]any{"user_id": m.user, "course_id": m.course}), nil)
		},
		func() {
			w.s.call(t, "POST", "/lyceum/v1/enrollments",
				text(t, map[string]any{"user_id": m.user, "product_type": "course", "product_id": m.course}), nil)
		},
		func() { w.s.call(t, "PUT", secondEnrollment(m), "", nil) },
	)
	w.member(m).byHand = true
	w.compareMember(t, m)
}

func secondEnrollment(m walkMember) string {
	return fmt.Sprintf("/v2/products/courses/%d/enrollments/%d", m.course, m.user)
}

// joined picks a member whose membership passes a test, or reports that there is none.
func (w *facesWalk) joined(passes func(*walkMembership) bool) (walkMember, bool) {
	var all []walkMember
	for m, of := range w.members {
		if passes(of) {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return walkMember{}, false
	}
	slices.SortFunc(all, func(x, y walkMember) int { return (x.user-y.user)*1_000_000 + x.course - y.course })
	return all[w.random.IntN(len(all))], true
}

func (w *facesWalk) unenroll(t *testing.T) {
	t.Helper()
	m, some := w.joined(func(of *walkMembership) bool { return of.byHand && len(of.sales) == 0 })
	if !some {
		return
	}
	w.either(
		func() {
			w.s.call(t, "POST", "/v1/unenroll", text(t, map[string]any{"user_id": m.user, "course_id": m.course}), nil)
		},
		func() { w.s.call(t, "DELETE", secondEnrollment(m), "", nil) },
		func() {
			w.s.call(t, "DELETE", fmt.Sprintf("/lyceum/v1/users/%d/access/course/%d", m.user, m.course), "", nil)
		},
	)
	w.member(m).byHand = false
	w.compareMember(t, m)
}

func (w *facesWalk) complete(t *testing.T) {
	t.Helper()
	m, some := w.joined((*walkMembership).enrolled)
	if !some {
		return
	}
	var lectures []int
	for _, s := range w.courses[m.course].sections {
		for _, l := range s.lectures {
			lectures = append(lectures, l.id)
		}
	}
	if len(lectures) == 0 {
		return
	}
	lecture := lectures[w.random.IntN(len(lectures))]
	second := fmt.Sprintf("/v2/products/courses/%d/lectures/%d/users/%d/completion", m.course, lecture, m.user)
	w.either(
		func() {
			w.s.call(t, "POST", fmt.Sprintf("/v1/courses/%d/lectures/%d/mark_complete", m.course, lecture),
				text(t, map[string]any{"user_id": m.user}), nil)
			w.member(m).done[lecture] = true
		},
		func() {
			w.s.call(t, "PUT", second, "", nil)
			w.member(m).done[lecture] = true
		},
		func() {
			w.s.call(t, "DELETE", second, "", nil)
			delete(w.member(m).done, lecture)
		},
	)
	w.compareMember(t, m)
}

func (w *facesWalk) compareMember(t *testing.T, m walkMember) {
	t.Helper()
	of := w.members[m]
	first := fmt.Sprintf("/v1/users/%d", m.user)
	active := false
	courses, _ := w.object(t, "GET", first, "", nil)["courses"].([]any)
	for _, each := range courses {
		if c := each.(map[string]any); number(c, "course_id") == m.course {
			active = c["is_active_enrollment"].(bool)
		}
	}
	w.same(t, fmt.Sprintf("%s: course %d", first, m.course), of.enrolled(), active)
	own := fmt.Sprintf("/lyceum/v1/users/%d/access", m.user)
	reaches := false
	for _, a := range w.rows(t, own, "access") {
		if p := a["product"].(map[string]any); p["type"] == "course" && number(p, "id") == m.course {
			reaches = a["has_access"].(bool)
		}
	}
	w.same(t, fmt.Sprintf("%s: course %d", own, m.course), of.enrolled(), reaches)
	open := len(w.rows(t, secondEnrollment(m), "data")) > 0
	w.same(t, secondEnrollment(m), of.enrolled(), open)
	if !of.enrolled() {
		return
	}
	want := slices.Sorted(maps.Keys(of.done))
	progress := fmt.Sprintf("/v1/courses/%d/progress?user_id=%d&per=100", m.course, m.user)
	w.same(t, progress, want, completed(w.object(t, "GET", progress, "course_progress", nil)["lecture_sections"]))
	progress = fmt.Sprintf("/v2/products/courses/%d/users/%d/progress", m.course, m.user)
	w.same(t, progress, want, completed(w.object(t, "GET", progress, "data", nil)["sections"]))
}

// completed lists the completed lectures in a progress object.
func completed(sections any) (all []int) {
	list, _ := sections.([]any)
	for _, s := range list {
		for _, l := range s.(map[string]any)["lectures"].([]any) {
			if lecture := l.(map[string]any); lecture["is_completed"] == true {
				all = append(all, number(lecture, "id"))
			}
		}
	}
	slices.Sort(all)
	return all
}

func (w *facesWalk) addPlan(t *testing.T) {
	t.Helper()
	if len(w.plans) >= 20 {
		return
	}
	p := &walkPlan{course: pick(w.random, w.courses), name: w.word(), price: 100 + w.random.IntN(9900), published: true}
	var id int
	w.either(
		func() {
			id = number(w.object(t, "POST", "/lyceum/v1/pricing_plans", "pricing_plan", map[string]any{
				"product_type": "course", "product_id": p.course, "name": p.name, "price": p.price, "currency": "USD",
				"frequency": "one_time_payment",
			}), "id")
		},
		func() {
			id = number(w.object(t, "POST", fmt.Sprintf("/v2/products/courses/%d/pricing-plans", p.course), "data", map[string]any{
				"name": p.name, "currency": "USD", "price": p.price, "is_published": true,
			}), "id")
		},
	)
	w.plans[id] = p
	w.comparePlan(t, id)
}

func (w *facesWalk) renamePlan(t *testing.T) {
	t.Helper()
	if len(w.plans) == 0 {
		return
	}
	id := pick(w.random, w.plans)
	p := w.plans[id]
	p.name = w.word()
	body := map[string]any{"name": p.name}
	w.either(
		func() { w.object(t, "PATCH", fmt.Sprintf("/lyceum/v1/pricing_plans/%d", id), "pricing_plan", body) },
		func() {
			w.object(t, "PATCH", fmt.Sprintf("/v2/products/courses/%d/pricing-plans/%d", p.course, id), "data", body)
		},
	)
	w.comparePlan(t, id)
}

func (w *facesWalk) comparePlan(t *testing.T, id int) {
	t.Helper()
	p := w.plans[id]
	want := map[string]any{"id": float64(id), "name": p.name, "price": float64(p.price), "currency": "USD"}
	own, first := fmt.Sprintf("/lyceum/v1/pricing_plans/%d", id), fmt.Sprintf("/v1/pricing_plans/%d", id)
	second := fmt.Sprintf("/v2/products/courses/%d/pricing-plans/%d", p.course, id)
	w.wantFields(t, own, w.object(t, "GET", own, "pricing_plan", nil), want)
	w.wantFields(t, first, w.object(t, "GET", first, "pricing_plan", nil), want)
	w.wantFields(t, second, w.object(t, "GET", second, "data", nil), want)
}

func (w *facesWalk) sell(t *testing.T) {
	t.Helper()
	if len(w.plans) == 0 {
		return
	}
	sale := &walkSale{user: pick(w.random, w.users), plan: pick(w.random, w.plans)}
	sale.price = w.plans[sale.plan].price
	sold := w.object(t, "POST", "/lyceum/v1/sales", "sale", map[string]any{"user_id": sale.user, "pricing_plan_id": sale.plan})
	sale.transaction = number(sold["transactions"].([]any)[0].(map[string]any), "id")
	id := number(sold, "id")
	w.sales[id] = sale
	w.member(w.buyer(sale)).sales[id] = true
	w.compareSale(t, id)
}

func (w *facesWalk) buyer(s *walkSale) walkMember { return walkMember{s.user, w.plans[s.plan].course} }

func (w *facesWalk) refund(t *testing.T) {
	t.Helper()
	if len(w.sales) == 0 {
		return
	}
	id := pick(w.random, w.sales)
	s := w.sales[id]
	if s.refunded == s.price {
		return
	}
	amount := s.price - s.refunded
	if w.random.IntN(2) == 0 {
		amount = 1 + w.random.IntN(amount)
	}
	w.s.call(t, "POST", fmt.Sprintf("/lyceum/v1/transactions/%d/refunds", s.transaction), text(t, map[string]any{"amount": amount}), nil)
	if s.refunded += amount; s.refunded == s.price {
		delete(w.member(w.buyer(s)).sales, id)
	}
	w.compareSale(t, id)
}

func (w *facesWalk) compareSale(t *testing.T, id int) {
	t.Helper()
	s := w.sales[id]
	money := map[string]any{
		"id": float64(s.transaction), "final_price": float64(s.price), "charge": float64(s.price), "amount_refunded": float64(s.refunded),
	}
	own, second := fmt.Sprintf("/lyceum/v1/transactions/%d", s.transaction), fmt.Sprintf("/v2/transactions/%d", s.transaction)
	w.wantFields(t, own, w.object(t, "GET", own, "transaction", nil), money)
	w.wantFields(t, second, w.object(t, "GET", second, "data", nil), money)
	first := fmt.Sprintf("/v1/transactions?user_id=%d", s.user)
	for _, row := range w.rows(t, first, "transactions") {
		if number(row, "id") == s.transaction {
			w.wantFields(t, first, row, money)
		}
	}
	var ours []int
	for _, each := range w.sales {
		if each.user == s.user {
			ours = append(ours, each.transaction)
		}
	}
	slices.Sort(ours)
	of := ids(w.rows(t, first, "transactions"), "id")
	slices.Sort(of)
	w.same(t, first, ours, of)
	of = ids(w.rows(t, fmt.Sprintf("/v2/transactions?user_id=%d", s.user), "data"), "id")
	slices.Sort(of)
	w.same(t, fmt.Sprintf("/v2/transactions?user_id=%d", s.user), ours, of)
	purchase := fmt.Sprintf("/v2/purchases/%d", id)
	w.wantFields(t, purchase, w.object(t, "GET", purchase, "data", nil), map[string]any{
		"id": float64(id), "final_price": float64(s.price), "is_active": s.refunded < s.price,
	})
	w.compareMember(t, w.buyer(s))
}
