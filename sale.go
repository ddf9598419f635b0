package lyceum

import (
	"fmt"
	"time"
)

// Sale groups the transactions of one purchase. If a sale was imported as transactions, only
// what the earliest of them contains is known.
type Sale struct {
	ID            SaleID
	CreatedAt     time.Time // the earliest CreatedAt that any of its transactions ever had
	PurchasedAt   time.Time // of the earliest transaction
	UpdatedAt     time.Time // when it was last changed here; set by the store
	UserID        Opt[UserID]
	PricingPlanID Opt[PricingPlanID]
	CouponID      Opt[CouponID]
	AffiliateID   Opt[AffiliateID]
	AuthorID      Opt[AuthorID]
	FinalPrice    Opt[Minor] // of the first transaction
	Currency      Opt[Currency]
	Means
	BillingAnchor Opt[time.Time] // for a subscription or payment plan: its periods are counted from it
	PaidUntil     Opt[time.Time] // for a subscription or payment plan: when the next payment is due
	PaidInFull    bool           // for a payment plan: all payments were made
	// BilledSince is when the sale, or a payment or failed payment of it, was first recorded
	// here rather than imported.
	BilledSince Opt[time.Time]
	FailedAt    Opt[time.Time] // when charging it last failed
	EndedAt     Opt[time.Time]
	EndReason   Opt[SaleEnd] // present if EndedAt is
	Released    bool         // all payments are fully refunded; payments of 0 do not count
	// Replaces is the sale that this one followed by a change of plan. ReplacedBy is the sale
	// that followed this one, which ended as SaleChanged.
	Replaces   Opt[SaleID]
	ReplacedBy Opt[SaleID]
	NextPlan   Opt[PricingPlanID] // the plan that the sale changes to after PaidUntil
	// StopsAt is when a recurring sale that has ended stops being active, if that is in the
	// future; webhooks are notified then.
	StopsAt Opt[time.Time]
	Stopped bool // webhooks were notified; this happens only once, even if the sale opens again
	// ToStop is since when the payment system must be told to stop charging the sale. It is
	// present until somebody confirms that this was done.
	ToStop Opt[time.Time]
}

// Due returns when something is going to happen to the sale by itself: a change of plan, or
// that it stops being active.
func (s *Sale) Due() Opt[time.Time] {
	if s.NextPlan.Present {
		return Some(s.PaidUntil.Else(s.CreatedAt)) // immediately if nothing is paid for any longer
	}
	return s.StopsAt
}

// DueAt reports whether Due has come at the given time.
func (s *Sale) DueAt(at time.Time) bool {
	due := s.Due()
	return due.Present && !due.Value.After(at)
}

// StopAt records when the sale stops being active, unless it stops earlier. It reports whether
// webhooks must be notified now. They are notified once, even if the sale opened again meanwhile.
func (s *Sale) StopAt(at, now time.Time) (announce bool) {
	if at.After(now) {
		if !s.StopsAt.Present || at.Before(s.StopsAt.Value) {
			s.StopsAt = Some(at)
		}
		return false
	}
	announce = !s.Stopped
	s.StopsAt, s.Stopped = None[time.Time](), true
	return announce
}

// GraceFrom returns when the grace begins for a sale that lapses if it is not paid for, which
// is one that is billed here. For payments due before BilledSince, it begins then.
func (s *Sale) GraceFrom() Opt[time.Time] {
	switch {
	case !s.BilledSince.Present || !s.PaidUntil.Present || s.EndedAt.Present:
		return None[time.Time]()
	case s.BilledSince.Value.After(s.PaidUntil.Value):
		return s.BilledSince
	}
	return s.PaidUntil
}

// LapsesAt returns when the sale ends if it is not paid for by then, at most Latest.
func (s *Sale) LapsesAt(p SalePolicy) Opt[time.Time] {
	from := s.GraceFrom()
	if !from.Present || p.OnLapse != EndSale {
		return None[time.Time]()
	}
	return Some(NotAfterLatest(from.Value.Add(p.Grace())))
}

// End ends the sale of a plan and cancels its change of plan. If the sale is still being
// charged, that must be stopped. A sale that has already ended is not changed otherwise.
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

