package events

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// schedules are the pauses before each attempt except the first. Each is up to a fifth shorter
// or longer.
var schedules = map[lyceum.Schedule][]time.Duration{
	lyceum.ContractSchedule: {5 * time.Minute, 30 * time.Minute, 2 * time.Hour},
	lyceum.StandardSchedule: {
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
		20 * time.Hour, 24 * time.Hour,
	},
}

// Due returns the webhooks that have deliveries to send.
func (s *Service) Due(ctx context.Context) ([]lyceum.DueWebhook, error) {
	return s.store.FindDue(ctx, s.clock())
}

// Parcel is a delivery to send now, with its message and the secrets to sign it with.
type Parcel struct {
	lyceum.WebhookEvent

	School  lyceum.SchoolID
	Webhook lyceum.Webhook
	Body    []byte
	Secrets [][]byte
	Begun   time.Time
}

// Claim claims up to limit deliveries of a webhook that are due. The caller must send them and
// call Report, and until then renew the claim; otherwise they are due again after
// lyceum.ClaimLifetime.
func (s *Service) Claim(ctx context.Context, due lyceum.DueWebhook, limit int) ([]Parcel, error) {
	now := s.clock()
	var w lyceum.Webhook
	var claimed []lyceum.WebhookEvent
	var secrets [][]byte
	err := s.store.Write(ctx, lyceum.Stamp{School: due.School, At: now, Actor: "webhooks"}, func(tx lyceum.Tx) error {
		claimed = nil
		var err error
		if w, err = tx.Webhooks.Get(tx, due.Webhook); err != nil {
			return err
		}
		if !w.Live || w.DeletedAt.Present || w.State == lyceum.WebhookFailed {
			_, err = tx.CancelDeliveries(w.ID)
			return err
		}
		// Leave what this process cannot sign to one that can.
		if secrets, err = s.secrets(due.School, &w, now); err != nil {
			return err
		}
		claimed, err = claim(tx, &w, now, now.Add(lyceum.ClaimLifetime), limit)
		return err
	})
	if err != nil || len(claimed) == 0 {
		return nil, err
	}
	numbers := make([]int64, len(claimed))
	for i := range claimed {
		numbers[i] = claimed[i].Number.Value
	}
	v := s.store.In(ctx, due.School)
	payloads, err := v.Payloads.Find(v, numbers...)
	if err != nil {
		return nil, err
	}
	parcels := make([]Parcel, 0, len(claimed))
	for i := range claimed {
		payload, there := payloads[claimed[i].Number.Value]
		if !there { // read from a server that lags behind after a failover: it is due again
			continue
		}
		parcels = append(parcels, Parcel{
			WebhookEvent: claimed[i], School: due.School, Webhook: w, Secrets: secrets, Begun: now,
			Body: envelope(&payload, claimed[i].ID, w.AsArray),
		})
	}
	return parcels, nil
}

// claim claims deliveries of a webhook, no more than its rate limit allows in this minute.
func claim(
	tx lyceum.Tx, w *lyceum.Webhook, now, until time.Time, limit int,
) ([]lyceum.WebhookEvent, error) {
	if w.RateLimit == 0 {
		return tx.ClaimDeliveries(w.ID, now, until, limit)
	}
	used, err := countUsage(tx, w.ID, now, 0, 0)
	if limit = min(limit, int(w.RateLimit)-int(used.Sent)); err != nil || limit <= 0 {
		return nil, err
	}
	claimed, err := tx.ClaimDeliveries(w.ID, now, until, limit)
	if err != nil || len(claimed) == 0 {
		return nil, err
	}
	_, err = countUsage(tx, w.ID, now, int64(len(claimed)), 0)
	return claimed, err
}

