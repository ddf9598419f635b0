package people_test

import (
	"context"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// overtaken is a store on which another process finishes the erasures while the files are being
// cleaned.
type overtaken struct {
	lyceum.Store

	rival func()
}

func (o *overtaken) CleanErased(ctx context.Context) (bool, error) {
	o.rival()
	return o.Store.CleanErased(ctx)
}

// TestAnErasureIsFinishedByAnotherProcess checks that finishing an erasure is no error if another
// process, which has taken over the work, was faster.
func TestAnErasureIsFinishedByAnotherProcess(t *testing.T) {
	d := newDesk(t)
	d.save(t, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
	_, err := d.service.Erase(t.Context(), lyceum.By{School: d.school, Actor: "user:9"}, 1, people.Doors{
		Left: func(lyceum.SchoolID, string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	store := &overtaken{d.store, func() {
		if done, err := d.service.EraseAll(t.Context()); err != nil || !done {
			t.Errorf("the other process: %v, %v", done, err)
		}
	}}
	done, err := people.New(store, func() time.Time { return d.now }).EraseAll(t.Context())
	if err != nil || !done {
		t.Errorf("%v, %v; want that it is done", done, err)
	}
}
