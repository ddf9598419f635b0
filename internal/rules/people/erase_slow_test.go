package people_test

import (
	"context"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

// spied is a store that calls a function when texts are searched, which then fails.
type spied struct {
	lyceum.Store
	search func(context.Context)
}

func (s spied) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	v := s.Store.In(ctx, school)
	v.Reads = spiedReads{v.Reads, func() { s.search(ctx) }}
	return v
}

type spiedReads struct {
	lyceum.Reads
	search func()
}

func (r spiedReads) FindTexts(
	lyceum.UserID, lyceum.Called, lyceum.Searched,
) (lyceum.FoundTexts, lyceum.Searched, bool, error) {
	r.search()
	return lyceum.FoundTexts{}, lyceum.Searched{}, true, context.DeadlineExceeded
}

// TestErasingIsAnsweredInTime checks that Erase searches the texts of the school for half of the
// time that a request has, and leaves the rest of the search to the passes.
func TestErasingIsAnsweredInTime(t *testing.T) {
	d := newDesk(t)
	d.add(t, "ann@example.com")
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var left time.Duration // of the request when the search ends
	s := people.New(spied{d.store, func(search context.Context) {
		until, _ := ctx.Deadline()
		if limit, limited := search.Deadline(); limited {
			left = until.Sub(limit)
		}
	}}, func() time.Time { return d.now })
	erased, err := s.Erase(ctx, lyceum.By{School: d.school, Actor: "user:9"}, 1, people.Doors{
		Left:    func(lyceum.SchoolID, string) {},
		Backups: func(context.Context, lyceum.SchoolID, lyceum.UserID) ([]lyceum.Backup, error) { return nil, nil },
	})
	if err != nil || erased.User != 1 || left < 20*time.Minute {
		t.Errorf("%+v, %v, and the search leaves %v of an hour", erased, err, left)
	}
}

// TestPlannedErasureLeavesTheSearchesToThePasses checks that EraseDue, which has no deadline and
// delays what is due in every school, does not search the texts of the school.
func TestPlannedErasureLeavesTheSearchesToThePasses(t *testing.T) {
	d := newDesk(t)
	d.add(t, "ann@example.com")
	if _, err := d.service.PlanErasure(t.Context(), lyceum.By{School: d.school, Actor: "user:9"}, 1); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(people.UndoTime)
	s := people.New(spied{d.store, func(context.Context) { t.Error("it searches") }}, func() time.Time { return d.now })
	if err := s.EraseDue(t.Context(), d.school, people.Doors{Left: func(lyceum.SchoolID, string) {}}); err != nil {
		t.Error(err)
	}
	left, err := d.store.FindErasures(t.Context())
	if err != nil || len(left) != 1 || left[0].User != 1 || left[0].Passes != 0 {
		t.Errorf("the passes have %+v, %v", left, err)
	}
}
