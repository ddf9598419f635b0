package templates_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const link = "https://school.example.com/secure/1/identity/set_password/canary"

// addUser adds a user to the school.
func (d *desk) addUser(t *testing.T, id lyceum.UserID, email string) {
	t.Helper()
	d.write(t, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{
			ID: id, Email: email, Name: lyceum.Some("Ana"), Role: lyceum.Student, CreatedAt: storetest.Begin,
		})
		return err
	})
}

func (d *desk) write(t *testing.T, do func(lyceum.Tx) error) {
	t.Helper()
	if err := d.store.Write(t.Context(), d.by.Stamp(d.clock.Now()), do); err != nil {
		t.Fatal(err)
	}
}

// queue queues the email with a link for user 1.
func (d *desk) queue(t *testing.T) {
	t.Helper()
	d.write(t, func(tx lyceum.Tx) error {
		return d.Queue(tx, templates.Outgoing{
			Name: templates.SetPassword, User: lyceum.Some[lyceum.UserID](1), Values: templates.Values{"link": link},
		})
	})
}

// claim claims all emails that are due, and checks their number.
func (d *desk) claim(t *testing.T, want int) []templates.Claimed {
	t.Helper()
	due, err := d.Due(t.Context())
	if err != nil || len(due) != min(want, 1) {
		t.Fatal("due:", due, err)
	}
	claimed, err := d.Claim(t.Context(), d.by.School, 10)
	if err != nil || len(claimed) != want {
		t.Fatalf("%d claimed, want %d: %v", len(claimed), want, err)
	}
	return claimed
}

// only returns the only email of the school.
func (d *desk) only(t *testing.T, state lyceum.EmailState) lyceum.QueuedEmail {
	t.Helper()
	all, err := d.Queued(t.Context(), d.by, lyceum.EmailFilter{State: lyceum.Some(state)}, lyceum.Page{Number: 1, Size: 10})
	if err != nil || all.Total != 1 {
		t.Fatalf("%d emails are %s: %v", all.Total, state, err)
	}
	return all.Rows[0]
}

