package mirror

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
)

// TestPagesOfAListThatChanges checks that no row is missed that is in a list all the time, whatever
// is added at its beginning or deleted from it between two requests.
func TestPagesOfAListThatChanges(t *testing.T) {
	const rows = 450
	add, remove := 1, -1
	for name, changes := range map[string]map[int]int{ // before the request with this number
		"none":                       {},
		"deleted":                    {2: remove},
		"added":                      {2: add},
		"added, then deleted":        {2: add, 3: remove},
		"deleted, then added":        {2: remove, 3: add},
		"both at once":               {2: 0},
		"added twice, deleted twice": {2: 2 * add, 4: 2 * remove},
		"added, deleted again later": {2: add, 3: remove, 4: add, 5: remove},
		"many are deleted":           {2: add, 4: 150 * remove},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ids []int32
			for id := int32(rows); id > 0; id-- {
				ids = append(ids, id)
			}
			gone := map[int32]bool{}
			next, requests := int32(rows+1), 0
			shift := func(n int) {
				for ; n > 0; n-- {
					ids = slices.Insert(ids, 0, next)
					next++
				}
				for ; n < 0; n++ { // those that were read already
					at := slices.IndexFunc(ids, func(id int32) bool { return id <= rows })
					gone[ids[at]] = true
					ids = slices.Delete(ids, at, at+1)
				}
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				n, changed := changes[requests]
				if shift(n); changed && n == 0 {
					shift(add)
					shift(remove)
				}
				page, err := strconv.Atoi(r.URL.Query().Get("page"))
				if err != nil {
					t.Error(err)
				}
				list := gen.TransactionList{Meta: gen.PaginationMeta{
					Total: int32(len(ids)), Page: int32(page), NumberOfPages: int32((len(ids) + per - 1) / per),
				}}
				for _, id := range ids[min((page-1)*per, len(ids)):min(page*per, len(ids))] {
					list.Transactions = append(list.Transactions, gen.TransactionSummary{ID: id})
				}
				if err := json.NewEncoder(w).Encode(list); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			c, err := newClient(server.URL, "key", time.Now, sleep)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[int32]bool{}
			err = pages(t.Context(), c, "/v1/rows", nil, func(list *gen.TransactionList) (*gen.PaginationMeta, int, error) {
				for i := range list.Transactions {
					seen[list.Transactions[i].ID] = true
				}
				return &list.Meta, len(list.Transactions), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for id := int32(1); id <= rows; id++ {
				if !seen[id] && !gone[id] {
					t.Errorf("row %d is missed", id)
				}
			}
		})
	}
}

// TestIDsOfAListThatChanges checks that no id is missed of a list in their order if one is deleted
// and another added between two requests.
func TestIDsOfAListThatChanges(t *testing.T) {
	t.Parallel()
	var rows []gen.CourseSummary
	for id := range int32(250) {
		rows = append(rows, gen.CourseSummary{ID: id + 1})
	}
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 2 {
			rows = append(rows[1:], gen.CourseSummary{ID: 251})
		}
		page, err := strconv.Atoi(r.URL.Query().Get("page"))
		if err != nil {
			t.Error(err)
		}
		if err := json.NewEncoder(w).Encode(gen.CourseList{
			Courses: rows[(page-1)*per : min(page*per, len(rows))],
			Meta:    gen.PaginationMeta{Total: 250, Page: int32(page), NumberOfPages: 3},
		}); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	c, err := newClient(server.URL, "key", time.Now, sleep)
	if err != nil {
		t.Fatal(err)
	}
	all, err := (&mirror{client: c}).courseIDs(t.Context())
	if err != nil || len(all) != 251 {
		t.Errorf("%d ids, %v", len(all), err)
	}
}
