package webhook

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// A test tells of a made-up person whatever the event, with the id 0, and its
// envelope says that it is not livemode.
func TestSamplesAreOfNobody(t *testing.T) {
	w := &Writer{BaseURL: "https://school.example.com"}
	for _, event := range lyceum.EventNames() {
		object, err := w.Sample(t.Context(), 1, event, time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC))
		if err != nil {
			t.Errorf("%s: %v", event, err)
			continue
		}
		var told map[string]any
		body := Envelope(&lyceum.EventPayload{Number: -7, Event: event, Object: string(object)}, 7, false)
		if err := json.Unmarshal(body, &told); err != nil {
			t.Errorf("%s: %v: %s", event, err, body)
			continue
		}
		if told["livemode"] != false || told["id"] != 0.0 || !strings.Contains(string(object), "test.person@example.com") {
			t.Errorf("%s: %s", event, body)
		}
	}
	if _, err := w.Sample(t.Context(), 1, "Sale.sold", time.Now()); err == nil {
		t.Error("there is a sample of an event that there is not")
	}
	real := Envelope(&lyceum.EventPayload{Number: 7, Event: lyceum.SaleCreatedEvent, Object: "{}"}, 7, false)
	if !strings.Contains(string(real), `"livemode":true`) {
		t.Errorf("what happened is not livemode: %s", real)
	}
}

// A sample has the fields of what it stands for.
func TestSampleHasTheFieldsOfASale(t *testing.T) {
	p := newPost(t, openStore(t))
	p.sell(t)
	change, err := p.store.In(t.Context(), p.school).FindChanges(lyceum.ChangeFilter{Events: true, Names: []lyceum.EventName{lyceum.SaleCreatedEvent}, Limit: 1})
	if err != nil || len(change.Changes) != 1 {
		t.Fatalf("%d changes, %v", len(change.Changes), err)
	}
	w := &Writer{Store: p.store, BaseURL: "https://school.example.com"}
	happened, err := w.Object(t.Context(), p.school, &change.Changes[0])
	if err != nil {
		t.Fatal(err)
	}
	sample, err := w.Sample(t.Context(), p.school, lyceum.SaleCreatedEvent, p.now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fields(t, happened), fields(t, sample)); diff != "" {
		t.Errorf("the fields differ (-sale +sample):\n%s", diff)
	}
}

func fields(t *testing.T, object []byte) []string {
	t.Helper()
	var told map[string]any
	if err := json.Unmarshal(object, &told); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(told))
}
