package lyceum

import (
	"fmt"
	"time"
)

// Sale groups the transactions of one purchase. Of a sale that was imported as
// transactions only what the earliest of them tells is known.
type Sale struct {
	ID            SaleID
	CreatedAt     time.Time // the earliest that a transaction of it ever bore
	PurchasedAt   time.Time // of that transaction
	UpdatedAt     time.Time // when it was last changed here; kept by the store
	UserID        Opt[UserID]
	PricingPlanID Opt[PricingPlanID]
	CouponID      Opt[CouponID]
	AffiliateID   Opt[AffiliateID]
	AuthorID      Opt[AuthorID]
	FinalPrice    Opt[Minor] // of its first transaction
	Currency      Opt[Currency]
	Means
	BillingAnchor Opt[time.Time] // of a subscription or payment plan: its periods are counted from it
	PaidUntil     Opt[time.Time] // of one: when the next payment is due
	PaidInFull    bool           // of a payment plan: each of its payments was made
	BilledSince   Opt[time.Time] // when it, or first a payment or a failure of it, was recorded here, not imported
	FailedAt      Opt[time.Time] // when an attempt to charge it last failed
	EndedAt       Opt[time.Time]
	EndReason     Opt[SaleEnd] // present together with EndedAt
	Released      bool         // each of its payments is refunded in full
	// Replaces is the sale that this one followed by a change of plan, and
	// ReplacedBy the one that followed this one, which ended as SaleChanged.
	Replaces   Opt[SaleID]
	ReplacedBy Opt[SaleID]
	NextPlan   Opt[PricingPlanID] // the sale changes to it when PaidUntil has passed
	// StopsAt is when a sale that was paid for again and again, and has ended, stops
	// being active, if that is still to come; webhooks are told then.
	StopsAt Opt[time.Time]
	Stopped bool // webhooks were told, once for good
	// ToStop is since when somebody is to stop charging it at the payment system,
	// until they say that they did.
	ToStop Opt[time.Time]
}

// Due returns when something is to happen to the sale by itself: it changes its
// plan, or stops.
func (s *Sale) Due() Opt[time.Time] {
	if s.NextPlan.Present {
		return Some(s.PaidUntil.Else(s.CreatedAt)) // at once if nothing is paid for any more
	}
	return s.StopsAt
}

// DueAt reports whether Due has come at a moment.
func (s *Sale) DueAt(at time.Time) bool {
	due := s.Due()
	return due.Present && !due.Value.After(at)
}

// StopAt notes when the sale stops being active, unless it stops before. It
// reports whether webhooks are to be told now.
func (s *Sale) StopAt(at, now time.Time) (announce bool) {
	switch {
	case s.Stopped:
		return false
	case at.After(now):
		if !s.StopsAt.Present || at.Before(s.StopsAt.Value) {
			s.StopsAt = Some(at)
		}
		return false
	}
	s.StopsAt, s.Stopped = None[time.Time](), true
	return true
}

// GraceFrom returns when the grace begins of a sale that lapses if it is not paid
// for: one that is billed here. What was due before begins with that.
func (s *Sale) GraceFrom() Opt[time.Time] {
	switch {
	case !s.BilledSince.Present || !s.PaidUntil.Present || s.EndedAt.Present:
		return None[time.Time]()
	case s.BilledSince.Value.After(s.PaidUntil.Value):
		return s.BilledSince
	}
	return s.PaidUntil
}

// LapsesAt returns when the sale ends if it is not paid for until then, at most Latest.
func (s *Sale) LapsesAt(p SalePolicy) Opt[time.Time] {
	from := s.GraceFrom()
	if !from.Present || p.OnLapse != EndSale {
		return None[time.Time]()
	}
	return Some(NotAfterLatest(from.Value.Add(p.Grace())))
}

// End ends the sale of a plan and drops its change of plan. What is still charged
// is to be stopped. A sale that has ended keeps its end.
func (s *Sale) End(plan *PricingPlan, at time.Time, why SaleEnd) {
	s.NextPlan = None[PricingPlanID]()
	if s.EndedAt.Present {
		return
	}
	s.EndedAt, s.EndReason = Some(Second(at)), Some(why)
	if s.Charged(plan) {
		s.ToStop = s.EndedAt
	}
}

// Charged reports whether somebody charges the sale of a plan again and again.
func (s *Sale) Charged(plan *PricingPlan) bool {
	return plan.Recurring() && !s.PaidInFull && (plan.Price > 0 || s.FinalPrice.Value > 0)
}

// Reopen takes the end of the sale back.
func (s *Sale) Reopen() {
	s.EndedAt, s.EndReason, s.ReplacedBy = None[time.Time](), None[SaleEnd](), None[SaleID]()
	s.StopsAt, s.ToStop = None[time.Time](), None[time.Time]()
}

// SaleFilter narrows sales; an absent part holds always.
type SaleFilter struct {
	// Purchases narrows to what was bought, the newest purchase first.
	Purchases Opt[PurchaseFilter]
	// DueAt: Sale.DueAt that moment. The first due come first.
	DueAt Opt[time.Time]
	// UnpaidAt: GraceFrom is that moment or before. The first come first.
	UnpaidAt Opt[time.Time]
	// ToStop keeps those that somebody is to stop charging, in the order in which
	// they ended.
	ToStop bool
	// UnpaidSince: GraceFrom is one of these moments.
	UnpaidSince []time.Time
}

