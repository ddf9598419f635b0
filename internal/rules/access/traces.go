package access

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TraceKind is a kind of event that indicates an attack.
type TraceKind int

// The kinds of traces.
const (
	SignInFailed  TraceKind = iota // a wrong password, or the account does not exist
	AccountLocked                  // more attempts on an account than allowed
	AddressLocked                  // more wrong passwords from an address than allowed
	CodeReplayed                   // a code was replayed, and what it was exchanged for was revoked
	TokenReused                    // a replaced refresh token was reused, and its grant was revoked
	TargetRefused                  // a webhook's address is one that nothing may be sent to
	traceKindCount
)

var traceKinds = [traceKindCount]struct {
	name  string
	entry lyceum.EntryType
}{
	SignInFailed:  {"sign_in_failed", lyceum.SignInFailed},
	AccountLocked: {"account_locked", lyceum.AccountLocked},
	AddressLocked: {"address_locked", lyceum.SignInsRefused},
	CodeReplayed:  {"code_replayed", lyceum.CodeReplayed},
	TokenReused:   {"token_reused", lyceum.TokenReused},
	TargetRefused: {"webhook_target_refused", lyceum.TargetRefused},
}

// String returns the kind's name in the log and the metrics.
func (k TraceKind) String() string { return traceKinds[k].name }

// TraceKinds lists the kinds.
func TraceKinds() []TraceKind {
	list := make([]TraceKind, traceKindCount)
	for i := range list {
		list[i] = TraceKind(i)
	}
	return list
}

// Trace is one occurrence. It contains nothing that somebody typed.
type Trace struct {
	Kind   TraceKind
	School lyceum.SchoolID
	User   lyceum.UserID // 0: not a known user
	Object int32         // of the journal entry: a user, a grant, a webhook or the school; 0 for none
	From   string        // an address; empty for none
	Detail lyceum.EntryDetail
}

// tracesAnHour is how many entries of one kind the journal gets in an hour, at most one of them
// for each object, so that an attack cannot fill it. The log gets as many lines, and as many
// again for traces without an object; the counters count everything.
const tracesAnHour = 100

// Traces reports signs of attacks to the log, the metrics and the school's journal. Keep writes
// to the journal, so that a rejected caller neither waits for it nor learns from the timing
// whether an account exists. It is safe for concurrent use.
type Traces struct {
	Log *slog.Logger

	store  lyceum.Store
	counts [traceKindCount]atomic.Int64
	once   *Tries // by object
	most   *Tries // by kind

	mu      sync.Mutex
	pending map[lyceum.SchoolID][]Trace
	clock   func() time.Time
}

// NewTraces returns a Traces for a store, with a log that discards everything.
func NewTraces(store lyceum.Store, clock func() time.Time) *Traces {
	return &Traces{
		Log: slog.New(slog.DiscardHandler), store: store, clock: clock,
		once: NewTries(clock, Bounds{Hour: 1}), most: NewTries(clock, Bounds{Hour: tracesAnHour}),
		pending: map[lyceum.SchoolID][]Trace{},
	}
}

// Count returns how many traces of a kind there were since the start.
func (t *Traces) Count(kind TraceKind) int64 { return t.counts[kind].Load() }

// Add records a trace.
func (t *Traces) Add(ctx context.Context, trace Trace) {
	t.counts[trace.Kind].Add(1)
	name := trace.Kind.String()
	about, share := strconv.Itoa(int(trace.Object)), name
	if trace.Object == 0 { // counted separately: attempts on accounts that do not exist must not hide those on real ones
		about, share = trace.From, name+" of nobody"
	}
	if !t.once.Take(trace.School, name+" "+about) || !t.most.Take(trace.School, share) {
		return
	}
	level := slog.LevelWarn
	if trace.Kind == SignInFailed {
		level = slog.LevelInfo
	}
	t.Log.Log(ctx, level, "security", "kind", name, "school", trace.School, "user", trace.User, "object", trace.Object,
		"address", trace.From)
	if trace.Object == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[trace.School] = append(t.pending[trace.School], trace)
}

// Keep writes the recorded traces to the schools' journals. Those that cannot be written are
// retried on the next call; an error of one school does not hold up the others.
func (t *Traces) Keep(ctx context.Context) error {
	t.mu.Lock()
	pending := t.pending
	t.pending = map[lyceum.SchoolID][]Trace{}
	t.mu.Unlock()
	var failed error
	for school, traces := range pending {
		stamp := lyceum.Stamp{School: school, At: t.clock(), Actor: "server"}
		err := t.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			for _, trace := range traces {
				tx.NoteDetail(traceKinds[trace.Kind].entry, trace.Object, trace.Detail.JSON())
			}
			return nil
		})
		if err != nil {
			failed = errors.Join(failed, err)
			t.mu.Lock()
			t.pending[school] = append(traces, t.pending[school]...)
			t.mu.Unlock()
		}
	}
	return failed
}
