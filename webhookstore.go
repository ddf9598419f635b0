package lyceum

import (
	"context"
	"time"
)

// WebhookReader is the part of a reader that knows where something is to be
// sent.
type WebhookReader interface {
	// FindUndispatched returns the schools whose journal has an event after the
	// cursor of a name, or so many other entries that the cursor is to move past them.
	FindUndispatched(ctx context.Context, cursor string) ([]SchoolID, error)
	// FindDue returns the receivers for whom something is to be sent by now, and
	// who have not been sent all they may be in this minute.
	FindDue(ctx context.Context, now time.Time) ([]DueWebhook, error)
}

// WebhookChanges are what a change does about deliveries besides changing their
// rows. The journal does not have these changes.
type WebhookChanges interface {
	// CreateDeliveries also raises the counts of the webhooks.
	CreateDeliveries(deliveries []WebhookEvent) error
	// ClaimDeliveries returns up to limit deliveries of a webhook that are due,
	// and puts them off until a moment: whoever claimed them and is gone has
	// not delivered them. No delivery is returned to two.
	ClaimDeliveries(webhook WebhookID, now, until time.Time, limit int) ([]WebhookEvent, error)

	// RenewDeliveries lets deliveries that are claimed be due at a later time, and returns
	// those that it changed: the ones that are still due when they say.
	RenewDeliveries(claimed []WebhookEvent, until time.Time) ([]WebhookEventID, error)
	UpdateDelivery(d WebhookEvent) error
	// CancelDeliveries gives up what waits for a webhook, the next 500, as if it
	// had answered 410, and reports whether there may be more.
	CancelDeliveries(webhook WebhookID) (more bool, err error)
	// ReplayDeliveries makes deliveries wait again whose events are still stored, up
	// to limit of those that come after one by creation and id, and returns them in
	// that order.
	ReplayDeliveries(f ResendFilter, after Opt[WebhookEvent], limit int, at time.Time) ([]WebhookEvent, error)
	CreateAttempt(a Attempt) error
	// CountUsage adds to what a webhook used in the minute and on the day of a
	// moment, and returns the sums.
	CountUsage(webhook WebhookID, now time.Time, more WebhookUsage) (WebhookUsage, error)
}
