package lyceum

import "time"

// PaymentFailureID identifies a failed payment.
type PaymentFailureID int32

// PaymentFailure is a failed attempt to charge a subscription or a payment plan. It never
// changes.
type PaymentFailure struct {
	ID            PaymentFailureID
	SaleID        SaleID
	OccurredAt    time.Time
	Reason        Opt[string]
	NextAttemptAt Opt[time.Time] // absent: no further attempt is planned
	Reference     Opt[string]    // in the payment system
}

// PaymentFailureFilter narrows failed payments; absent fields match everything.
type PaymentFailureFilter struct {
	Sale      Opt[SaleID]
	Reference Opt[string] // case-insensitive
	Newest    bool        // by descending id, instead of ascending
}
