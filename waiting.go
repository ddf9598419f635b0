package lyceum

import "time"

// Waiting is what waits for a moment.
type Waiting string

// What can wait, in the order in which it happens where moments coincide.
const (
	AccessEnd        Waiting = "access_end"        // of an entitlement
	PeriodEnd        Waiting = "period_end"        // a sale stops or changes its plan
	PaymentDue       Waiting = "payment"           // the next one of a sale, or another try
	Lapse            Waiting = "lapse"             // of a sale that is not paid for
	OrderAbandonment Waiting = "order_abandonment" // of an order that nobody completed
	WebhookAttempt   Waiting = "webhook_attempt"
)

// Waitings lists what can wait.
func Waitings() []Waiting {
	return []Waiting{AccessEnd, PeriodEnd, PaymentDue, Lapse, OrderAbandonment, WebhookAttempt}
}

// NextAsked asks what is due next in a school.
type NextAsked struct {
	After time.Time
	Tries []time.Duration    // how long after it was due a payment is tried
	Grace Opt[time.Duration] // how long after that a sale lapses, if it does
}

// NextDue is what is due next in a school.
type NextDue struct {
	At        map[Waiting]time.Time // the first moment of each that waits
	Unsettled bool                  // products or plans that changed are not settled yet, whatever the time
	Limited   bool                  // messages are due to webhooks that may be sent only so many in a minute
	Told      bool                  // there are webhooks that this server sends to
}
