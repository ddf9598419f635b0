package lyceum

import (
	"strings"
	"time"
)

// WebhookState is the state of a webhook.
type WebhookState string

// The contract's states.
const (
	WebhookVerified WebhookState = "verified" // has accepted an event
	WebhookPending  WebhookState = "pending"  // has not accepted an event yet
	WebhookFailed   WebhookState = "failed"   // no longer sent anything
)

// AllEvents is the trigger of a webhook that receives all events.
const AllEvents = "all"

// Schedule determines when a failed delivery is retried.
type Schedule string

// The schedules that a webhook can have.
const (
	ContractSchedule Schedule = "contract" // four attempts, like the contract's original
	StandardSchedule Schedule = "standard" // ten attempts within 76 hours, as in Standard Webhooks
)

// Webhook is a receiver of events.
type Webhook struct {
	ID           WebhookID
	State        WebhookState
	URL          string
	EventTrigger string // comma-separated names of events, or AllEvents
	EventsCount  int32
	CreatedAt    time.Time
	Since        int64 // the school's last journal entry before it was created; it receives only later events
	// Live means that this server sends to it. All others are records of webhooks that another
	// server sent to.
	Live             bool
	AsArray          bool // the body is an array with one element
	Schedule         Schedule
	RateLimit        int32          // maximum number of messages per minute; 0: no limit
	SecretGeneration int32          // how often its secret was changed
	SecretKey        SecretKeyID    // the secret key that its secret is derived from
	OldSecretUntil   Opt[time.Time] // until then, messages are also signed with the previous secret
	OldSecretKey     SecretKeyID    // the secret key that the previous secret is derived from
	FailedAt         Opt[time.Time]
	DeletedAt        Opt[time.Time] // kept for the audit trail but shown nowhere
}

// Shown returns the fingerprint of the fields of a webhook that can be changed.
func (w *Webhook) Shown() string {
	return Fingerprint(w.URL, w.EventTrigger, w.AsArray, w.Schedule, w.RateLimit)
}

// Wants reports whether the webhook receives an event.
func (w *Webhook) Wants(event EventName) bool {
	if w.EventTrigger == AllEvents {
		return true
	}
	for name := range strings.SplitSeq(w.EventTrigger, ",") {
		if name == string(event) {
			return true
		}
	}
	return false
}

// WebhookFilter narrows webhooks; absent fields match everything.
type WebhookFilter struct {
	Kept bool // only webhooks that were not deleted
	Live bool // only webhooks that this server sends to
}
