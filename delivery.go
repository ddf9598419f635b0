package lyceum

import "time"

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
	Tries           int32          // since it was last sent again
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
	Webhook     WebhookID  // 0: of all
	StatusFrom  Opt[int32] // included
	StatusUntil Opt[int32] // included
	Created     Period
	State       Opt[string]
	Newest      bool // by descending creation and id, not by ascending id
}

// WebhookUsage is what a webhook uses of what it may.
type WebhookUsage struct {
	Sent int64 // messages in a minute
	Kept int64 // bytes of attempts that are kept of a day, in UTC
}
