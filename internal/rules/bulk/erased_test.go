package bulk_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

// TestErasedSinceThePreview checks that a job gives nothing to a person who was erased after it
// was prepared, and does the others' rows.
func TestErasedSinceThePreview(t *testing.T) {
	onBothEngines(t, func(t *testing.T, all *crowd) {
		for _, tc := range []struct {
			job  bulk.NewJob
			want []string
		}{
			{bulk.NewJob{Action: lyceum.BulkEnroll, Product: lyceum.Some(pottery)}, []string{"failed", "done"}},
			{bulk.NewJob{Action: lyceum.BulkGiveAccess, Product: lyceum.Some(pottery)}, []string{"failed", "done"}},
			{bulk.NewJob{Action: lyceum.BulkUnenroll, Product: lyceum.Some(pottery)}, []string{"failed", "failed"}},
			{bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"vip"}}, []string{"failed", "done"}},
			{bulk.NewJob{Action: lyceum.BulkRemoveTags, Tags: []string{"vip"}}, []string{"unchanged", "unchanged"}},
		} {
			t.Run(string(tc.job.Action), func(t *testing.T) {
				c := newCrowd(t, all.stores[0])
				tc.job.Users = []lyceum.UserID{5, 6}
				job := c.prepare(t, tc.job)
				clock := func() time.Time { return c.clock.Now() }
				_, err := people.New(c.stores[0], clock).Erase(t.Context(), c.by(), 5, people.Doors{
					Close: learning.New(c.stores[0], clock).Close,
					Left:  func(lyceum.SchoolID, string) {},
				})
				if err != nil {
					t.Fatal(err)
				}
				c.do(t, job.ID)
				var got []string
				for _, row := range c.rows(t, job.ID) {
					result, message, _ := strings.Cut(row, ": ")
					got = append(got, result)
					if strings.Contains(strings.ToLower(message), "example.com") {
						t.Errorf("the row says %q", message)
					}
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("the rows are %q, want %q", c.rows(t, job.ID), tc.want)
				}
				v := c.view(t)
				open, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{User: lyceum.Some(lyceum.UserID(5)), Open: true})
				if err != nil || len(open) > 0 {
					t.Errorf("who was erased has %+v, %v", open, err)
				}
				err = v.EachTag(lyceum.Some(lyceum.UserID(5)), func(_ lyceum.UserID, tag string) error {
					t.Errorf("who was erased has the tag %s", tag)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if findings, err := c.stores[0].Check(t.Context()); err != nil || len(findings) > 0 {
					t.Errorf("check: %v, %v", findings, err)
				}
			})
		}
	})
}
