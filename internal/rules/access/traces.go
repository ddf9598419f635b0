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

// TraceKind is something that an attack leaves behind.
type TraceKind int

// The kinds of traces.
const (
	SignInFailed  TraceKind = iota // a wrong password, or no such account
	AccountLocked                  // more tries for an account than its bounds
	AddressLocked                  // more wrong passwords from an address than its bounds
	CodeReplayed                   // a code came back, and what it gave was ended
	TokenReused                    // a refresh token that was replaced came back, and its grant was ended
	TargetRefused                  // a webhook leads to where nothing may be sent
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

// String is the kind's name in the log and the metrics.
func (k TraceKind) String() string { return traceKinds[k].name }

// TraceKinds lists the kinds.
func TraceKinds() []TraceKind {
	list := make([]TraceKind, traceKindCount)
	for i := range list {
		list[i] = TraceKind(i)
	}
	return list
}

// Trace is one occurrence. It holds nothing that somebody typed.
type Trace struct {
	Kind   TraceKind
	School lyceum.SchoolID
	User   lyceum.UserID // 0: nobody who is known
	Object int32         // of the journal's entry: a user, a grant, a webhook or the school; 0 for none
	From   string        // an address; empty for none
	Detail lyceum.EntryDetail
}

// The journal has one entry of a kind for each object in an hour, and no more
// than tracesAnHour of a kind, so that an attack cannot fill it. The log has as
// many lines, and as many again of those without an object; the counters count
// everything.
const tracesAnHour = 100

// Traces tells the log, the metrics and the school's journal what attacks leave
// behind. The journal hears of it from Keep, so that nobody who is refused waits
// for it, or learns from the time whether there is such an account. It is safe
// for concurrent use.
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

// NewTraces makes the service over a store, with a log that nobody reads.
func NewTraces(store lyceum.Store, clock func() time.Time) *Traces {
	return &Traces{
		Log: slog.New(slog.DiscardHandler), store: store, clock: clock,
		once: NewTries(clock, Bounds{Hour: 1}), most: NewTries(clock, Bounds{Hour: tracesAnHour}),
		pending: map[lyceum.SchoolID][]Trace{},
	}
}

// Count tells how many traces of a kind there were since the start.
func (t *Traces) Count(kind TraceKind) int64 { return t.counts[kind].Load() }

// Add takes note of a trace.
func (t *Traces) Add(ctx context.Context, trace Trace) {
	t.counts[trace.Kind].Add(1)
	name := trace.Kind.String()
	about, share := strconv.Itoa(int(trace.Object)), name
	if trace.Object == 0 { // counted apart: names that nobody has must not hide what happens to accounts
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

// Keep brings what was noted into the schools' journals. What fails is kept for
// the next time, and holds up no other school.
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
