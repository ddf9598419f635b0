package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// onTheMinute lets the clock be at the beginning of a minute.
func (p *post) onTheMinute() { p.pass(p.clock().Truncate(time.Minute).Add(time.Minute).Sub(p.clock())) }

// TestR46_AWebhookIsSentNoMoreThanItsRate: what is more waits for the next
// minute, repeated attempts count, another webhook waits for nothing, and a new
// limit holds at once.
func TestR46_AWebhookIsSentNoMoreThanItsRate(t *testing.T) {
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		slow, quick := newReceiver(t, nil), newReceiver(t, nil)
		limited := p.hook(t, events.WebhookForm{URL: slow.URL, Events: []string{"Sale.created"}, RateLimit: 3})
		p.hook(t, events.WebhookForm{URL: quick.URL, Events: []string{"Sale.created"}})
		p.onTheMinute()
		for range 8 {
			p.sell(t)
		}
		arrive := func(when string, want int) {
			t.Helper()
			p.rounds(t)
			if came := slow.letters(); len(came) != want {
				t.Errorf("%s: %d came, want %d", when, len(came), want)
			}
		}
		arrive("in the first minute", 3)
		if came := quick.letters(); len(came) != 8 {
			t.Errorf("%d came without a limit, want 8", len(came))
		}
		p.pass(59 * time.Second)
		arrive("at the end of the first minute", 0)
		p.pass(time.Second)
		slow.becomes(status(http.StatusInternalServerError))
		arrive("in the second minute", 3)
		slow.becomes(nil)
		p.pass(-time.Minute) // a clock that is set back is another minute
		arrive("in the first minute again", 2)
		p.pass(30 * time.Minute)
		arrive("when three are tried again", 3)

		for range 5 {
			p.sell(t)
		}
		p.pass(time.Minute)
		arrive("of five more", 3)
		_, err := p.events.Update(t.Context(), p.by(), limited.ID, func(f *events.WebhookForm) { f.RateLimit = 4 })
		if err != nil {
			t.Fatal(err)
		}
		arrive("under the limit of four", 1)
		if _, err := p.events.Update(t.Context(), p.by(), limited.ID, func(f *events.WebhookForm) { f.RateLimit = 0 }); err != nil {
			t.Fatal(err)
		}
		arrive("without a limit", 1)
	})
}

func TestR46_RatesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	for _, limit := range []int32{-1, 60_001} {
		_, err := p.events.Create(t.Context(), p.by(), events.WebhookForm{URL: "http://127.0.0.1:1", RateLimit: limit})
		if lyceum.KindOf(err) != lyceum.Invalid || !strings.Contains(err.Error(), "rate_limit must be from 0 (no limit) to 60000") {
			t.Errorf("%d: %v", limit, err)
		}
	}
}

// TestR48_AnswersDoNotFillTheDisk: of a day's attempts of a webhook 8 MB of
// headers and answers are kept, and then only what became of them; the next day
// begins anew, and another webhook has a bound of its own.
func TestR48_AnswersDoNotFillTheDisk(t *testing.T) {
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("thank you")) })
		w := p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
		other := p.hook(t, events.WebhookForm{URL: to.URL + "/other", Events: []string{"Sale.created"}})
		p.pass(p.clock().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(p.clock())) // a day begins
		uses := func(bytes int) {
			t.Helper()
			err := store.Write(t.Context(), lyceum.Stamp{School: p.school, At: p.clock(), Actor: "test"}, func(tx lyceum.Tx) error {
				_, err := tx.CountUsage(w.ID, p.clock(), lyceum.WebhookUsage{Kept: int64(bytes)})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		attempt := func(id lyceum.WebhookID) lyceum.Attempt {
			t.Helper()
			p.sell(t)
			p.rounds(t)
			_, ids := p.states(t, id)
			d, err := p.events.Show(t.Context(), p.by(), slices.Max(ids))
			if err != nil || len(d.Attempts) != 1 {
				t.Fatal(d, err)
			}
			return d.Attempts[0]
		}
		whole := func(when string, a lyceum.Attempt) {
			t.Helper()
			if a.Unkept || a.ResponseBody != "thank you" || a.RequestHeader == "" || a.ResponseHeader == "" || a.Status != lyceum.Some[int32](200) {
				t.Errorf("%s: %+v", when, a)
			}
		}
		whole("at first", attempt(w.ID))
		uses(8<<20 - 4096)
		whole("while there is room", attempt(w.ID))
		uses(4096)
		a := attempt(w.ID)
		if !a.Unkept || a.ResponseBody+a.RequestHeader+a.ResponseHeader != "" || a.Status != lyceum.Some[int32](200) || a.Took <= 0 {
			t.Errorf("beyond the bound: %+v", a)
		}
		whole("of another webhook", attempt(other.ID))
		p.pass(24*time.Hour - time.Second)
		if a := attempt(w.ID); !a.Unkept {
			t.Errorf("at the end of the day: %+v", a)
		}
		p.pass(time.Second)
		whole("on the next day", attempt(w.ID))
	})
}
