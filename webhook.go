package lyceum

import (
	"strings"
	"time"
)

// WebhookState is what is known of a receiver.
type WebhookState string

// The states of the contract.
const (
	WebhookVerified WebhookState = "verified" // has taken an event
	WebhookPending  WebhookState = "pending"  // never yet
	WebhookFailed   WebhookState = "failed"   // is sent nothing any more
)

// AllEvents is the trigger of a webhook that is told of everything.
const AllEvents = "all"

// Schedule says when a delivery that failed is tried again.
type Schedule string

// The schedules a webhook can have.
const (
	ContractSchedule Schedule = "contract" // four attempts, as the contract's original
	StandardSchedule Schedule = "standard" // ten attempts within 76 hours, as Standard Webhooks has it
)

// Webhook is a receiver of events.
type Webhook struct {
	ID           WebhookID
	State        WebhookState
	URL          string
	EventTrigger string // names of events parted by commas, or AllEvents
	EventsCount  int32
	CreatedAt    time.Time
	Since        int64 // the school's last journal entry before it was created; it is told of later ones
	// Live: this server sends to it. The others are a record of what another
	// server sent to.
	Live             bool
	AsArray          bool // the body is an array of one
	Schedule         Schedule
	RateLimit        int32          // messages a minute at most; 0 is no limit
	SecretGeneration int32          // how often its secret was changed
	SecretKey        SecretKeyID    // that its secret is made of
	OldSecretUntil   Opt[time.Time] // the secret before signs too until then
	OldSecretKey     SecretKeyID    // that the secret before was made of
	FailedAt         Opt[time.Time]
	DeletedAt        Opt[time.Time] // it stays for the audit trail and is shown nowhere
}

// Shown is the fingerprint of what can be changed of a webhook.
func (w *Webhook) Shown() string {
	return Fingerprint(w.URL, w.EventTrigger, w.AsArray, w.Schedule, w.RateLimit)
}

// Wants tells whether the webhook is told of an event.
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

// WebhookFilter narrows webhooks; an absent part holds always.
type WebhookFilter struct {
	Kept bool // without those that were deleted
	Live bool // only those that this server sends to
}
