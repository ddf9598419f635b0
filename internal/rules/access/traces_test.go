package access_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// noted returns how many entries of each type the journal has, after the recorded traces were
// stored.
func (o *office) noted(t *testing.T) map[lyceum.EntryType]int {
	t.Helper()
	if err := o.oauth.Traces.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := storetest.FindEntries(t.Context(), o.store, o.school, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	found := map[lyceum.EntryType]int{}
	for _, e := range entries {
		found[e.Type]++
	}
	return found
}

// TestR36_Traces checks that signs of an attack are logged with the school, the account and the
// address, counted, and recorded in the journal once per account and hour. Nothing that
// somebody typed is included.
func TestR36_Traces(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	var log bytes.Buffer
	d.oauth.Traces.Log = slog.New(slog.NewJSONHandler(&log, nil))
	d.wrong(30, "198.51.100.1", "")
	d.try("canary@example.com", "canary", "198.51.100.7", "")
	found := d.noted(t)
	if found[lyceum.SignInFailed] != 1 || found[lyceum.AccountLocked] != 1 {
		t.Errorf("the journal has %v", found)
	}
	for kind, want := range map[access.TraceKind]int64{access.SignInFailed: 11, access.AccountLocked: 20, access.AddressLocked: 0} {
		if got := d.oauth.Traces.Count(kind); got != want {
			t.Errorf("%s is counted %d times, want %d", kind, got, want)
		}
	}
	for _, want := range []string{
		fmt.Sprintf(`"kind":"sign_in_failed","school":%d,"user":%d,"object":%d,"address":"198.51.100.1"`, d.school, learner, learner),
		fmt.Sprintf(`"kind":"account_locked","school":%d,"user":%d`, d.school, learner),
		fmt.Sprintf(`"kind":"sign_in_failed","school":%d,"user":0,"object":0,"address":"198.51.100.7"`, d.school),
	} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("the log has not once %s:\n%s", want, &log)
		}
	}
	if strings.Contains(log.String(), "canary") || strings.Contains(log.String(), "mira") {
		t.Errorf("the log repeats what was typed:\n%s", &log)
	}
	d.clock.Pass(time.Hour)
	d.wrong(1, "198.51.100.1", "")
	if found := d.noted(t); found[lyceum.SignInFailed] != 2 {
		t.Errorf("an hour later the journal has %v", found)
	}
}

// TestR36_TracesAreBounded checks that an attack on every account of a school fills neither its
// journal nor the log.
func TestR36_TracesAreBounded(t *testing.T) {
	t.Parallel()
	o := newOffice(t, openStore(t, t.TempDir()))
	var log bytes.Buffer
	o.oauth.Traces.Log = slog.New(slog.NewJSONHandler(&log, nil))
	for n := range 5000 {
		o.oauth.Traces.Add(t.Context(), access.Trace{Kind: access.SignInFailed, School: o.school, User: lyceum.UserID(n + 1), Object: int32(n + 1), From: "198.51.100.1"})
	}
	if found := o.noted(t); found[lyceum.SignInFailed] != 100 {
		t.Errorf("the journal has %v", found)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 100 {
		t.Errorf("the log has %d lines", lines)
	}
	if got := o.oauth.Traces.Count(access.SignInFailed); got != 5000 {
		t.Errorf("%d are counted", got)
	}
}

// TestR36_NamesOfNobodyHideNothing checks that attempts on names that do not exist do not hide
// those on real accounts, neither in the log nor in the journal.
func TestR36_NamesOfNobodyHideNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t, openStore(t, t.TempDir()))
	var log bytes.Buffer
	o.oauth.Traces.Log = slog.New(slog.NewJSONHandler(&log, nil))
	for n := range 5000 {
		o.oauth.Traces.Add(t.Context(), access.Trace{Kind: access.SignInFailed, School: o.school, From: fmt.Sprintf("2001:db8::%x", n)})
	}
	if lines := strings.Count(log.String(), "\n"); lines != 100 {
		t.Errorf("the log has %d lines", lines)
	}
	o.oauth.Traces.Add(t.Context(), access.Trace{Kind: access.SignInFailed, School: o.school, User: learner, Object: int32(learner), From: "198.51.100.1"})
	if found := o.noted(t); found[lyceum.SignInFailed] != 1 {
		t.Errorf("the journal has %v", found)
	}
}

// oneFails is a store that fails to write to one school.
type oneFails struct {
	lyceum.Store
	school lyceum.SchoolID
}

func (f *oneFails) Write(ctx context.Context, stamp lyceum.Stamp, do func(lyceum.Tx) error) error {
	if stamp.School == f.school {
		return lyceum.Errorf(lyceum.Unavailable, "not now")
	}
	return f.Store.Write(ctx, stamp, do)
}

// TestR36_TracesOutlastAFailure checks that what cannot be stored is stored later, and does not
// hold up other schools.
func TestR36_TracesOutlastAFailure(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	failing := &oneFails{Store: store}
	clock := storetest.NewClock(storetest.Begin)
	traces := access.NewTraces(failing, clock.Now)
	schools := []lyceum.SchoolID{storetest.MakeSchool(t, store), storetest.MakeSchool(t, store), storetest.MakeSchool(t, store)}
	count := func(school lyceum.SchoolID) (n int) {
		entries, err := storetest.FindEntries(t.Context(), store, school, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Type == lyceum.SignInFailed {
				n++
			}
		}
		return n
	}
	for round, bad := range schools {
		failing.school = bad
		for _, school := range schools {
			traces.Add(t.Context(), access.Trace{Kind: access.SignInFailed, School: school, User: 1, Object: 1})
		}
		if err := traces.Keep(t.Context()); err == nil {
			t.Error("nobody is told of the failure")
		}
		for _, school := range schools {
			if got, want := count(school), round+1; school != bad && got != want {
				t.Errorf("while school %d fails, school %d has %d entries, want %d", bad, school, got, want)
			}
		}
		failing.school = 0
		if err := traces.Keep(t.Context()); err != nil || count(bad) != round+1 {
			t.Errorf("school %d has %d entries afterwards, want %d; %v", bad, count(bad), round+1, err)
		}
		clock.Pass(time.Hour)
	}
}

// TestR36_AddressesThatSpray checks that they are recorded once, for the school.
func TestR36_AddressesThatSpray(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.crowd(40)
	for n := range 40 {
		d.try(fmt.Sprintf("x%d@example.com", n), "wrong", "198.51.100.1", "")
	}
	if found := d.noted(t); found[lyceum.SignInsRefused] != 1 || found[lyceum.SignInFailed] != 30 {
		t.Errorf("the journal has %v", found)
	}
}

// TestR36_ReplaysAreTold checks that replays of codes and of refresh tokens are recorded.
func TestR36_ReplaysAreTold(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		code := o.code(t)
		for range 2 {
			_, _ = o.exchange(code, "")
		}
		o.rotate(t)
		first := o.tokens(t)
		if _, err := o.refresh(first.RefreshToken, ""); err != nil {
			t.Fatal(err)
		}
		o.clock.Pass(access.RotationGrace)
		_, err := o.refresh(first.RefreshToken, "")
		wantCode(t, err, "invalid_grant")
		found := o.noted(t)
		for kind, entry := range map[access.TraceKind]lyceum.EntryType{access.CodeReplayed: lyceum.CodeReplayed, access.TokenReused: lyceum.TokenReused} {
			if found[entry] != 1 || o.oauth.Traces.Count(kind) != 1 {
				t.Errorf("%s: the journal has %v, and %d are counted", kind, found, o.oauth.Traces.Count(kind))
			}
		}
	})
}
