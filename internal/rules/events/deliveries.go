package events

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Named is a delivery with the name of its event, which is empty in a record from another
// server.
type Named struct {
	lyceum.WebhookEvent

	Name lyceum.EventName
}

// Deliveries lists the deliveries of a webhook, newest first.
func (s *Service) Deliveries(
	ctx context.Context, by lyceum.By, f lyceum.WebhookEventFilter, p lyceum.Page,
) (lyceum.Listing[Named], error) {
	listing, err := s.Events(ctx, by, f, p)
	if err != nil {
		return lyceum.Listing[Named]{}, err
	}
	var numbers []int64
	for i := range listing.Rows {
		if number := listing.Rows[i].Number; number.Present {
			numbers = append(numbers, number.Value)
		}
	}
	v := s.store.In(ctx, by.School)
	payloads, err := v.Payloads.Find(v, numbers...)
	named := lyceum.Listing[Named]{Page: listing.Page, Total: listing.Total}
	for i := range listing.Rows {
		named.Rows = append(named.Rows, Named{listing.Rows[i], payloads[listing.Rows[i].Number.Value].Event})
	}
	return named, err
}

// Delivery is a delivery with what was sent and what was received.
type Delivery struct {
	lyceum.WebhookEvent

	Payload  lyceum.EventPayload
	Webhook  lyceum.Webhook
	After    int32 // number of the attempt after which Attempts begin
	Attempts []lyceum.Attempt
	More     bool // there are attempts after those
}

// Body returns the body of the delivery's message, or nil for a record from another server.
func (d *Delivery) Body() []byte {
	if d.Payload.Event == "" {
		return nil
	}
	return envelope(&d.Payload, d.ID, d.Webhook.AsArray)
}

// Show returns a delivery. A record from another server has no payload.
func (s *Service) Show(ctx context.Context, by lyceum.By, id lyceum.WebhookEventID) (Delivery, error) {
	return s.ShowAfter(ctx, by, AttemptsAfter{Delivery: id})
}

// AttemptsAfter selects the attempts of a delivery after a number.
type AttemptsAfter struct {
	Delivery lyceum.WebhookEventID
	Attempt  int32
}

// ShowAfter is Show with the attempts after a number.
func (s *Service) ShowAfter(ctx context.Context, by lyceum.By, q AttemptsAfter) (Delivery, error) {
	d := Delivery{After: q.Attempt}
	var err error
	v := s.store.In(ctx, by.School)
	if d.WebhookEvent, err = v.Deliveries.Get(v, q.Delivery); err != nil {
		return d, err
	}
	if d.Webhook, err = s.Webhook(ctx, by, d.WebhookEvent.Webhook); err != nil {
		return d, err
	}
	if d.Number.Present {
		found, err := v.Payloads.Find(v, d.Number.Value)
		if err != nil {
			return d, err
		}
		d.Payload = found[d.Number.Value]
	}
	d.Attempts, d.More, err = v.FindAttempts(q.Delivery, q.Attempt)
	return d, err
}
