package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestFacesAgree takes a random walk over version 1, version 2 and the Lyceum API: each step
// changes the school through one of them, and all of them must then show what a naive model
// predicts. Now and then the server is killed and restarted. LYCEUM_WALK is the number of steps
// on each engine.
func TestFacesAgree(t *testing.T) {
	t.Parallel()
	steps, err := strconv.Atoi(cmp.Or(os.Getenv("LYCEUM_WALK"), "500"))
	if err != nil {
		t.Fatal(err)
	}
	for engine, place := range map[string][]string{
		"SQLite":     {"--data", t.TempDir()},
		"PostgreSQL": {"--database-url", storetest.Postgres(t)},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := &facesWalk{
				random: rand.New(rand.NewPCG(7, uint64(len(engine)))), place: place, made: map[string]int{},
				users: map[int]*walkUser{}, courses: map[int]*walkCourse{}, plans: map[int]*walkPlan{}, sales: map[int]*walkSale{},
				members: map[walkMember]*walkMembership{}, contents: map[int]*walkContents{}, downloads: map[int]*walkDownload{},
			}
			w.s = startStandingAt(t, place...)
			w.connect(t)
			w.addUser(t)
			w.addCourse(t)
			for step := 1; step <= steps; step++ {
				w.step(t)
				if step%250 == 0 {
					w.restart(t, step)
					w.compareAll(t)
				}
				if t.Failed() {
					t.Fatalf("at step %d of %v", step, w.made)
				}
			}
			w.compareAll(t)
			t.Logf("%d steps, %d answers compared, 0 differences; among the steps %v", steps, w.compared, w.made)
		})
	}
}

// facesWalk is a sandbox along with the model: what the walk created, by id.
type facesWalk struct {
	random   *rand.Rand
	place    []string
	s        *standing
	made     map[string]int // steps by name
	compared int

	learner int    // of the app
	token   string // with which the app acts for them

	users     map[int]*walkUser
	courses   map[int]*walkCourse
	plans     map[int]*walkPlan
	sales     map[int]*walkSale
	members   map[walkMember]*walkMembership
	contents  map[int]*walkContents // by lecture
	downloads map[int]*walkDownload
}

type walkUser struct{ email, name string }

type walkCourse struct {
	name      string
	published bool
	sections  []*walkSection // in order
}

type walkSection struct {
	id       int
	name     string
	lectures []*walkLecture // in order
}

type walkLecture struct {
	id   int
	name string
}

type walkPlan struct {
	course    int
	name      string
	price     int
	published bool
}

type walkSale struct {
	user, plan, transaction, price, refunded int
}

type walkMember struct{ user, course int }

// walkMembership is what a user has of a course: access to it while they are enrolled by hand
// or have a sale of it that is not fully refunded.
type walkMembership struct {
	byHand bool
	sales  map[int]bool // those that give access
	done   map[int]bool // lectures
}

func (m *walkMembership) enrolled() bool { return m.byHand || len(m.sales) > 0 }

func (w *facesWalk) restart(t *testing.T, step int) {
	t.Helper()
	if step%500 == 0 {
		w.s.process.kill(t)
	} else if _, err := w.s.process.signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.s = startStandingAt(t, w.place...)
}

// pick returns one of the keys of a map, the same ones in the same order on each walk.
func pick[K cmp.Ordered, V any](r *rand.Rand, of map[K]V) K {
	keys := slices.Sorted(maps.Keys(of))
	return keys[r.IntN(len(keys))]
}

// either does the same thing in one of several ways.
func (w *facesWalk) either(ways ...func()) { ways[w.random.IntN(len(ways))]() }

func (w *facesWalk) word() string {
	words := []string{"Kiln", "glaze & slip", "Ηχώ", "木工", "a \"quoted\" one", "Straße", "🙂 hands"}
	return fmt.Sprintf("%s %d", words[w.random.IntN(len(words))], w.random.IntN(1000))
}

