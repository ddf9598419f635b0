package events_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// TestSamplesAreOfNobody checks that for every event, a test is about a made-up person, with the
// id 0, and not livemode.
func TestSamplesAreOfNobody(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	to := p.hook(t, events.WebhookForm{})
	for _, event := range lyceum.EventNames() {
		if _, err := p.events.Test(t.Context(), p.by(), to.ID, lyceum.Some(string(event))); err != nil {
			t.Errorf("%s: %v", event, err)
			continue
		}
		p.rounds(t)
		came := to.letters()
		if len(came) != 1 {
			t.Fatalf("%s: %d messages", event, len(came))
		}
		if e := opened(t, came[0].Body); e.Type != string(event) || e.Livemode || e.ID != 0 ||
			!strings.Contains(string(came[0].Body), "test.person@example.com") {
			t.Errorf("%s: %s", event, came[0].Body)
		}
	}
	_, err := p.events.Test(t.Context(), p.by(), to.ID, lyceum.Some("Sale.sold"))
	if lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("a test of an unknown event: %v", err)
	}
}

// TestSampleHasTheFieldsOfASale checks that a sample has the same fields as a real event.
func TestSampleHasTheFieldsOfASale(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	to := p.hook(t, events.WebhookForm{})
	p.sell(t)
	if _, err := p.events.Test(t.Context(), p.by(), to.ID, lyceum.None[string]()); err != nil {
		t.Fatal(err)
	}
	p.rounds(t)
	came := to.letters()
	if len(came) != 2 {
		t.Fatalf("%d messages", len(came))
	}
	var live, fields []string
	for _, parcel := range came {
		e := opened(t, parcel.Body)
		if names := slices.Sorted(maps.Keys(e.Object)); e.Livemode {
			live = names
		} else {
			fields = names
		}
	}
	if diff := cmp.Diff(live, fields); diff != "" || len(live) == 0 {
		t.Errorf("the fields differ (-sale +sample):\n%s", diff)
	}
}
