package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

const (
	// oldMoment is when the databases in testdata/upgrade were created, and aWhile is a
	// thousand years, both in microseconds.
	oldMoment = 1795367336615658
	aWhile    = 1000 * 365 * 24 * 3600 * 1_000_000
)

// TestUpgradeLetsNobodyLapse uses a school with subscriptions that were due years ago, imported
// ones and two that were recorded. Everybody keeps access, and webhooks are not notified, until
// the owner decides otherwise. Imported subscriptions remain even then.
func TestUpgradeLetsNobodyLapse(t *testing.T) {
	t.Parallel()
	for name, old := range oldPlaces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := old(t)
			place.change(t, "UPDATE sales SET paid_until = 1577880000000000 WHERE paid_until IS NOT NULL AND ended_at IS NULL")
			command(t, append(append([]string{"upgrade"}, place.flags...), place.backup()...)...)
			const events = "SELECT count(*) FROM journal WHERE event <> 'AbandonedOrder.created'"
			before := place.number(t, events)
			// Some access ends in the future, but not during the test.
			place.change(t, fmt.Sprintf("UPDATE entitlements SET ends_at = ends_at + %d WHERE ends_at > %d", aWhile, oldMoment))
			place.scheduled(t)
			place.change(t, fmt.Sprintf("UPDATE entitlements SET ends_at = ends_at - %d WHERE ends_at > %[1]d", aWhile))
			place.unchanged(t)
			if now := place.number(t, events); now != before {
				t.Errorf("%d events were announced", now-before)
			}
			set := append([]string{"school", "set", "--on-lapse", "end"}, place.flags...)
			for _, row := range []struct {
				reply, says string
				open, fails bool
			}{
				{reply: "", says: "nothing was changed: answer y, or use --yes", open: true, fails: true},
				{reply: "n\n", says: "nothing was changed: answer y, or use --yes", open: true, fails: true},
				{reply: "y\n", says: "School 1: the subscriptions have ended."},
			} {
				cmd := exec.Command("lyceum", set...)
				cmd.Stdin = strings.NewReader(row.reply)
				out, err := cmd.CombinedOutput()
				counts := "Subscriptions that end now, because they were not paid for: 2. People who lose access: 2. People who keep it for another reason: 0.\n"
				if text := string(out); (err != nil) != row.fails || !strings.Contains(text, counts) || !strings.Contains(text, row.says) {
					t.Errorf("%q: %v: %s", row.reply, err, text)
				}
				open := place.number(t, "SELECT count(*) FROM entitlements WHERE sale_id IN (900014, 900016) AND ended_at IS NULL")
				if (open == 2) != row.open {
					t.Errorf("%q: %d are open", row.reply, open)
				}
			}
			if n := place.number(t, "SELECT count(*) FROM sales WHERE end_reason = 'lapsed'"); n != 2 {
				t.Errorf("%d sales lapsed", n)
			}
			if now := place.number(t, events); now != before {
				t.Errorf("%d events were announced", now-before)
			}
			command(t, append([]string{"check", "--deep"}, place.flags...)...)
		})
	}
}

// scheduled serves the database until the scheduler has processed everything that is due, the
// last of which is an order to abandon.
func (o oldPlace) scheduled(t *testing.T) {
	t.Helper()
	o.change(t, "UPDATE orders SET abandons_at = 0 WHERE state = 'open'")
	s := &shop{place: o.flags[1], addr: freeAddress(t), metrics: freeAddress(t)}
	s.serve(t)
	defer s.server.kill(t)
	if !await(func() bool { return o.number(t, "SELECT count(*) FROM orders WHERE state = 'open'") == 0 }) {
		t.Fatal("the scheduler does nothing")
	}
}

// change runs a statement.
func (o oldPlace) change(t *testing.T, statement string) {
	t.Helper()
	db := o.database(t)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
