package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

func (f *Face) deliveries() []wire.Operation {
	const all, each = "/lyceum/v1/webhooks/{webhook_id}/deliveries", "/lyceum/v1/deliveries/{delivery_id}"
	return []wire.Operation{
		wire.Many("listDeliveries", all, perPage, bindDeliveries, f.Events.Deliveries, "deliveries", namedDelivery),
		heavy(one("showDelivery", wire.Get, each, bindAttempts, f.Events.ShowAfter, "", deliveryDetail)),
		one(
			"resendDelivery", wire.Run, each+"/resend",
			wire.NoBody(bindDelivery), f.Events.ResendOne, "delivery", namedDelivery,
		),
	}
}

var deliveryStates = []string{lyceum.DeliveryPending, lyceum.DeliveryDelivered, lyceum.DeliveryFailed}

func bindDeliveries(in *wire.Input) lyceum.WebhookEventFilter {
	return lyceum.WebhookEventFilter{Webhook: bindWebhook(in), State: wire.OneOf(in.Query("state"), deliveryStates...)}
}

func bindAttempts(in *wire.Input) events.AttemptsAfter {
	return events.AttemptsAfter{
		Delivery: bindDelivery(in), Attempt: wire.Amount[int32](in.Query("after"), 0).Value,
	}
}

func bindDelivery(in *wire.Input) lyceum.WebhookEventID {
	return wire.PathID[lyceum.WebhookEventID](in, "delivery_id")
}

// attemptedDelivery is gen.DeliveryDetail, which repeats the fields of gen.Delivery.
type attemptedDelivery struct {
	gen.Delivery

	RequestBody *string       `json:"request_body"`
	Attempts    []gen.Attempt `json:"attempts"`
}

// deliveryPage is a delivery with a part of its attempts.
type deliveryPage struct {
	Delivery attemptedDelivery `json:"delivery"`
	More     bool              `json:"more"`
	Next     int32             `json:"next"`
}

func deliveryDetail(d events.Delivery) deliveryPage {
	shown := deliveryPage{More: d.More, Next: d.After, Delivery: attemptedDelivery{
		delivery(&d.WebhookEvent, d.Payload.Event), nil, []gen.Attempt{},
	}}
	if body := string(d.Body()); body != "" {
		shown.Delivery.RequestBody = &body
	}
	for _, a := range d.Attempts {
		shown.Next = a.Number
		shown.Delivery.Attempts = append(shown.Delivery.Attempts, gen.Attempt{
			Number: a.Number, At: wire.Moment(a.At), DurationMs: int32(a.Took.Milliseconds()),
			ResponseHTTPStatus: wire.Number(a.Status), Problem: wire.Optional(a.Problem),
			RequestHeaders: a.RequestHeader, ResponseHeaders: a.ResponseHeader,
			ResponseBody: a.ResponseBody, IsKept: !a.Unkept,
		})
	}
	return shown
}

func namedDelivery(d events.Named) gen.Delivery { return delivery(&d.WebhookEvent, d.Name) }

func delivery(d *lyceum.WebhookEvent, name lyceum.EventName) gen.Delivery {
	shown := gen.Delivery{
		ID: int32(d.ID), WebhookID: int32(d.Webhook), State: gen.DeliveryState(d.State), ObjectID: d.ObjectID,
		AttemptCount: d.AttemptCount, CreatedAt: wire.Moment(d.CreatedAt),
		LastAttemptedAt: wire.OptMoment(d.LastAttemptedAt), NextAttemptAt: wire.OptMoment(d.NextAttemptAt),
		ResponseHTTPStatus: wire.Number(d.ResponseStatus),
	}
	if name != "" {
		shown.Event = text(lyceum.Some(name))
	}
	return shown
}
