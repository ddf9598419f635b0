package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestTogether checks that what many clients request concurrently happens once.
func TestTogether(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		for path, body := range map[string]string{
			"/v1/enroll": `{"user_id":1,"course_id":4}`,
			"/v1/users":  `{"email":"Once@example.com","name":"Once"}`,
			"/v1/courses/1/lectures/12/mark_complete": `{"user_id":2}`,
		} {
			var group sync.WaitGroup
			responses := make([]string, 20)
			for n := range responses {
				group.Go(func() {
					w := k.do(request(http.MethodPost, path, strings.NewReader(body), "apiKey: "+k.ours.key, "Content-Type: application/json"))
					responses[n] = fmt.Sprint(w.Code, w.Body)
				})
			}
			group.Wait()
			for _, response := range responses {
				if response != responses[0] || !strings.HasPrefix(response, "20") {
					t.Errorf("%s: %s, another got %s", path, response, responses[0])
				}
			}
		}
		if total := k.total(t, list{path: "/v1/courses/4/enrollments", member: "enrollments", key: "user_id", per: "per"}); total != 1 {
			t.Errorf("%d enrollments", total)
		}
		if total := k.total(t, crowded[1]); total != 6 {
			t.Errorf("%d users", total)
		}
		created := map[lyceum.EntryType]int{}
		entries, err := storetest.FindEntries(t.Context(), k.store, k.ours.id, 0, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Actor, "api_key:") {
				created[e.Type]++
			}
		}
		for _, kind := range []lyceum.EntryType{lyceum.EnrollmentCreated, lyceum.UserCreated, lyceum.LectureProgressCreated} {
			if created[kind] != 1 {
				t.Errorf("%d entries %s", created[kind], kind)
			}
		}
		if findings, err := k.store.Check(t.Context()); err != nil || len(findings) > 0 {
			t.Errorf("check: %v, %v", findings, err)
		}
	})
}

// TestRepeatedCompletionTakesNothing checks that completing a completed lecture again, in
// either version, uses no id and does not change the journal.
func TestRepeatedCompletionTakesNothing(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		mark := func(lecture int) {
			t.Helper()
			path := fmt.Sprintf("/v1/courses/1/lectures/%d/mark_complete", lecture)
			wantStatus(t, k.do(request(http.MethodPost, path, strings.NewReader(`{"user_id":2}`), "apiKey: "+k.ours.key, "Content-Type: application/json")), http.StatusNoContent)
		}
		entries := func() int {
			t.Helper()
			all, err := storetest.FindEntries(t.Context(), k.store, k.ours.id, 0, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		mark(12)
		before := entries()
		for range 3 {
			mark(12)
			put := k.do(request(http.MethodPut, "/v2/current_user/courses/1/lectures/12/completion", nil, "Authorization: bearer "+k.tokens[bearer{k.ours, mira, lyceum.V2}]))
			wantStatus(t, put, http.StatusOK)
		}
		if after := entries(); after != before {
			t.Errorf("%d entries were appended", after-before)
		}
		mark(13)
		ids := map[lyceum.LectureID]lyceum.LectureProgressID{}
		v := k.store.In(t.Context(), k.ours.id)
		err := v.LectureProgress.Each(v, lyceum.LectureProgressFilter{}, func(p *lyceum.LectureProgress) error {
			if p.User == mira {
				ids[p.Lecture] = p.ID
			}
			return nil
		})
		if err != nil || ids[13] != ids[12]+1 {
			t.Errorf("lecture 12 was completed under %d, lecture 13 under %d, %v", ids[12], ids[13], err)
		}
	})
}
