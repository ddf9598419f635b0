package lyceum

import (
	"fmt"
	"time"
)

// Retention is how many days a school keeps data that its books do not need. For events and
// attempts, 0 means forever.
type Retention struct {
	Events   int32 // what was sent to webhooks: 0, or MinEventDays to MaxRetention
	Attempts int32 // to deliver events, with the responses: 0 to MaxRetention
	Answers  int32 // responses to requests with an Idempotency-Key: MinAnswerDays to MaxAnswerDays
	Sessions int32 // after they end, as well as codes and tokens: 1 to MaxRetention
	Links    int32 // after they expire: 1 to MaxRetention
	Emails   int32 // that are no longer waiting: 1 to MaxRetention
}

// The limits of retention, in days. Deliveries are attempted for up to three days, and an
// idempotency key is valid for two.
const (
	MinEventDays  = 7
	MinAnswerDays = 2
	MaxAnswerDays = 30
	MaxRetention  = 3650
)

// DefaultRetention returns the retention of a new school.
func DefaultRetention() Retention {
	return Retention{Events: 90, Attempts: 30, Answers: MinAnswerDays, Sessions: 1, Links: 1, Emails: 30}
}

// Check returns an error if any value is out of range.
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
			message += ", or 0 to keep them forever"
		}
		wrong = append(wrong, FieldError{Field: part.field, Message: message})
	}
	if len(wrong) > 0 {
		return InvalidFields(wrong...)
	}
	return nil
}

// Deliveries returns how many days deliveries are kept: as long as both their events and their
// attempts. 0 means forever.
func (r Retention) Deliveries() int32 {
	if r.Events == 0 || r.Attempts == 0 {
		return 0
	}
	return max(r.Events, r.Attempts)
}

// Kept is a kind of data that a school keeps for a limited time.
type Kept string

// The kinds of data kept for a limited time.
const (
	KeptEvents     Kept = "events"
	KeptAttempts   Kept = "attempts"
	KeptDeliveries Kept = "deliveries"
	KeptAnswers    Kept = "answers"
	KeptSessions   Kept = "sessions"
	KeptLinks      Kept = "links"
	KeptEmails     Kept = "emails"
	KeptRequests   Kept = "requests" // failed requests
)

// Expired defines what Sweep may delete. A zero time deletes nothing.
type Expired struct {
	EventUntil    time.Time // events that happened before it and that no pending delivery needs
	AttemptUntil  time.Time // attempts made before it
	DeliveryUntil time.Time // deliveries created here before it that are not pending and have no attempts
	Until         time.Time // codes and access tokens that expired before it
	LinkUntil     time.Time // links that expired before it
	EmailUntil    time.Time // emails queued before it that are no longer waiting
	RequestUntil  time.Time // failed requests made before it
	SeenUntil     time.Time // sessions last seen before it
	BegunUntil    time.Time // sessions that began before it
	UsedUntil     time.Time // refresh tokens last used before it
	FamilyUntil   time.Time // refresh tokens whose line began before it
	AnswerUntil   time.Time // stored responses of changes that happened before it
}

// TableSize is the disk space of one table of the database, including all schools.
type TableSize struct {
	Table   string
	Bytes   int64 // without indexes
	Indexes int64 // bytes
}

// Sizes is the disk space of a database.
type Sizes struct {
	Tables []TableSize // by name
	Bytes  int64       // of all tables
	Free   int64       // bytes that are not in use and will be reused first
}
