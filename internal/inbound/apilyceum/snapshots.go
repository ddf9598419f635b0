package apilyceum

import (
	"time"

	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
)

// longestRestore is how long restoring a large sandbox may take.
const longestRestore = time.Minute

// snapshots returns the operations that save and restore states of a sandbox.
func (f *Face) snapshots() []wire.Operation {
	const path, each = "/lyceum/v1/sandbox/snapshots", "/lyceum/v1/sandbox/snapshots/{snapshot}"
	clockBody := wire.As("clock", restoredClock)
	reset := wire.New("resetSandbox", wire.Run, "/lyceum/v1/sandbox/reset",
		wire.Serve(wire.NoBody(wire.Anything), wire.Rendered(f.Clock.Reset, clockBody)))
	restore := wire.New("restoreSnapshot", wire.Run, each+"/restore",
		wire.Serve(wire.NoBody(bindSnapshot), wire.Rendered(f.Clock.Restore, clockBody)))
	keep := wire.New("createSnapshot", wire.Create, path, wire.Serve(func(in *wire.Input) string {
		return in.Body("name").Required().Text(1, wire.Unbounded).Value
	}, wire.Rendered(f.Clock.KeepSnapshot, wire.As("snapshot", snapshot))))
	reset.Waits, restore.Waits, keep.Waits = longestRestore, longestRestore, longestRestore
	return []wire.Operation{
		reset, restore, keep,
		one("listSnapshots", wire.Get, path, wire.Anything, f.Clock.Snapshots, "snapshots", snapshotList),
		wire.None("deleteSnapshot", wire.Delete, each, bindSnapshot, f.Clock.DeleteSnapshot),
	}
}

func restoredClock(t clock.Time) gen.RestoredClock {
	shown := clockShown(t)
	return gen.RestoredClock{Now: shown.Now, IsStanding: shown.IsStanding, Next: shown.Next}
}

func bindSnapshot(in *wire.Input) string { return in.PathText("snapshot") }

func snapshot(s clock.Snapshot) gen.Snapshot {
	return gen.Snapshot{Name: s.Name, ClockAt: wire.Moment(s.Clock), Size: s.Bytes}
}

func snapshotList(all []clock.Snapshot) []gen.Snapshot {
	shown := make([]gen.Snapshot, len(all))
	for i, s := range all {
		shown[i] = snapshot(s)
	}
	return shown
}