// HoldsSeat reports whether the sale takes a seat of its pricing plan.
func (s *Sale) HoldsSeat() bool { return s.PricingPlanID.Present && !s.EndedAt.Present && !s.Released }

// HoldsUse reports whether the sale takes a use of its coupon, which only a full
// refund returns.
func (s *Sale) HoldsUse() bool { return s.CouponID.Present && !s.Released }

// Taken counts the seats of pricing plans and the uses of coupons that sales and
// open orders take.
type Taken struct {
	Seats map[PricingPlanID]int64
	Uses  map[CouponID]int64
}

// SaleOf gives what a transaction that was imported tells of its sale.
func SaleOf(t *Transaction) Sale {
	return Sale{
		ID: t.SaleID, CreatedAt: t.CreatedAt, PurchasedAt: t.PurchasedAt, UserID: Some(t.UserID),
		PricingPlanID: Some(t.PricingPlanID),
		CouponID:      t.CouponID, AffiliateID: t.AffiliateID, AuthorID: t.AuthorID, FinalPrice: Some(t.FinalPrice),
		Currency: Some(t.Currency),
	}
}

// SaleEnd is why a sale ended.
type SaleEnd string

// The ends of a sale.
const (
	SaleCanceled    SaleEnd = "canceled"
	SaleRefunded    SaleEnd = "refunded"
	SaleChargedBack SaleEnd = "charged_back"
	SaleVoided      SaleEnd = "voided"
	SaleChanged     SaleEnd = "changed" // another sale followed
	SaleLapsed      SaleEnd = "lapsed"  // nobody paid for it until its grace was over
)

// Entitlement is how the end of a sale ends its entitlements.
func (e SaleEnd) Entitlement() EntitlementEnd { return EntitlementEnd(e) }

// Consequence is what the end of a sale does to the learner's enrollment.
type Consequence string

// The consequences a school can choose.
const (
	Unenroll    Consequence = "unenroll"      // at once
	AtPeriodEnd Consequence = "at_period_end" // when what was paid for is used up
	Keep        Consequence = "keep"
	EndSale     Consequence = "end" // and the access that it gives
)

// SalePolicy is what a school chose to happen when sales end.
type SalePolicy struct {
	OnRefund       Consequence   // a full refund: Unenroll or Keep
	OnChargeback   Consequence   // a lost chargeback: Unenroll or Keep
	OnCancellation Consequence   // Unenroll, AtPeriodEnd or Keep
	OnLapse        Consequence   // a subscription that is billed here and not paid for: EndSale or Keep
	GraceDays      int32         // of 24 hours, from when a payment is due until the lapse; 0 to MaxGraceDays
	AbandonAfter   time.Duration // an open order is abandoned so long after it was opened; whole minutes
}

// MaxGraceDays is the longest grace, in days.
const MaxGraceDays = 60

// Grace is how long after a payment was due a sale lapses.
func (p SalePolicy) Grace() time.Duration { return time.Duration(p.GraceDays) * 24 * time.Hour }

// DefaultSalePolicy is what a school has that chose nothing.
func DefaultSalePolicy() SalePolicy {
	return SalePolicy{
		OnRefund: Unenroll, OnChargeback: Unenroll, OnCancellation: AtPeriodEnd, OnLapse: EndSale, GraceDays: 15,
		AbandonAfter: time.Hour,
	}
}

// Check refuses a policy that is none.
func (p SalePolicy) Check() error {
	var wrong []FieldError
	for _, part := range []struct {
		field string
		value Consequence
	}{{"on_refund", p.OnRefund}, {"on_chargeback", p.OnChargeback}} {
		if part.value != Unenroll && part.value != Keep {
			wrong = append(wrong, FieldError{Field: part.field, Message: "must be unenroll or keep"})
		}
	}
	if p.OnCancellation != Unenroll && p.OnCancellation != AtPeriodEnd && p.OnCancellation != Keep {
		wrong = append(wrong, FieldError{Field: "on_cancellation", Message: "must be unenroll, at_period_end or keep"})
	}
	if p.OnLapse != EndSale && p.OnLapse != Keep {
		wrong = append(wrong, FieldError{Field: "on_lapse", Message: "must be end or keep"})
	}
	if p.GraceDays < 0 || p.GraceDays > MaxGraceDays {
		wrong = append(wrong, FieldError{Field: "grace_days", Message: fmt.Sprintf("must be from 0 to %d", MaxGraceDays)})
	}
	if p.AbandonAfter < time.Minute || p.AbandonAfter > 90*24*time.Hour || p.AbandonAfter%time.Minute != 0 {
		wrong = append(wrong, FieldError{
			Field:   "abandon_after_minutes",
			Message: "must be from 1 to 129600, which is 90 days",
		})
	}
	if len(wrong) > 0 {
		return InvalidFields(wrong...)
	}
	return nil
}
