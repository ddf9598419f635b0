package server_test

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// namedStates are the snapshots of a sandbox in which nothing happens.
type namedStates struct{ kept []clock.Snapshot }

func (s *namedStates) Forget(context.Context, *lyceum.SchoolErasure, time.Time) error { return nil }

func (s *namedStates) Reset(context.Context, lyceum.By) (clock.Time, error) {
	return clock.Time{Now: storetest.Begin, Stands: true}, nil
}

func (s *namedStates) Restore(context.Context, lyceum.By, string) (clock.Time, error) {
	return clock.Time{Now: storetest.Begin, Stands: true}, nil
}

func (s *namedStates) Snapshots() ([]clock.Snapshot, error) { return s.kept, nil }

func (s *namedStates) Keep(_ context.Context, name string) (clock.Snapshot, error) {
	kept := clock.Snapshot{Name: name, Clock: storetest.Begin, Bytes: 4096}
	s.kept = append(s.kept, kept)
	return kept, nil
}

func (s *namedStates) Delete(name string) error {
	s.kept = slices.DeleteFunc(s.kept, func(k clock.Snapshot) bool { return k.Name == name })
	return nil
}

// snapshotRows are derived from contract/lyceum/clock.yaml. What a snapshot contains is tested
// in cmd/lyceum.
var snapshotRows = slicesOf(
	own("listSnapshots", requestCase{name: "none", says: `{"snapshots":[]}`}),
	own("createSnapshot",
		requestCase{name: "a name", body: `{"name":"before-renewals"}`, golden: "lyceum/snapshot.json"},
		requestCase{name: "the same name", body: `{"name":"before-renewals"}`, status: 409, says: `"code":"snapshot_exists"`},
		requestCase{name: "no name", body: `{}`, status: 400, says: `"field":"name"`},
		requestCase{name: "an empty name", body: `{"name":""}`, status: 400, says: `"field":"name"`},
		requestCase{name: "a path", body: `{"name":"../lyceum"}`, status: 400, says: `"field":"name","message":"must be 1 to 40 lower-case letters`},
		requestCase{name: "the start", body: `{"name":"_start"}`, status: 400, says: `"field":"name"`},
		requestCase{name: "a long name", body: `{"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`, status: 400, says: `"field":"name"`},
		requestCase{name: "another field", body: `{"name":"x","at":1}`, status: 400, says: `"field":"at"`},
	),
	manySnapshots(),
	own("listSnapshots", requestCase{name: "ten", golden: "lyceum/snapshots.json"}),
	own("restoreSnapshot",
		requestCase{name: "one", values: "snapshot=before-renewals", golden: "lyceum/restored.json"},
		requestCase{name: "none", values: "snapshot=other", status: 404, says: "there is no snapshot with this name"},
	),
	own("deleteSnapshot",
		requestCase{name: "one", values: "snapshot=before-renewals"},
		requestCase{name: "again", values: "snapshot=before-renewals", status: 404},
	),
	own("resetSandbox",
		requestCase{name: "at any time", golden: "lyceum/reset.json"},
		requestCase{name: "with a body", body: `{"name":"x"}`, status: 400},
	),
)

func manySnapshots() []requestCase {
	rows := make([]requestCase, clock.MaxSnapshots)
	for i := range rows {
		rows[i] = requestCase{name: "number " + strconv.Itoa(i+2), body: `{"name":"s` + strconv.Itoa(i+2) + `"}`}
	}
	last := &rows[len(rows)-1]
	last.status, last.says = 409, `"code":"too_many_snapshots"`
	return own("createSnapshot", rows...)
}
