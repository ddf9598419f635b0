package lyceum

import "time"

// WebhookState is what is known of a receiver.
type WebhookState string

// The states of the contract.
const (
	WebhookVerified WebhookState = "verified" // has taken an event
	WebhookPending  WebhookState = "pending"  // never yet
	WebhookFailed   WebhookState = "failed"   // is sent nothing any more
)

// Webhook is a receiver of events of one kind.
type Webhook struct {
	ID           WebhookID
	State        WebhookState
	URL          string
	EventTrigger string
	EventsCount  int32
	CreatedAt    time.Time
}

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
}

// WebhookEventFilter narrows the events of a webhook.
type WebhookEventFilter struct {
	Webhook     WebhookID
	StatusFrom  Opt[int32] // included
	StatusUntil Opt[int32] // included
	Created     Period
}

// WebhookEventListing is a page of events, newest first, and the exact total.
type WebhookEventListing struct {
	Page   Page
	Total  int64
	Events []WebhookEvent
}
