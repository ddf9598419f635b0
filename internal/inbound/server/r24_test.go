package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// heavy is a text that takes six times its length in JSON.
func heavy(n int) string { return strings.Repeat("<", n) }

// heavySchool has a user with the maximum number of tags, tagged again and again, a lecture
// with long comments, and a delivery with many attempts and long responses.
func heavySchool(t *testing.T, s *site) (rows int) {
	t.Helper()
	rows = 40
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		var tags []string
		for n := range 100 {
			tags = append(tags, fmt.Sprintf("%02d%s", n, heavy(250)))
		}
		if _, err := tx.SetTags(1, tags); err != nil {
			return err
		}
		for range rows {
			tx.Note(lyceum.UserTagged, 1)
		}
		_, e1 := tx.Courses.Save(tx, lyceum.Course{ID: 90, Name: "Course", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin})
		_, e2 := tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 90, Course: 90, Name: "Section", Position: 1})
		_, e3 := tx.Lectures.Save(tx, lyceum.Lecture{ID: 90, Course: 90, Section: 90, Position: 1})
		_, e4 := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 90, State: lyceum.WebhookVerified, URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, Live: true, Schedule: lyceum.ContractSchedule, CreatedAt: storetest.Begin})
		e5 := tx.CreateDeliveries([]lyceum.WebhookEvent{{ID: 90, Webhook: 90, State: lyceum.DeliveryDelivered, ObjectType: "Comment", ObjectID: 1, CreatedAt: storetest.Begin, Number: lyceum.Some[int64](1)}})
		for _, err := range []error{e1, e2, e3, e4, e5} {
			if err != nil {
				return err
			}
		}
		for n := range int32(rows) {
			if err := tx.Comments.Insert(tx, lyceum.Comment{ID: lyceum.CommentID(n + 1), Lecture: 90, User: 1, Body: fmt.Sprintf("%d%s", n, heavy(30_000)), CreatedAt: storetest.Begin}); err != nil {
				return err
			}
			tx.Announce(lyceum.CommentCreated, n+1, lyceum.CommentCreatedEvent, "")
			if err := tx.CreateAttempt(lyceum.Attempt{Delivery: 90, Number: n + 1, At: storetest.Begin, Took: time.Millisecond, ResponseBody: heavy(30_000)}); err != nil {
				return err
			}
		}
		return nil
	})
	return rows
}

// A response with a list whose rows have no fixed size contains at most 4 MiB and one row, and
// following next returns every row once.
func TestR24_ListsEndAtTheirBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	rows := heavySchool(t, s)
	last, err := s.store.In(t.Context(), s.ours).LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, path string
		want       int
		numbers    func(body []byte) []int
	}{
		{"changes", "/lyceum/v1/changes?limit=10000", int(last), members("changes", "number")},
		{"events", "/lyceum/v1/events?limit=1000&types=Comment.created", rows, members("events", "number")},
		{"comments", "/lyceum/v1/lectures/90/comments?per_page=100", rows, members("comments", "id")},
		{"attempts of a delivery", "/lyceum/v1/deliveries/90", rows, func(body []byte) []int {
			var one struct {
				Delivery json.RawMessage `json:"delivery"`
			}
			_ = json.Unmarshal(body, &one)
			return members("attempts", "number")(one.Delivery)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seen, responses := map[int]bool{}, 0
			separator := "?"
			if strings.Contains(tc.path, "?") {
				separator = "&"
			}
			for next, more := int64(0), true; more; responses++ {
				w := s.do(request(http.MethodGet, fmt.Sprintf("%s%safter=%d", tc.path, separator, next), nil, "apiKey: "+s.key))
				wantStatus(t, w, http.StatusOK)
				const row = 200 << 10
				if size := w.Body.Len(); size > lyceum.ResponseBytes+row {
					t.Errorf("an answer has %d bytes", size)
				}
				var place struct {
					Next int64 `json:"next"`
					More bool  `json:"more"`
				}
				if err := json.Unmarshal(w.Body.Bytes(), &place); err != nil {
					t.Fatal(err)
				}
				found := tc.numbers(w.Body.Bytes())
				for _, n := range found {
					if seen[n] {
						t.Errorf("%d comes twice", n)
					}
					seen[n] = true
				}
				if more = place.More; more && (len(found) == 0 || place.Next <= next) {
					t.Fatalf("%d rows, and next is %d after %d", len(found), place.Next, next)
				}
				next = place.Next
			}
			if len(seen) != tc.want || responses < 2 {
				t.Errorf("%d rows in %d answers, want %d in several", len(seen), responses, tc.want)
			}
		})
	}
}

// members returns a number of each element of a list.
func members(list, number string) func(body []byte) []int {
	return func(body []byte) (found []int) {
		var whole map[string]json.RawMessage
		var rows []map[string]any
		if json.Unmarshal(body, &whole) != nil || json.Unmarshal(whole[list], &rows) != nil {
			return nil
		}
		for _, row := range rows {
			found = append(found, int(row[number].(float64)))
		}
		return found
	}
}

// A single row that is larger than a response may be is still returned.
func TestR24_OneRowIsAlwaysGiven(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		huge := lyceum.Some(heavy(900_000))
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: 90, Name: "Course", Description: huge, CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin})
		return err
	})
	last, err := s.store.In(t.Context(), s.ours).LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	w := s.do(request(http.MethodGet, fmt.Sprintf("/lyceum/v1/changes?after=%d", last-1), nil, "apiKey: "+s.key))
	wantStatus(t, w, http.StatusOK)
	if n := members("changes", "number")(w.Body.Bytes()); len(n) != 1 || w.Body.Len() < lyceum.ResponseBytes {
		t.Errorf("%d changes in %d bytes", len(n), w.Body.Len())
	}
}
