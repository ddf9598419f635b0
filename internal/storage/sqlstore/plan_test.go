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
