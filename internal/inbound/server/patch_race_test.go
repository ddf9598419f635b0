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

// TestPatchesAtOnce checks that of two concurrent changes of one object, whether of different
// fields or of the same one, none is lost: all are in the journal, and the field has the value
// of the last.
func TestPatchesAtOnce(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		for _, thing := range []struct {
			path, first, second string
			entry               lyceum.EntryType
			id                  int32
		}{
			{"/v2/products/courses/1", `"name":"Round %d"`, `"description":"<p>Round %d</p>"`, lyceum.CourseUpdated, 1},
			{"/v2/products/courses/1/lectures/11", `"name":"Round %d"`, `"is_published":true,"student_comments_enabled":%t`, lyceum.LectureUpdated, 11},
			{"/v2/users/4", `"name":"Round %d"`, `"allow_marketing_emails":%t`, lyceum.UserUpdated, 4},
			{"/lyceum/v1/school", `"grace_days":%d`, `"abandon_after_minutes":9%d`, lyceum.SchoolUpdated, int32(k.ours.id)},
			{"/lyceum/v1/school", `"keep_sessions":2%d`, `"keep_links":3%d`, lyceum.SchoolUpdated, int32(k.ours.id)},
		} {
			for round := range 8 {
				before := k.changesOf(t, thing.entry, thing.id)
				one, other := fmt.Sprintf(thing.first, round), thing.second
				if strings.Contains(other, "%t") {
					other = fmt.Sprintf(other, round%2 == 1)
				} else {
					other = fmt.Sprintf(other, round)
				}
				var both sync.WaitGroup
				for _, body := range []string{one, other} {
					both.Go(func() {
						w := k.do(request(http.MethodPatch, thing.path, strings.NewReader("{"+body+"}"), "apiKey: "+k.ours.key, "Content-Type: application/json"))
						wantStatus(t, w, http.StatusOK)
					})
				}
				both.Wait()
				if made := k.changesOf(t, thing.entry, thing.id) - before; made != 2 {
					t.Errorf("%s, round %d: %d changes in the journal", thing.path, round, made)
				}
				w := k.do(request(http.MethodPatch, thing.path, strings.NewReader("{"+one+","+other+"}"), "apiKey: "+k.ours.key, "Content-Type: application/json"))
				if made := k.changesOf(t, thing.entry, thing.id) - before; made != 2 {
					t.Errorf("%s, round %d: a change was lost: %s", thing.path, round, w.Body)
				}
			}
			var group sync.WaitGroup
			before := k.changesOf(t, thing.entry, thing.id)
			for n := range 2 {
				group.Go(func() {
					body := "{" + fmt.Sprintf(thing.first, 50+n) + "}"
					wantStatus(t, k.do(request(http.MethodPatch, thing.path, strings.NewReader(body), "apiKey: "+k.ours.key, "Content-Type: application/json")), http.StatusOK)
				})
			}
			group.Wait()
			w := k.do(request(http.MethodGet, thing.path, nil, "apiKey: "+k.ours.key))
			last := strings.TrimRight(fmt.Sprintf(thing.first, 5), `"`)
			if made := k.changesOf(t, thing.entry, thing.id) - before; made != 2 || !strings.Contains(w.Body.String(), last) {
				t.Errorf("%s: %d changes, %s", thing.path, made, w.Body)
			}
		}
		if findings, err := k.store.Check(t.Context()); err != nil || len(findings) > 0 {
			t.Errorf("check: %v, %v", findings, err)
		}
	})
}

// changesOf returns the number of journal entries of an object.
func (k *class) changesOf(t *testing.T, kind lyceum.EntryType, id int32) (n int) {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), k.store, k.ours.id, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if entries[i].Type == kind && entries[i].ObjectID == id {
			n++
		}
	}
	return n
}
