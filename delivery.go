package lyceum

import "time"

// The states of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// WebhookEvent is the delivery of one event to one webhook.
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
	Number          Opt[int64]     // of its payload; absent if it is the record of another server's delivery
	NextAttemptAt   Opt[time.Time] // while it is pending or being sent
	Tries           int32          // attempts since it was last resent
}

// EventPayload is what webhooks receive about an event. Its number is that of the journal
// entry; a test event has the negated number of its delivery.
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
	Took           time.Duration // to the microsecond
	Status         Opt[int32]    // of the response
	Problem        Opt[string]   // why there was no response
	RequestHeader  string        // one "Name: value" line per header
	ResponseHeader string
	ResponseBody   string
	// Unkept means that headers and bodies were not stored, because the webhook's attempts of
	// that day have reached the limit of stored bytes.
	Unkept bool
}

// DueWebhook is a webhook with deliveries that are due.
type DueWebhook struct {
	School  SchoolID
	Webhook WebhookID
}

// ResendFilter selects the deliveries of a webhook that are resent.
type ResendFilter struct {
	Webhook WebhookID
	Created Period
	State   Opt[string]
}

// WebhookEventFilter narrows the deliveries to webhooks.
type WebhookEventFilter struct {
	Webhook     WebhookID  // 0: all webhooks
	StatusFrom  Opt[int32] // inclusive
	StatusUntil Opt[int32] // inclusive
	Created     Period
	State       Opt[string]
	Newest      bool // by descending creation time and id, instead of ascending id
}

// WebhookUsage is how much of its limits a webhook has used.
type WebhookUsage struct {
	Webhook WebhookID
	Minute  time.Time
	Sent    int64     // messages in that minute
	Day     time.Time // in UTC
	Kept    int64     // bytes of attempts stored for that day
}