// TestEmailsWait checks that an email is queued with the change that causes it, belongs to
// whoever claimed it for half a minute, and is the same email when it is sent again.
func TestEmailsWait(t *testing.T) {
	d := newDesk(t)
	d.addUser(t, 1, "ana@example.com")
	failed := errors.New("failed")
	err := d.store.Write(t.Context(), d.by.Stamp(d.clock.Now()), func(tx lyceum.Tx) error {
		return errors.Join(d.Queue(tx, templates.Outgoing{Name: templates.EmailChanged}), failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	d.claim(t, 0)
	d.queue(t)
	if row := d.only(t, lyceum.EmailWaiting); strings.Contains(row.Values, "canary") || row.Values == "" {
		t.Errorf("%q is stored", row.Values)
	}
	needed, err := d.NeededKeys(t.Context())
	if err != nil || needed[lyceum.SecretKey{1}.ID()] != 1 {
		t.Error(needed, err)
	}
	first := d.claim(t, 1)
	d.claim(t, 0)
	d.clock.Pass(30 * time.Second)
	again := d.claim(t, 1)
	if first[0].MessageID != again[0].MessageID || len(first[0].MessageID) < 26 {
		t.Errorf("%q and %q", first[0].MessageID, again[0].MessageID)
	}
	m, canceled, err := d.Make(t.Context(), &again[0])
	if err != nil || canceled != "" || m.To != "ana@example.com" || m.ID != first[0].MessageID || !strings.Contains(m.Text, link) {
		t.Errorf("%+v %s %v", m, canceled, err)
	}
	if _, err := d.Report(t.Context(), &first[0], templates.Outcome{Problem: "late"}); err != nil {
		t.Fatal(err)
	}
	if row := d.only(t, lyceum.EmailWaiting); row.Tries != 0 {
		t.Error("whose lease was over has changed it:", row)
	}
	if _, err := d.Report(t.Context(), &first[0], templates.Outcome{}); err != nil {
		t.Fatal(err)
	}
	if row := d.only(t, lyceum.EmailSent); row.Values != "" || row.Tries != 1 || !row.ClosedAt.Present || row.NextAttemptAt.Present {
		t.Errorf("%+v", row)
	}
	if _, err := d.Report(t.Context(), &again[0], templates.Outcome{Problem: "late"}); err != nil {
		t.Fatal(err)
	}
	d.only(t, lyceum.EmailSent)
	d.clock.Pass(time.Hour)
	d.claim(t, 0)
}

// TestEmailsAreGivenUp checks that an email that is not sent is tried twelve times within 40
// hours, that one that cannot be sent is given up immediately, and that the journal has both.
func TestEmailsAreGivenUp(t *testing.T) {
	d := newDesk(t)
	d.addUser(t, 1, "ana@example.com")
	d.queue(t)
	begin := d.clock.Now()
	for try := 1; ; try++ {
		claimed := d.claim(t, 1)
		failed, err := d.Report(t.Context(), &claimed[0], templates.Outcome{Problem: "down"})
		if err != nil || failed != (try == 12) {
			t.Fatal(try, failed, err)
		}
		if failed {
			break
		}
		next := d.only(t, lyceum.EmailWaiting).NextAttemptAt.Value
		d.clock.Pass(next.Sub(d.clock.Now()) - time.Second)
		d.claim(t, 0)
		d.clock.Pass(time.Second)
	}
	if took := d.clock.Now().Sub(begin); took < 32*time.Hour || took > 48*time.Hour {
		t.Error("given up after", took)
	}
	if row := d.only(t, lyceum.EmailFailed); row.Values != "" || row.Problem.Value != "down" || row.Tries != 12 {
		t.Errorf("%+v", row)
	}
	d.queue(t)
	claimed := d.claim(t, 1)
	if failed, err := d.Report(t.Context(), &claimed[0], templates.Outcome{Problem: "unknown", ForGood: true}); !failed || err != nil {
		t.Error(failed, err)
	}
	v := d.store.In(t.Context(), d.by.School)
	noted, err := v.FindChanges(lyceum.ChangeFilter{Types: []lyceum.EntryType{lyceum.EmailFailedEntry}, Limit: 10})
	if err != nil || len(noted.Changes) != 2 {
		t.Error(noted, err)
	}
}

// TestEmailsAreCanceled checks that emails that no longer have a reason to be sent are canceled,
// and that a server without a mail server queues nothing.
func TestEmailsAreCanceled(t *testing.T) {
	d := newDesk(t)
	d.addUser(t, 1, "ana@example.com")
	d.queue(t)
	d.clock.Pass(48 * time.Hour)
	claimed := d.claim(t, 1)
	if _, canceled, err := d.Make(t.Context(), &claimed[0]); canceled != "its link is no longer valid" || err != nil {
		t.Error(canceled, err)
	}
	if _, err := d.Report(t.Context(), &claimed[0], templates.Outcome{Canceled: "late"}); err != nil {
		t.Fatal(err)
	}
	if row := d.only(t, lyceum.EmailCanceled); row.Values != "" || row.Problem.Value != "late" || row.Tries != 0 {
		t.Errorf("%+v", row)
	}
	d.write(t, func(tx lyceum.Tx) error {
		return d.Queue(tx, templates.Outgoing{Name: templates.EmailChanged, User: lyceum.Some[lyceum.UserID](9)})
	})
	claimed = d.claim(t, 1)
	if _, canceled, err := d.Make(t.Context(), &claimed[0]); canceled != "its receiver was erased" || err != nil {
		t.Error(canceled, err)
	}
	if _, err := d.Report(t.Context(), &claimed[0], templates.Outcome{}); err != nil {
		t.Fatal(err)
	}
	d.change(func(o *templates.Options) { o.Ring = nil })
	err := d.store.Write(t.Context(), d.by.Stamp(d.clock.Now()), func(tx lyceum.Tx) error {
		return d.Queue(tx, templates.Outgoing{Name: templates.SetPassword, Values: templates.Values{"link": link}})
	})
	if lyceum.KindOf(err) != lyceum.Conflict {
		t.Error("a link in clear:", err)
	}
	d.change(func(o *templates.Options) { o.Send = nil })
	d.queue(t)
	d.claim(t, 0)
}