// Charged reports whether the sale of a plan is charged repeatedly.
func (s *Sale) Charged(plan *PricingPlan) bool {
	return plan.Recurring() && !s.PaidInFull && (plan.Price > 0 || s.FinalPrice.Value > 0)
}

// Reopen undoes the end of the sale.
func (s *Sale) Reopen() {
	s.EndedAt, s.EndReason, s.ReplacedBy = None[time.Time](), None[SaleEnd](), None[SaleID]()
	s.StopsAt, s.ToStop = None[time.Time](), None[time.Time]()
}

// SaleFilter narrows sales; absent fields match everything.
type SaleFilter struct {
	// Purchases narrows to purchases, newest first.
	Purchases Opt[PurchaseFilter]
	// DueAt selects sales for which Sale.DueAt is true at that time, those due first coming
	// first.
	DueAt Opt[time.Time]
	// UnpaidAt selects sales whose GraceFrom is not after that time, the earliest first.
	UnpaidAt Opt[time.Time]
	// ToStop selects the sales that somebody must stop charging, in the order in which they
	// ended.
	ToStop bool
	// UnpaidSince selects sales whose GraceFrom is one of these times.
	UnpaidSince []time.Time
}

// HoldsSeat reports whether the sale takes a seat of its pricing plan.
func (s *Sale) HoldsSeat() bool { return s.PricingPlanID.Present && !s.EndedAt.Present && !s.Released }

// HoldsUse reports whether the sale takes a use of its coupon. Only a full refund returns the
// use.
func (s *Sale) HoldsUse() bool { return s.CouponID.Present && !s.Released }

// Taken counts the seats of pricing plans and the uses of coupons that are taken by sales and
// open orders.
type Taken struct {
	Seats map[PricingPlanID]int64
	Uses  map[CouponID]int64
}

// SaleOf returns what an imported transaction says about its sale.
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

// The reasons why a sale ends.
const (
	SaleCanceled    SaleEnd = "canceled"
	SaleRefunded    SaleEnd = "refunded"
	SaleChargedBack SaleEnd = "charged_back"
	SaleVoided      SaleEnd = "voided"
	SaleChanged     SaleEnd = "changed" // another sale followed
	SaleLapsed      SaleEnd = "lapsed"  // it was not paid for within its grace
)

// Entitlement returns how the end of a sale ends its entitlements.
func (e SaleEnd) Entitlement() EntitlementEnd { return EntitlementEnd(e) }

// Consequence is what the end of a sale does to the learner's enrollment.
type Consequence string

// The consequences that a school can choose.
const (
	Unenroll    Consequence = "unenroll"      // immediately
	AtPeriodEnd Consequence = "at_period_end" // at the end of the period that was paid for
	Keep        Consequence = "keep"
	EndSale     Consequence = "end" // together with the access that it grants
)

// SalePolicy is what a school has chosen to happen when sales end.
type SalePolicy struct {
	OnRefund       Consequence   // a full refund: Unenroll or Keep
	OnChargeback   Consequence   // a lost chargeback: Unenroll or Keep
	OnCancellation Consequence   // Unenroll, AtPeriodEnd or Keep
	OnLapse        Consequence   // of a sale that is billed here and was not paid for: EndSale or Keep
	GraceDays      int32         // days of 24 hours from when a payment is due until the lapse; 0 to MaxGraceDays
	AbandonAfter   time.Duration // how long an order stays open before it is abandoned; whole minutes
}

// MaxGraceDays is the maximum grace, in days.
const MaxGraceDays = 60

// Grace returns how long after a payment was due a sale lapses.
func (p SalePolicy) Grace() time.Duration { return time.Duration(p.GraceDays) * 24 * time.Hour }

// DefaultSalePolicy returns the policy of a school that chose nothing.
func DefaultSalePolicy() SalePolicy {
	return SalePolicy{
		OnRefund: Unenroll, OnChargeback: Unenroll, OnCancellation: AtPeriodEnd, OnLapse: EndSale, GraceDays: 15,
		AbandonAfter: time.Hour,
	}
}

// Check returns an error if the policy is invalid.
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
