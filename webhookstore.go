package lyceum

import (
	"context"
	"time"
)

// WebhookReader is the part of Reader that finds what must be sent to webhooks.
type WebhookReader interface {
	// FindUndispatched returns the schools whose journal has an event after the named cursor,
	// or so many other entries that the cursor must be moved past them.
	FindUndispatched(ctx context.Context, cursor string) ([]SchoolID, error)
	// FindDue returns the webhooks with deliveries that are due by now, and that have not
	// reached their rate limit for this minute.
	FindDue(ctx context.Context, now time.Time) ([]DueWebhook, error)
}

// WebhookChanges are the operations on deliveries in a transaction, other than saving rows. The
// journal does not record them.
type WebhookChanges interface {
	// CreateDeliveries also increments the event counts of the webhooks.
	CreateDeliveries(deliveries []WebhookEvent) error
	// ClaimDeliveries returns up to limit due deliveries of a webhook and postpones them until
	// the given time: if a claimant dies, they have not been delivered and become due again. No
	// delivery is claimed twice at the same time.
	ClaimDeliveries(webhook WebhookID, now, until time.Time, limit int) ([]WebhookEvent, error)

	// RenewDeliveries postpones claimed deliveries further, and returns the ids of those it
	// changed: the ones whose due time is still as claimed.
	RenewDeliveries(claimed []WebhookEvent, until time.Time) ([]WebhookEventID, error)
	// UpdateDelivery writes what follows from an attempt. It does nothing if there is no such
	// delivery.
	UpdateDelivery(d WebhookEvent) error
	// CancelDeliveries gives up the next 500 pending deliveries of a webhook, as if it had
	// responded with 410, and reports whether there may be more.
	CancelDeliveries(webhook WebhookID) (more bool, err error)
	// ReplayDeliveries makes deliveries pending again whose events are still stored, up to
	// limit of those that come after the given one by creation and id, and returns them in that
	// order.
	ReplayDeliveries(f ResendFilter, after Opt[WebhookEvent], limit int, at time.Time) ([]WebhookEvent, error)
	CreateAttempt(a Attempt) error
}
