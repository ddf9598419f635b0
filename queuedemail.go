package lyceum

import (
	"context"
	"time"
)

// EmailID numbers the emails of a school.
type EmailID int32

// EmailSequence numbers the emails of a school.
const EmailSequence Sequence = "email_id"

// EmailState is the state of an email.
type EmailState string

// The states of an email.
const (
	EmailWaiting  EmailState = "waiting"
	EmailSent     EmailState = "sent"     // accepted by the mail server
	EmailFailed   EmailState = "failed"   // given up
	EmailCanceled EmailState = "canceled" // there was no reason left to send it
)

// EmailStates lists the states of an email.
func EmailStates() []EmailState {
	return []EmailState{EmailWaiting, EmailSent, EmailFailed, EmailCanceled}
}

// QueuedEmail is an email caused by a change. Its text is rendered when it is sent.
type QueuedEmail struct {
	ID            EmailID
	Kind          EmailKind
	UserID        Opt[UserID] // the receiver, if they are a user
	Address       Opt[string] // the receiver's; absent: the user's address at the time of sending
	About         Opt[int32]  // the transaction, failed payment, sale or order that it is about, depending on Kind
	Values        string      // values for the text that cannot be read elsewhere; empty once the email is closed
	MessageID     string      // unique; the same for all attempts
	State         EmailState
	CreatedAt     time.Time
	Tries         int32
	NextAttemptAt Opt[time.Time] // while it is waiting
	ClosedAt      Opt[time.Time] // when it stopped waiting
	Problem       Opt[string]    // of the last attempt, or why it was canceled
}

// Close records that the email is no longer waiting, and discards its values.
func (e *QueuedEmail) Close(as EmailState, at time.Time) {
	e.State, e.NextAttemptAt, e.ClosedAt, e.Values = as, None[time.Time](), Some(at), ""
}

// EmailFailedEntry is the journal entry of an email that was given up.
const EmailFailedEntry EntryType = "email.failed"

// EmailFilter narrows emails; absent fields match everything. They are listed newest first.
type EmailFilter struct {
	State Opt[EmailState]
	User  Opt[UserID]
}

// EmailReader is the part of Reader that finds waiting emails.
type EmailReader interface {
	// FindEmailing returns the schools with emails that are due by now.
	FindEmailing(ctx context.Context, now time.Time) ([]SchoolID, error)
}

// EmailChanges are the operations on emails in a transaction, other than saving rows.
type EmailChanges interface {
	// ClaimEmails returns up to limit due emails, longest-waiting first, and postpones them
	// until the given time: if a claimant dies, they have not been sent and become due again.
	// No email is claimed twice at the same time.
	ClaimEmails(now, until time.Time, limit int) ([]QueuedEmail, error)

	// RenewEmails postpones claimed emails further, and returns the ids of those it changed:
	// the ones whose due time is still as claimed.
	RenewEmails(claimed []QueuedEmail, until time.Time) ([]EmailID, error)
}
