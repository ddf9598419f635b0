package lyceum

import (
	"context"
	"time"
)

// EmailID numbers the emails of a school.
type EmailID int32

// EmailSequence numbers the emails of a school.
const EmailSequence Sequence = "email_id"

// EmailState is how far an email has come.
type EmailState string

// The states of an email.
const (
	EmailWaiting  EmailState = "waiting"
	EmailSent     EmailState = "sent"     // the mail server took it
	EmailFailed   EmailState = "failed"   // given up
	EmailCanceled EmailState = "canceled" // there was no reason left to send it
)

// EmailStates lists the states of an email.
func EmailStates() []EmailState {
	return []EmailState{EmailWaiting, EmailSent, EmailFailed, EmailCanceled}
}

// QueuedEmail is an email that a change caused. Its text is made when it is sent.
type QueuedEmail struct {
	ID            EmailID
	Kind          EmailKind
	UserID        Opt[UserID] // the receiver, if they are a user
	Address       Opt[string] // of the receiver; absent: the one they have when it is sent
	About         Opt[int32]  // the transaction, failed payment, sale or order that it is about, by its kind
	Values        string      // that it shows and that cannot be read elsewhere; empty when it is closed
	MessageID     string      // the same for each attempt, unlike that of any other email
	State         EmailState
	CreatedAt     time.Time
	Tries         int32
	NextAttemptAt Opt[time.Time] // while it waits
	ClosedAt      Opt[time.Time] // when it stopped waiting
	Problem       Opt[string]    // of the last attempt, or why it was canceled
}

// Close keeps that the email does not wait any longer, and forgets what it shows.
func (e *QueuedEmail) Close(as EmailState, at time.Time) {
	e.State, e.NextAttemptAt, e.ClosedAt, e.Values = as, None[time.Time](), Some(at), ""
}

// EmailFailedEntry is the journal entry of an email that was given up.
const EmailFailedEntry EntryType = "email.failed"

// EmailFilter narrows emails; an absent part holds always. They are listed newest
// first.
type EmailFilter struct {
	State Opt[EmailState]
	User  Opt[UserID]
}

// EmailReader is the part of a reader that knows which emails wait.
type EmailReader interface {
	// FindEmailing returns the schools that have emails to be sent by now.
	FindEmailing(ctx context.Context, now time.Time) ([]SchoolID, error)
}

// EmailChanges are what a change does about emails besides changing their rows.
type EmailChanges interface {
	// ClaimEmails returns up to limit emails that are due, those that have waited
	// longest, and puts them off until a moment: whoever claimed them and is gone has
	// not sent them. No email is returned to two.
	ClaimEmails(now, until time.Time, limit int) ([]QueuedEmail, error)

	// RenewEmails lets emails that are claimed be due at a later time, and returns those
	// that it changed: the ones that are still due when they say.
	RenewEmails(claimed []QueuedEmail, until time.Time) ([]EmailID, error)
}
