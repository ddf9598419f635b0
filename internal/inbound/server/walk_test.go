package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// list is a list of a face to walk through: its path, how its rows are identified, and the meta
// it should have.
type list struct {
	name, path, member, key string
	per                     string // the parameter for the page size
	total                   int
}

// crowded are the lists of a class with a crowd of 250 in course 1.
var crowded = []list{
	{name: "courses", path: "/v1/courses", member: "courses", key: "id", per: "per", total: 4},
	{name: "users", path: "/v1/users", member: "users", key: "id", per: "per", total: 255},
	{name: "enrollments", path: "/v1/courses/1/enrollments", member: "enrollments", key: "user_id", per: "per", total: 253},
	{name: "pricing plans", path: "/v1/pricing_plans", member: "pricing_plans", key: "id", per: "per", total: 6},
	{name: "transactions", path: "/v1/transactions", member: "transactions", key: "id", per: "per", total: 130},
	{name: "webhook events", path: "/v1/webhooks/1/events", member: "events", key: "id", per: "per", total: 25},
	{name: "v2 courses", path: "/v2/products/courses", member: "data", key: "id", per: "per_page", total: 4},
}

func crowdedClass(t *testing.T, c *campus) *class {
	t.Helper()
	k := newClass(t, c)
	storetest.Crowd(t, k.store, k.ours.id, 1, 1000, 250)
	storetest.Ledger(t, k.store, k.theirs.id, 3, 130) // has its own users and courses
	return k
}

type page struct {
	rows []int
	meta map[string]any
}

// turn requests a page of a list.
func (k *class) turn(t *testing.T, l list, query string) page {
	t.Helper()
	school := k.ours
	if l.name == "transactions" {
		school = k.theirs
	}
	w := k.do(request(http.MethodGet, l.path+"?"+query, nil, "apiKey: "+school.key))
	wantStatus(t, w, http.StatusOK)
	var body map[string]any
	decode(t, w.Body.Bytes(), &body)
	var p page
	for _, row := range body[l.member].([]any) {
		p.rows = append(p.rows, int(row.(map[string]any)[l.key].(float64)))
	}
	p.meta, _ = body["meta"].(map[string]any)
	return p
}

// wantMeta compares the meta of page number of the given size with the list's total.
func wantMeta(t *testing.T, l list, p page, number, size int) {
	t.Helper()
	pages := (l.total + size - 1) / size
	want := map[string]any{"total": l.total, "page": number, "per_page": size, "number_of_pages": pages, "from": (number-1)*size + 1, "to": min(number*size, l.total)}
	if l.per == "per_page" {
		want = map[string]any{"page": number, "per_page": size, "total_pages": pages, "total_count": l.total}
	}
	if fmt.Sprint(want) != fmt.Sprint(p.meta) {
		t.Errorf("%s, page %d of %d: meta %v, want %v", l.name, number, size, p.meta, want)
	}
}

// TestWalks checks that at every page size, each row of every list is returned once, in the
// same order, with correct meta.
func TestWalks(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := crowdedClass(t, c)
		for _, l := range crowded {
			var order []int
			for _, size := range []int{100, 20, 7, 1} {
				var seen []int
				for number := 1; number <= (l.total+size-1)/size; number++ {
					p := k.turn(t, l, fmt.Sprintf("page=%d&%s=%d", number, l.per, size))
					wantMeta(t, l, p, number, size)
					seen = append(seen, p.rows...)
				}
				if unique := slices.Compact(slices.Sorted(slices.Values(seen))); len(seen) != l.total || len(unique) != l.total {
					t.Errorf("%s at %d: %d rows, %d of them different, want %d", l.name, size, len(seen), len(unique), l.total)
				}
				if order == nil {
					order = seen
				}
				if !slices.Equal(seen, order) {
					t.Errorf("%s at %d comes in another order", l.name, size)
				}
			}
		}
		k.walkByID(t)
	})
}

// walkByID walks through the users with search_after.
func (k *class) walkByID(t *testing.T) {
	t.Helper()
	users := crowded[1]
	for _, size := range []int{1, 7, 20, 100} {
		after, seen := 0, 0
		for more := true; more; {
			p := k.turn(t, users, fmt.Sprintf("search_after=%d&per=%d", after, size))
			seen += len(p.rows)
			more = p.meta["has_more_results"].(bool)
			if !slices.IsSorted(p.rows) || len(p.rows) == 0 || p.rows[0] <= after || p.meta["total"] != float64(users.total) {
				t.Fatalf("after %d: %v, meta %v", after, p.rows, p.meta)
			}
			if after = p.rows[len(p.rows)-1]; fmt.Sprint(p.meta["search_after"]) != fmt.Sprint([]int{after}) {
				t.Fatalf("meta %v after %v", p.meta, p.rows)
			}
		}
		if seen != users.total {
			t.Errorf("by search_after at %d: %d users", size, seen)
		}
	}
}

