package access_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// gone returns the context of a caller that does not wait.
func gone() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

const mb = 1 << 20

func refused(err error) bool { return lyceum.KindOf(err) == lyceum.Unavailable }

func TestR25_LoadOfASchoolAndOfTheProcess(t *testing.T) {
	t.Parallel()
	load := access.NewLoad(access.LoadLimits{Process: 16 * mb, School: 8 * mb})
	first, second, third := load.Begin(1), load.Begin(1), load.Begin(2)
	if err := first.Hold(gone(), 6*mb); err != nil {
		t.Fatalf("three quarters of a school's room: %v", err)
	}
	if err := second.Hold(gone(), mb); !refused(err) || second.Held() != 0 {
		t.Errorf("a large answer in the last quarter: %v, holds %d", err, second.Held())
	}
	if err := second.Hold(gone(), 64<<10); err != nil {
		t.Errorf("a small answer in the last quarter: %v", err)
	}
	if err := second.Hold(gone(), mb); err != nil {
		t.Errorf("an answer that has begun, in the last quarter: %v", err)
	}
	if err := first.Hold(gone(), 8*mb); !refused(err) || first.Held() != 6*mb {
		t.Errorf("more than a school's room: %v, holds %d", err, first.Held())
	}
	if err := third.Hold(gone(), 5*mb); err != nil {
		t.Errorf("another school: %v", err)
	}
	fourth := load.Begin(3)
	if err := fourth.Hold(gone(), mb); !refused(err) {
		t.Errorf("a large answer in the last quarter of the process: %v", err)
	}
	first.End()
	if err := fourth.Hold(gone(), mb); err != nil {
		t.Errorf("after room was given back: %v", err)
	}
	if second.End(); load.Bytes() != 6*mb {
		t.Errorf("%d bytes under way, want %d", load.Bytes(), 6*mb)
	}
	if load.Refused() != 0 {
		t.Error("who went away counts as refused")
	}
}

func TestR25_LoadWaitsForRoom(t *testing.T) {
	t.Parallel()
	load := access.NewLoad(access.LoadLimits{Process: 4 * mb, School: 4 * mb, Wait: time.Hour})
	holding := load.Begin(1)
	holding.Set(4 * mb)
	waited := make(chan error)
	go func() {
		claim := load.Begin(1)
		waited <- claim.Hold(context.Background(), 3*mb)
	}()
	holding.End()
	if err := <-waited; err != nil {
		t.Errorf("who waited was refused: %v", err)
	}

	short := access.NewLoad(access.LoadLimits{Process: mb, School: mb, Wait: time.Nanosecond})
	full, other := short.Begin(1), short.Begin(1)
	full.Set(mb)
	if err := other.Hold(context.Background(), 1); !refused(err) || short.Refused() != 1 {
		t.Errorf("after the wait: %v, %d refused", err, short.Refused())
	}
}

// The limits hold under concurrency, and nothing is left over.
func TestR25_LoadAtOnce(t *testing.T) {
	t.Parallel()
	var resized atomic.Int64
	load := access.NewLoad(access.LoadLimits{Process: 64 * mb, School: 24 * mb, Resized: func(n int64) { resized.Store(n) }})
	var group sync.WaitGroup
	var worst atomic.Int64
	for n := range 64 {
		group.Go(func() {
			for step := range 200 {
				claim := load.Begin(lyceum.SchoolID(n % 4))
				if claim.Hold(context.Background(), int64(1+(n+step)%6)*mb) == nil {
					if now := load.Bytes(); now > worst.Load() {
						worst.Store(now)
					}
				}
				claim.End()
			}
		})
	}
	group.Wait()
	if worst.Load() > 64*mb || load.Bytes() != 0 {
		t.Errorf("%d bytes at most and %d at the end", worst.Load(), load.Bytes())
	}
	if n := resized.Load(); n > 16*mb {
		t.Errorf("the last that was told are %d bytes", n)
	}
}

// A school has half of the turns; waiting schools take turns, and a caller that leaves is
// skipped.
func TestR25_TurnsOfASchoolAndOfTheProcess(t *testing.T) {
	t.Parallel()
	load := access.NewLoad(access.LoadLimits{Process: mb, School: mb, Turns: 2, Wait: time.Hour})
	first, second := load.Begin(1), load.Begin(2)
	if !first.TryTurn() || !first.TryTurn() || !second.TryTurn() {
		t.Fatal("turns that are free are not given")
	}
	for _, school := range []lyceum.SchoolID{1, 3} {
		if other := load.Begin(school); other.TryTurn() || !refused(other.Turn(gone())) {
			t.Errorf("school %d has a third turn", school)
		}
	}
	came := make(chan lyceum.SchoolID)
	goOn := make(chan struct{})
	wait := func(school lyceum.SchoolID) {
		go func() {
			claim := load.Begin(school)
			if err := claim.Turn(context.Background()); err != nil {
				t.Error(err)
			}
			came <- school
			<-goOn
			claim.End()
		}()
	}
	for range 3 {
		wait(1)
	}
	for load.Waiting() < 3 {
		runtime.Gosched()
	}
	wait(3)
	for load.Waiting() < 4 {
		runtime.Gosched()
	}
	second.End()
	if school := <-came; school != 3 {
		t.Fatalf("school %d comes up while it has its half", school)
	}
	goOn <- struct{}{}
	first.End()
	for range 3 { // one of school 1 at a time: each ends before the next starts
		if school := <-came; school != 1 {
			t.Errorf("school %d comes up", school)
		}
		goOn <- struct{}{}
	}
	for load.Making() > 0 {
		runtime.Gosched()
	}
	if load.Waiting() != 0 {
		t.Error("somebody waits at the end")
	}
}
