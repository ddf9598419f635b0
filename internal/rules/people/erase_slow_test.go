package people_test

import (
	"context"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// endless is a store with so many texts that searching them never ends.
type endless struct{ lyceum.Store }

func (e endless) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	v := e.Store.In(ctx, school)
	v.Reads = endlessReads{v.Reads, ctx}
	return v
}

type endlessReads struct {
	lyceum.Reads
	ctx context.Context
}

func (v endlessReads) FindTexts(
	lyceum.UserID, lyceum.Called, lyceum.Searched,
) (lyceum.FoundTexts, lyceum.Searched, bool, error) {
	<-v.ctx.Done()
	return lyceum.FoundTexts{}, lyceum.Searched{}, true, v.ctx.Err()
}

// TestErasingIsAnsweredInTime checks that Erase returns in time, however long it takes to search
// the texts of the school, which the passes do.
func TestErasingIsAnsweredInTime(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
		return err
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	s := people.New(endless{store}, storetest.NewClock(storetest.Begin).Now)
	erased, err := s.Erase(ctx, lyceum.By{School: school, Actor: "user:9"}, 1, people.Doors{
		Left: func(lyceum.SchoolID, string) {},
		Backups: func(ctx context.Context, _ lyceum.SchoolID, _ lyceum.UserID) ([]lyceum.Backup, error) {
			return nil, ctx.Err()
		},
	})
	if err != nil || erased.User != 1 {
		t.Errorf("%+v, %v", erased, err)
	}
}

// TestPlannedErasureLeavesTheSearchesToThePasses checks that EraseDue, which has no deadline and
// delays what is due in every school, does not search the texts of the school.
func TestPlannedErasureLeavesTheSearchesToThePasses(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
		return err
	})
	clock := storetest.NewClock(storetest.Begin)
	s := people.New(endless{store}, clock.Now)
	if _, err := s.PlanErasure(t.Context(), lyceum.By{School: school, Actor: "user:9"}, 1); err != nil {
		t.Fatal(err)
	}
	clock.Pass(people.UndoTime)
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(2*time.Second, cancel).Stop()
	err = s.EraseDue(ctx, school, people.Doors{Left: func(lyceum.SchoolID, string) {}})
	if err != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	left, err := store.FindErasures(t.Context())
	if err != nil || len(left) != 1 || left[0].User != 1 || left[0].Passes != 0 {
		t.Errorf("the passes have %+v, %v", left, err)
	}
}