// TestWalksWhileRowsAreAdded checks that lists in ascending order return each row once,
// whatever is added in the meantime.
func TestWalksWhileRowsAreAdded(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := crowdedClass(t, c)
		for name, next := range map[string]func(number, last int) string{
			"users by page":         func(number, _ int) string { return fmt.Sprintf("page=%d&per=20", number) },
			"users by search_after": func(_, last int) string { return fmt.Sprintf("search_after=%d&per=20", last) },
			"enrollments":           func(number, _ int) string { return fmt.Sprintf("page=%d&per=20&sort_direction=asc", number) },
		} {
			l := crowded[1]
			if name == "enrollments" {
				l = crowded[2]
			}
			before, seen := k.total(t, l), map[int]int{}
			first, last := map[string]int32{"users by page": 3000, "users by search_after": 4000, "enrollments": 5000}[name], 0
			for number := 1; ; number++ {
				p := k.turn(t, l, next(number, last))
				for _, row := range p.rows {
					seen[row]++
					last = row
				}
				if len(p.rows) == 0 {
					break
				}
				if number <= 5 {
					k.add(t, first+int32(number)*3)
				}
			}
			for row, times := range seen {
				if times != 1 {
					t.Errorf("%s: %d came %d times", name, row, times)
				}
			}
			if want := before + 15; len(seen) != want {
				t.Errorf("%s: %d rows, want %d", name, len(seen), want)
			}
		}
	})
}

func (k *class) total(t *testing.T, l list) int {
	t.Helper()
	return int(k.turn(t, l, l.per+"=1").meta["total"].(float64))
}

