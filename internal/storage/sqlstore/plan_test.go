package sqlstore

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

var placeholder = regexp.MustCompile(`\$\d+|\?`)

// What is deleted or skipped is not read: SQLite finds webhooks in an index without deleted ones,
// and what events said about a user without reading all other events.
func TestR25_IndexesLeaveOutWhatIsPassedOver(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	school := storetest.MakeSchool(t, store)
	v := store.In(t.Context(), school)
	webhooks := func(f lyceum.WebhookFilter) func() error {
		return func() error { _, err := lyceum.All(v.Webhooks, v, f); return err }
	}
	said := func(change func(lyceum.Tx) error) func() error {
		return func() error { storetest.Write(t, store, school, change); return nil }
	}
	for _, tc := range []struct {
		name, statement, index string
		read                   func() error
	}{
		{"kept webhooks", "FROM webhooks", "webhooks_standing", webhooks(lyceum.WebhookFilter{Kept: true})},
		{"live webhooks", "FROM webhooks", "webhooks_standing", webhooks(lyceum.WebhookFilter{Kept: true, Live: true})},
		{"what a user was called", "FROM journal", "journal_details", said(func(tx lyceum.Tx) error {
			_, err := tx.FindCalled(1)
			return err
		})},
		{"tags of a user", "UPDATE journal", "journal_details", said(func(tx lyceum.Tx) error { return tx.EraseTraces(1) })},
	} {
		texts := slices.DeleteFunc(by.statements(t, tc.name, tc.read), func(text string) bool {
			return !strings.Contains(text, tc.statement)
		})
		if len(texts) != 1 {
			t.Fatalf("%s: %q", tc.name, texts)
		}
		if plan := planOf(t, store, texts[0]); !strings.Contains(strings.Join(plan, "\n"), "USING INDEX "+tc.index+" ") {
			t.Errorf("%s: %q, want %s", tc.name, plan, tc.index)
		}
	}
}

// TestDuePassesOverWhatWaits checks that due deliveries are found without reading everything that
// waits for a webhook: the first webhook is at the beginning of an index, and the others are
// found by it.
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
