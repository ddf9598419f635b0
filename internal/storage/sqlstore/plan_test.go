package sqlstore

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

var placeholder = regexp.MustCompile(`\$\d+|\?`)

// What is deleted or passed over is not read: SQLite finds webhooks in an index
// that has no deleted ones, and events by name in one that says their names.
func TestR25_IndexesLeaveOutWhatIsPassedOver(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	by.seen = nil // of the migration
	school := lyceum.SchoolID(1)
	v := store.In(t.Context(), school)
	if _, err := lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true, Live: true}); err != nil {
		t.Fatal(err)
	}
	names := []lyceum.EventName{lyceum.UserUpdatedEvent, lyceum.UserTagCreatedEvent}
	if _, err := v.FindChanges(lyceum.ChangeFilter{Limit: 10, Events: true, Names: names}); err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{"FROM webhooks": "USING INDEX webhooks_standing", "SELECT number FROM journal": "USING COVERING INDEX journal_events"}
	found := map[string]bool{}
	for _, text := range slices.Clone(by.seen) {
		for part, want := range wants {
			if !strings.Contains(text, part) {
				continue
			}
			found[text] = true
			plan := lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(text, "1"), 4)
			if !slices.ContainsFunc(plan, func(step []string) bool { return strings.Contains(step[3], want) }) {
				t.Errorf("%s: %v, want %s", text, plan, want)
			}
		}
	}
	if len(found) != 3 {
		t.Errorf("%d of 3 statements were seen", len(found))
	}
}

// TestDuePassesOverWhatWaits: what is due is found without a look at everything that waits
// for a webhook: the first webhook is the beginning of an index, the others are found by it.
func TestDuePassesOverWhatWaits(t *testing.T) {
	t.Parallel()
	store, _ := spied(t)
	var scanned []string
	for _, step := range lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(findDue, "1"), 4) {
		if strings.HasPrefix(step[3], "SCAN e ") || strings.Contains(step[3], " e ") && !strings.Contains(step[3], "webhook_events_due") {
			scanned = append(scanned, step[3])
		}
	}
	if !slices.Equal(scanned, []string{"SCAN e USING COVERING INDEX webhook_events_due"}) {
		t.Errorf("%q", scanned)
	}
}