// add adds three users who enroll after everybody else.
func (k *class) add(t *testing.T, first int32) {
	t.Helper()
	storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error {
		for id := first; id < first+3; id++ {
			user := lyceum.User{ID: lyceum.UserID(id), Email: fmt.Sprintf("late%d@example.com", id), Role: lyceum.Student, CreatedAt: storetest.Day(9)}
			if _, err := tx.Users.Save(tx, user); err != nil {
				return err
			}
			e := lyceum.Enrollment{ID: lyceum.EnrollmentID(id), User: user.ID, Course: 1, EnrolledAt: storetest.Day(9)}
			if err := storetest.Enroll(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxStatements is how many statements one response may take, whatever its size.
const maxStatements = 8

// TestStatements checks that no operation runs a statement per row. Each is called in a school
// of five users and in one of hundreds, and takes the same number of statements in both.
func TestStatements(t *testing.T) {
	var count atomic.Int64
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{Trace: func(string) { count.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	k := newClass(t, campusOver(t, store))
	storetest.Crowd(t, k.store, k.theirs.id, 1, 1000, 400)
	storetest.Write(t, k.store, k.theirs.id, crowdedContents)
	storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error { return stopCharging(tx, 1) })
	storetest.Write(t, k.store, k.theirs.id, func(tx lyceum.Tx) error { return stopCharging(tx, 60) })
	for _, p := range []*campusSchool{k.ours, k.theirs} {
		storetest.Write(t, k.store, p.id, func(tx lyceum.Tx) error {
			_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, CreatedAt: storetest.Day(1), Live: true})
			return errors.Join(err, sellOnce(tx, 1))
		})
	}
	storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error { return holdMany(tx, 0) })
	storetest.Write(t, k.store, k.theirs.id, func(tx lyceum.Tx) error { return holdMany(tx, 120) })
	storetest.Write(t, k.store, k.theirs.id, func(tx lyceum.Tx) error {
		var failures []lyceum.PaymentFailure
		for n := range lyceum.PaymentFailureID(300) {
			failures = append(failures, lyceum.PaymentFailure{ID: 1000 + n, SaleID: 1, OccurredAt: storetest.Day(9)})
		}
		return tx.PaymentFailures.Insert(tx, failures...)
	})
	k.options.Cache = nil
	k.Handler = server.Handler(k.options)
	for _, face := range k.options.Faces {
		for _, op := range face.Operations() {
			if op.Method != http.MethodGet || op.Credential == wire.Open {
				continue
			}
			path := fill(op.Path, everyID)
			var counts []int64
			for _, p := range []*campusSchool{k.ours, k.theirs} {
				var n int64
				for range 2 { // the second time, credentials are cached
					before := count.Load()
					query := "?user_id=2&per=100"
					if strings.HasPrefix(path, "/v2") {
						query = "?per_page=100"
					}
					if strings.HasPrefix(path, "/lyceum") {
						query = "?limit=5&per_page=2"
					}
					w := k.do(request(op.Method, path+query, nil, "apiKey: "+p.key, "Authorization: bearer "+k.tokens[bearer{p, mira, op.Version}]))
					wantStatus(t, w, http.StatusOK)
					n = count.Load() - before
				}
				counts = append(counts, n)
			}
			t.Logf("%-60s %d statements", op.ID+" "+op.Path, counts[1])
			if counts[0] != counts[1] || counts[1] > maxStatements {
				t.Errorf("%s takes %d statements in a small school and %d in a large one; at most %d", op.ID, counts[0], counts[1], maxStatements)
			}
		}
	}
}

// stopCharging adds sales to stop charging, with two payments each.
func stopCharging(tx lyceum.Tx, n int32) error {
	for id := 2000 + 1; id <= 2000+int(n); id++ {
		first := lyceum.Transaction{
			ID: lyceum.TransactionID(id), UserID: mira, PricingPlanID: 1, SaleID: lyceum.SaleID(id),
			CreatedAt: storetest.Day(1), PurchasedAt: storetest.Day(1), Currency: "USD", Paid: true,
		}
		second := first
		second.ID, second.CreatedAt = first.ID+1000, storetest.Day(2)
		sale := lyceum.SaleOf(&first)
		sale.EndedAt, sale.EndReason = lyceum.Some(storetest.Day(3)), lyceum.Some(lyceum.SaleCanceled)
		sale.ToStop = sale.EndedAt
		_, saleErr := tx.Sales.Save(tx, sale)
		_, moneyErr := tx.Transactions.Save(tx, first, second)
		if err := errors.Join(saleErr, moneyErr); err != nil {
			return err
		}
	}
	return nil
}

// crowdedContents adds many objects of every kind to a classroom.
func crowdedContents(tx lyceum.Tx) error {
	var c storetest.Classroom
	for n := range int32(300) {
		c.Courses = append(c.Courses, lyceum.Course{ID: lyceum.CourseID(1000 + n), Name: "More", IsPublished: true, CreatedAt: storetest.Day(1), UpdatedAt: storetest.Day(1)})
		c.Sections = append(c.Sections, lyceum.LectureSection{ID: lyceum.LectureSectionID(1000 + n), Course: 1, Name: "More", IsPublished: true, Position: 10 + n})
		c.Lectures = append(c.Lectures, lyceum.Lecture{ID: lyceum.LectureID(1000 + n), Course: 1, Section: lyceum.LectureSectionID(1000 + n), IsPublished: true, Position: 1})
		c.Attachments = append(c.Attachments, lyceum.Attachment{ID: lyceum.AttachmentID(1000 + n), Lecture: 11, Kind: lyceum.TextAttachment})
		c.PricingPlans = append(c.PricingPlans, lyceum.PricingPlan{ID: lyceum.PricingPlanID(1000 + n), CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "More", Currency: "USD", Frequency: lyceum.Free, CreatedAt: storetest.Day(1), UpdatedAt: storetest.Day(1)})
		c.Enrollments = append(c.Enrollments, lyceum.Enrollment{ID: lyceum.EnrollmentID(5000 + n), User: mira, Course: lyceum.CourseID(1000 + n), EnrolledAt: storetest.Day(5)})
		c.LectureProgress = append(c.LectureProgress, lyceum.LectureProgress{ID: lyceum.LectureProgressID(1000 + n), User: mira, Course: 1, Lecture: lyceum.LectureID(1000 + n), CompletedAt: storetest.Day(9)})
		c.QuizResponses = append(c.QuizResponses, lyceum.QuizResponse{ID: lyceum.QuizResponseID(1000 + n), Quiz: 901, User: lyceum.UserID(1000 + n)})
		c.Webhooks = append(c.Webhooks, lyceum.Webhook{ID: lyceum.WebhookID(1000 + n), State: lyceum.WebhookPending, URL: "https://hooks.example.com", EventTrigger: "Sale.created", CreatedAt: storetest.Day(1)})
		c.WebhookEvents = append(c.WebhookEvents, lyceum.WebhookEvent{ID: lyceum.WebhookEventID(1000 + n), Webhook: 1, State: "pending", CreatedAt: storetest.Day(9), ObjectType: "Sale", ObjectID: 1})
	}
	return c.Save(tx)
}
