package lyceum

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// MaxEarlierTerms is how often the terms of a pricing plan can change.
const MaxEarlierTerms = 50

// EarlierTerms are what the terms of a pricing plan were before they changed, oldest first: a
// JSON array of 1 to MaxEarlierTerms objects with the fields until, frequency, billing_interval,
// billing_interval_count and num_payments_required. The sales that began before until keep these
// terms, because the payment system still charges them so.
type EarlierTerms string

type terms struct {
	Until     time.Time `json:"until"`
	Frequency Frequency `json:"frequency"`
	Interval  *string   `json:"billing_interval"`
	Count     *int32    `json:"billing_interval_count"`
	Payments  *int32    `json:"num_payments_required"`
}

// Problem returns what is wrong with the text, or "".
func (e EarlierTerms) Problem() string {
	all, err := e.parse()
	if err != nil {
		return "is not a JSON array of earlier terms: " + err.Error()
	}
	if len(all) == 0 || len(all) > MaxEarlierTerms {
		return fmt.Sprintf("must have from 1 to %d elements", MaxEarlierTerms)
	}
	for i := range all {
		t := &all[i]
		switch {
		case t.Until.Year() < 2 || i > 0 && !t.next().After(all[i-1].next()):
			return "must have a time in each until, later than the one before"
		case !slices.Contains([]Frequency{Free, OneTimePayment, Subscription, PaymentPlan}, t.Frequency):
			return "must have free, one_time_payment, subscription or payment_plan in each frequency"
		case t.Interval != nil && !slices.Contains([]string{"day", "week", "month", "year"}, *t.Interval):
			return "must have day, week, month, year or null in each billing_interval"
		case t.Count != nil && *t.Count < 1 || t.Payments != nil && *t.Payments < 1:
			return "must have an integer from 1 or null in each billing_interval_count and num_payments_required"
		}
	}
	return ""
}

// Uniform returns a text without a Problem as KeepTerms writes it, with whole seconds in UTC. Stores
// read it in this form.
func (e EarlierTerms) Uniform() EarlierTerms {
	all, _ := e.parse()
	for i := range all {
		all[i].Until = all[i].next()
	}
	text, err := json.Marshal(all)
	if err != nil {
		return e
	}
	return EarlierTerms(text)
}

func (e EarlierTerms) parse() (all []terms, err error) {
	if e == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(e), &all)
	return all, err
}

// next returns until, rounded up to a whole second: sales begin at whole seconds.
func (t *terms) next() time.Time { return Second(t.Until.Add(time.Second - time.Nanosecond)) }

// recurring reports whether a plan with these terms charges repeatedly.
func (t *terms) recurring() bool { return t.Frequency == Subscription || t.Frequency == PaymentPlan }

// For returns the plan with the terms of a sale. Imported sales were never paid once or free by
// earlier terms: an import of transactions creates the plans that it does not know as such, and
// their terms are corrected later.
func (p PricingPlan) For(s *Sale) PricingPlan {
	all, _ := p.EarlierTerms.Value.parse() // checked when it was stored
	single := s.BilledSince.Present && !s.BillingAnchor.Present
	for i := range all {
		if t := &all[i]; s.CreatedAt.Before(t.Until) && (single || t.recurring()) {
			p.Frequency = t.Frequency
			p.BillingInterval, p.BillingIntervalCount, p.Payments = optOf(t.Interval), optOf(t.Count), optOf(t.Payments)
			return p
		}
	}
	return p
}

// KeepTerms keeps the terms that a plan had before they changed at a given time, unless it
// charges only once before and after. It fails with Conflict if they changed MaxEarlierTerms
// times before.
func (p *PricingPlan) KeepTerms(before *PricingPlan, at time.Time) error {
	same := p.Frequency == before.Frequency && p.BillingInterval == before.BillingInterval &&
		p.BillingIntervalCount == before.BillingIntervalCount && p.Payments == before.Payments
	if same || !before.Recurring() && !p.Recurring() {
		return nil
	}
	all, err := before.EarlierTerms.Value.parse()
	if err != nil {
		return fmt.Errorf("parse earlier terms: %w", err)
	}
	if len(all) > 0 && !at.After(all[len(all)-1].Until) { // no sale had the terms in between
		return nil
	}
	if len(all) == MaxEarlierTerms {
		return Errorf(Conflict, "the terms of pricing plan %d have changed %d times, which is the limit; create another plan",
			p.ID, MaxEarlierTerms)
	}
	text, err := json.Marshal(append(all, terms{
		Until: at, Frequency: before.Frequency, Interval: pointerTo(before.BillingInterval),
		Count: pointerTo(before.BillingIntervalCount), Payments: pointerTo(before.Payments),
	}))
	p.EarlierTerms = Some(EarlierTerms(text))
	return err
}

func pointerTo[T comparable](o Opt[T]) *T {
	if !o.Present {
		return nil
	}
	return &o.Value
}

func optOf[T comparable](p *T) Opt[T] {
	if p == nil {
		return None[T]()
	}
	return Some(*p)
}
