package lyceum

import "time"

// Waiting is a kind of event that is scheduled for a time.
type Waiting string

// What can be scheduled, in the order in which it happens if times coincide.
const (
	AccessEnd        Waiting = "access_end"        // of an entitlement
	PeriodEnd        Waiting = "period_end"        // a sale stops being active or changes its plan
	PaymentDue       Waiting = "payment"           // the next payment of a sale, or a retry
	Lapse            Waiting = "lapse"             // of a sale that is not paid for
	OrderAbandonment Waiting = "order_abandonment" // of an order that was not completed
	WebhookAttempt   Waiting = "webhook_attempt"
)

// Waitings lists what can be scheduled.
func Waitings() []Waiting {
	return []Waiting{AccessEnd, PeriodEnd, PaymentDue, Lapse, OrderAbandonment, WebhookAttempt}
}

// NextQuery is a query for what is due next in a school.
type NextQuery struct {
	After time.Time
	Tries []time.Duration    // how long after the due time a payment is attempted
	Grace Opt[time.Duration] // how long after the due time a sale lapses; absent: never
}

// NextDue is what is due next in a school.
type NextDue struct {
	At        map[Waiting]time.Time // the earliest time of each kind that is scheduled
	Unsettled bool                  // changed products or plans are not settled yet, independently of time
	Limited   bool                  // messages are due to webhooks with a rate limit
	Webhooks  bool                  // there are webhooks that this server sends to
}