// Renew renews the claims of parcels. It skips those that were given up or claimed again
// meanwhile.
func (s *Service) Renew(ctx context.Context, parcels []*Parcel) error {
	of := map[lyceum.SchoolID]map[lyceum.WebhookEventID]*Parcel{}
	for _, p := range parcels {
		if of[p.School] == nil {
			of[p.School] = map[lyceum.WebhookEventID]*Parcel{}
		}
		of[p.School][p.ID] = p
	}
	now := s.clock()
	until := lyceum.Microsecond(now.Add(lyceum.ClaimLifetime))
	for school, parcels := range of {
		claimed := make([]lyceum.WebhookEvent, 0, len(parcels))
		for _, p := range parcels {
			claimed = append(claimed, p.WebhookEvent)
		}
		var renewed []lyceum.WebhookEventID
		stamp := lyceum.Stamp{School: school, At: now, Actor: "webhooks"}
		err := s.store.Write(ctx, stamp, func(tx lyceum.Tx) (err error) {
			renewed, err = tx.RenewDeliveries(claimed, until)
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range renewed {
			parcels[id].NextAttemptAt = lyceum.Some(until)
		}
	}
	return nil
}

// Holds reports whether the claim of a parcel is still valid. If it is not, because the process
// was paused, another process may have sent the parcel.
func (s *Service) Holds(p *Parcel) bool { return s.clock().Before(p.NextAttemptAt.Value) }

// Outcome is the outcome of an attempt.
type Outcome struct {
	Delivered      bool
	Status         int // of the response; 0 if there was none
	Problem        string
	RetryAfter     time.Duration // requested by the receiver
	Took           time.Duration
	RequestHeader  string
	ResponseHeader string
	ResponseBody   string
}

// Report saves the outcome of an attempt and decides what happens next. A failed delivery is
// tried again on the webhook's schedule. After the last attempt, or if the receiver responds
// with 410, the webhook has failed, and its pending deliveries are given up.
func (s *Service) Report(ctx context.Context, p *Parcel, o Outcome) error {
	now := s.clock()
	return s.store.Write(ctx, lyceum.Stamp{School: p.School, At: now, Actor: "webhooks"}, func(tx lyceum.Tx) error {
		d, err := tx.Deliveries.Get(tx, p.ID)
		if err != nil {
			return err
		}
		if d.Number != p.Number || d.ObjectID != p.ObjectID || !d.CreatedAt.Equal(p.CreatedAt) {
			return nil // a failover lost this delivery, and its id was assigned again
		}
		erased, err := erasedSince(tx, p)
		if err != nil {
			return err
		}
		if erased {
			o.Problem, o.ResponseHeader, o.ResponseBody = "", "", ""
		}
		again := p.NextAttemptAt != d.NextAttemptAt // resent or given up meanwhile
		d.AttemptCount++
		d.Tries++
		d.LastAttemptedAt = lyceum.Some(lyceum.Second(p.Begun))
		d.ResponseStatus = lyceum.Opt[int32]{Value: int32(o.Status), Present: o.Status != 0}
		if err := keepAttempt(tx, p, &d, o, now); err != nil {
			return err
		}
		if again {
			if o.Delivered && d.State == lyceum.DeliveryFailed {
				d.State = lyceum.DeliveryDelivered
			}
			return tx.UpdateDelivery(d)
		}
		return s.follow(tx, p, d, o, now)
	})
}

// erasedSince reports whether the event of a parcel is no longer as it was sent, because somebody
// was erased from it. The response may repeat what was sent, and it comes too late to be searched.
func erasedSince(tx lyceum.Tx, p *Parcel) (bool, error) {
	kept, err := tx.Payloads.Find(tx, p.Number.Value)
	if err != nil {
		return false, err
	}
	payload, there := kept[p.Number.Value]
	return !there || !bytes.Equal(envelope(&payload, p.ID, p.Webhook.AsArray), p.Body), nil
}

// maxKept is the maximum number of bytes of headers and bodies that are stored of the attempts
// of one webhook per day, in UTC.
const maxKept = 8 << 20

// keepAttempt saves an attempt. It includes the headers and the response body until the
// webhook's attempts of the day reach maxKept.
func keepAttempt(tx lyceum.Tx, p *Parcel, d *lyceum.WebhookEvent, o Outcome, now time.Time) error {
	a := lyceum.Attempt{
		Delivery: d.ID, Number: d.AttemptCount, At: p.Begun, Took: o.Took, Status: d.ResponseStatus,
		Problem: lyceum.Opt[string]{Value: o.Problem, Present: o.Problem != ""}, RequestHeader: o.RequestHeader,
		ResponseHeader: o.ResponseHeader, ResponseBody: o.ResponseBody,
	}
	bytes := int64(len(a.RequestHeader) + len(a.ResponseHeader) + len(a.ResponseBody))
	used, err := countUsage(tx, p.Webhook.ID, now, 0, bytes)
	if err != nil {
		return err
	}
	if used.Kept > maxKept {
		a.RequestHeader, a.ResponseHeader, a.ResponseBody, a.Unkept = "", "", "", true
	}
	return tx.CreateAttempt(a)
}

// minuteSkew is how long before a minute a change may be dated that still counts in it: changes
// are dated before they wait for their turn, and each process has its own clock.
const minuteSkew = 10 * time.Second

// countUsage adds messages sent and bytes kept to the usage of a webhook in the minute and on the
// day of now, and returns the sums. They start again from 0 with each minute and each day.
func countUsage(
	tx lyceum.Tx, webhook lyceum.WebhookID, now time.Time, sent, kept int64,
) (lyceum.WebhookUsage, error) {
	u, err := tx.WebhookUsage.Get(tx, webhook)
	if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
		return u, err
	}
	if minute := now.Truncate(time.Minute); u.Minute.Before(minute) || u.Minute.After(now.Add(minuteSkew)) {
		u.Minute, u.Sent = minute, 0
	}
	if day := now.UTC().Truncate(24 * time.Hour); !u.Day.Equal(day) {
		u.Day, u.Kept = day, 0
	}
	u.Webhook, u.Sent, u.Kept = webhook, u.Sent+sent, u.Kept+kept
	_, err = tx.WebhookUsage.Save(tx, u)
	return u, err
}

// follow decides what happens after an attempt.
func (s *Service) follow(tx lyceum.Tx, p *Parcel, d lyceum.WebhookEvent, o Outcome, now time.Time) error {
	pauses := schedules[p.Webhook.Schedule]
	if o.Delivered {
		d.State, d.NextAttemptAt = lyceum.DeliveryDelivered, lyceum.None[time.Time]()
		if err := tx.UpdateDelivery(d); err != nil || p.Webhook.State == lyceum.WebhookVerified {
			return err
		}
		return become(tx, p.Webhook.ID, lyceum.WebhookVerified, now)
	}
	if o.Status != cancelled && int(d.Tries) <= len(pauses) {
		pause := pauses[d.Tries-1]
		pause += time.Duration((spread(&d) - 0.5) * 0.4 * float64(pause))
		d.NextAttemptAt = lyceum.Some(now.Add(max(pause, o.RetryAfter)))
		return tx.UpdateDelivery(d)
	}
	d.State, d.NextAttemptAt = lyceum.DeliveryFailed, lyceum.None[time.Time]()
	if err := tx.UpdateDelivery(d); err != nil {
		return err
	}
	if err := become(tx, p.Webhook.ID, lyceum.WebhookFailed, now); err != nil {
		return err
	}
	_, err := tx.CancelDeliveries(p.Webhook.ID)
	return err
}

// spread returns a number from 0 to 1 that differs between deliveries and tries, but is always
// the same for the same delivery and try.
func spread(d *lyceum.WebhookEvent) float64 {
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%d/%d", d.ID, d.Tries)
	return float64(sum.Sum64()>>11) / (1 << 53)
}

// become sets the state of a webhook that was not deleted. A failed one stays failed until a person
// resumes it.
func become(tx lyceum.Tx, id lyceum.WebhookID, state lyceum.WebhookState, now time.Time) error {
	w, err := tx.Webhooks.Get(tx, id)
	if err != nil || w.State == state || w.State == lyceum.WebhookFailed || w.DeletedAt.Present {
		return err
	}
	w.State = state
	if state == lyceum.WebhookFailed {
		w.FailedAt = lyceum.Some(lyceum.Second(now))
	}
	_, err = tx.Webhooks.Save(tx, w)
	return err
}