func (w *facesWalk) step(t *testing.T) {
	t.Helper()
	steps := []struct {
		name string
		do   func(*testing.T)
	}{
		{"user made", w.addUser},
		{"user renamed", w.renameUser},
		{"course made", w.addCourse},
		{"course changed", w.changeCourse},
		{"section made", w.addSection},
		{"section renamed", w.renameSection},
		{"sections put in order", w.orderSections},
		{"lecture made", w.addLecture},
		{"lecture made", w.addLecture},
		{"lecture renamed", w.renameLecture},
		{"lecture deleted", w.deleteLecture},
		{"enrolled", w.enroll},
		{"enrolled", w.enroll},
		{"unenrolled", w.unenroll},
		{"completed", w.complete},
		{"completed", w.complete},
		{"plan made", w.addPlan},
		{"plan renamed", w.renamePlan},
		{"sold", w.sell},
		{"sold", w.sell},
		{"refunded", w.refund},
		{"attachment made", w.addAttachment},
		{"attachment deleted", w.deleteAttachment},
		{"quiz made", w.addQuiz},
		{"quiz changed", w.changeQuiz},
		{"quiz answered", w.submitQuiz},
		{"quiz answered", w.submitQuiz},
		{"commented", w.comment},
		{"commented", w.comment},
		{"comment moderated", w.moderate},
		{"comment deleted", w.deleteComment},
		{"download changed", w.changeDownload},
	}
	chosen := steps[w.random.IntN(len(steps))]
	before := w.compared
	chosen.do(t)
	if w.compared > before { // the step had something to act on
		w.made[chosen.name]++
	}
}

// object sends a request and returns the object in a member of the response.
func (w *facesWalk) object(t *testing.T, method, path, member string, body map[string]any) map[string]any {
	t.Helper()
	var response map[string]any
	w.s.call(t, method, path, text(t, body), &response)
	if member == "" {
		return response
	}
	object, _ := response[member].(map[string]any)
	return object
}

func text(t *testing.T, body map[string]any) string {
	t.Helper()
	if body == nil {
		return ""
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func number(of map[string]any, field string) int {
	n, _ := of[field].(float64)
	return int(n)
}

// same compares what a face shows with what the model predicts.
func (w *facesWalk) same(t *testing.T, what string, want, got any) {
	t.Helper()
	w.compared++
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-model +answer):\n%s", what, diff)
	}
}

// wantFields compares some fields of an object.
func (w *facesWalk) wantFields(t *testing.T, path string, object, want map[string]any) {
	t.Helper()
	got := map[string]any{}
	for field := range want {
		got[field] = object[field]
	}
	w.same(t, path, want, got)
}

// rows returns all rows of a list, page by page.
func (w *facesWalk) rows(t *testing.T, path, member string) (rows []map[string]any) {
	t.Helper()
	size := "per_page"
	if strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/lyceum/") {
		size = "per"
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for page := 1; ; page++ {
		var response map[string]any
		w.s.call(t, "GET", fmt.Sprintf("%s%s%s=100&page=%d", path, separator, size, page), "", &response)
		part, _ := response[member].([]any)
		for _, row := range part {
			rows = append(rows, row.(map[string]any))
		}
		if len(part) < 100 {
			return rows
		}
	}
}

func ids(rows []map[string]any, field string) (all []int) {
	for _, row := range rows {
		all = append(all, number(row, field))
	}
	return all
}

func (w *facesWalk) compareAll(t *testing.T) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(w.users)) {
		w.compareUser(t, id)
	}
	for _, id := range slices.Sorted(maps.Keys(w.courses)) {
		w.compareCourse(t, id)
	}
	for _, id := range slices.Sorted(maps.Keys(w.plans)) {
		w.comparePlan(t, id)
	}
	for _, id := range slices.Sorted(maps.Keys(w.sales)) {
		w.compareSale(t, id)
	}
	for m := range w.members {
		w.compareMember(t, m)
	}
	for _, lecture := range slices.Sorted(maps.Keys(w.contents)) {
		w.compareContents(t, lecture)
		w.compareComments(t, lecture)
	}
	for _, id := range slices.Sorted(maps.Keys(w.downloads)) {
		w.compareDownload(t, id)
	}
}
