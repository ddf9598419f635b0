package lyceum

import "time"

// PaymentFailureID names an attempt to charge a sale that failed.
type PaymentFailureID int32

// PaymentFailure is an attempt to charge a subscription or a payment plan that
// failed. It is never changed.
type PaymentFailure struct {
	ID            PaymentFailureID
	SaleID        SaleID
	OccurredAt    time.Time
	Reason        Opt[string]
	NextAttemptAt Opt[time.Time] // absent: none is planned
	Reference     Opt[string]    // of the payment system
}

// PaymentFailureFilter narrows failures; an absent part holds always.
type PaymentFailureFilter struct {
	Sale      Opt[SaleID]
	Reference Opt[string] // in any case of its letters
	Newest    bool        // by descending id, not ascending
}
