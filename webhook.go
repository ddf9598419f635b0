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

// The states of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// WebhookEvent is one event on its way to one receiver.
type WebhookEvent struct {
	ID              WebhookEventID
	Webhook         WebhookID
	State           string
	AttemptCount    int32
	LastAttemptedAt Opt[time.Time]
	CreatedAt       time.Time
	ObjectType      string
	ObjectID        int32
	ResponseStatus  Opt[int32]
	Number          Opt[int64]     // of its payload; absent in a record of another server
	NextAttemptAt   Opt[time.Time] // while it waits, or is being sent
	Tries           int32          // since it was last begun anew
}

// EventPayload is what webhooks are told of an event. Its number is that of the
// journal's entry; a test has the negative number of its delivery.
type EventPayload struct {
	Number   int64
	Event    EventName
	ObjectID int32
	At       time.Time
	Object   string // JSON
}

// Attempt is one try to deliver an event.
type Attempt struct {
	Delivery       WebhookEventID
	Number         int32 // from 1
	At             time.Time
	Took           time.Duration // microseconds
	Status         Opt[int32]    // of the answer
	Problem        Opt[string]   // why there was none
	RequestHeader  string        // lines of name and value
	ResponseHeader string
	ResponseBody   string
	// Unkept: headers and body were not kept, because the webhook's answers of
	// that day are as many bytes as are kept.
	Unkept bool
}

// DueWebhook is a receiver for whom something is to be sent.
type DueWebhook struct {
	School  SchoolID
	Webhook WebhookID
}

// ResendFilter says which deliveries of a webhook are sent again.
type ResendFilter struct {
	Webhook WebhookID
	Created Period
	State   Opt[string]
}

// WebhookEventFilter narrows the events of a webhook.
type WebhookEventFilter struct {
	Webhook     WebhookID
	StatusFrom  Opt[int32] // included
	StatusUntil Opt[int32] // included
	Created     Period
	State       Opt[string]
}

// WebhookEventListing is a page of events, newest first, and the exact total.
type WebhookEventListing struct {
	Page   Page
	Total  int64
	Events []WebhookEvent
}
