package lyceum

import (
	"fmt"
	"time"
)

// Retention is how many days a school keeps what its books do not need. 0 keeps
// events and attempts for good.
type Retention struct {
	Events   int32 // what webhooks were sent: 0, or MinEventDays to MaxRetention
	Attempts int32 // to deliver events, with what was answered: 0 to MaxRetention
	Answers  int32 // to requests with an Idempotency-Key: MinAnswerDays to MaxAnswerDays
	Sessions int32 // after they ended, with codes and tokens: 1 to MaxRetention
	Links    int32 // after they expired: 1 to MaxRetention
	Emails   int32 // that do not wait: 1 to MaxRetention
}

// The bounds of retention, in days. An event is sent for three days, and a key of a
// request is good for two.
const (
	MinEventDays  = 7
	MinAnswerDays = 2
	MaxAnswerDays = 30
	MaxRetention  = 3650
)

// DefaultRetention is that of a new school.
func DefaultRetention() Retention {
	return Retention{Events: 90, Attempts: 30, Answers: MinAnswerDays, Sessions: 1, Links: 1, Emails: 30}
}

// Check returns what is wrong with it.
func (r Retention) Check() error {
	var wrong []FieldError
	for _, part := range []struct {
		field          string
		days, from, to int32
		forGood        bool
	}{
		{"keep_events", r.Events, MinEventDays, MaxRetention, true},
		{"keep_attempts", r.Attempts, 1, MaxRetention, true},
		{"keep_answers", r.Answers, MinAnswerDays, MaxAnswerDays, false},
		{"keep_sessions", r.Sessions, 1, MaxRetention, false},
		{"keep_links", r.Links, 1, MaxRetention, false},
		{"keep_emails", r.Emails, 1, MaxRetention, false},
	} {
		if part.days >= part.from && part.days <= part.to || part.forGood && part.days == 0 {
			continue
		}
		message := fmt.Sprintf("must be days from %d to %d", part.from, part.to)
		if part.forGood {
			message += ", or 0 to keep them for good"
		}
		wrong = append(wrong, FieldError{Field: part.field, Message: message})
	}
	if len(wrong) > 0 {
		return InvalidFields(wrong...)
	}
	return nil
}

// Deliveries is how many days deliveries are stored: as long as what they sent and the
// attempts to do so. 0 is for good.
func (r Retention) Deliveries() int32 {
	if r.Events == 0 || r.Attempts == 0 {
		return 0
	}
	return max(r.Events, r.Attempts)
}

// Kept is something that a school keeps for a time.
type Kept string

// What is kept for a time.
const (
	KeptEvents     Kept = "events"
	KeptAttempts   Kept = "attempts"
	KeptDeliveries Kept = "deliveries"
	KeptAnswers    Kept = "answers"
	KeptSessions   Kept = "sessions"
	KeptLinks      Kept = "links"
	KeptEmails     Kept = "emails"
	KeptRequests   Kept = "requests" // that failed
)

// Expired says what Sweep may delete. A zero time deletes nothing.
type Expired struct {
	EventUntil    time.Time // events that happened before it and that no delivery waits for
	AttemptUntil  time.Time // attempts before it
	DeliveryUntil time.Time // deliveries that were made here before it, do not wait, and have no attempt
	Until         time.Time // codes and access tokens that expired before it
	LinkUntil     time.Time // links that expired before it
	EmailUntil    time.Time // emails that were queued before it and do not wait
	RequestUntil  time.Time // failed requests before it
	SeenUntil     time.Time // sessions not seen since
	BegunUntil    time.Time // sessions that began before it
	UsedUntil     time.Time // refresh tokens not used since
	FamilyUntil   time.Time // refresh tokens whose line began before it
	AnswerUntil   time.Time // kept answers of changes that happened before it
}

// TableSize is how much of the disk a table of the database takes, of all schools.
type TableSize struct {
	Table   string
	Bytes   int64 // without indexes
	Indexes int64 // bytes
}

// Sizes is how much of the disk a database takes.
type Sizes struct {
	Tables []TableSize // by name
	Bytes  int64       // of all
	Free   int64       // bytes of those that are not in use and are used next
}
